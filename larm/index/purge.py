"""purge: no file of an index has words of documents that were deleted, for ``larm forget``. Main thread; nobody else writes.

tantivy keeps them until it merges their segment with others, of which there must be eight of one size, and has no command for
it. So segments with deleted documents are made to look small, and empty ones are put beside them; then it merges all of these
into one by itself. Who is ended meanwhile leaves an index that is whole, and does it again. 3 us a document of such a segment.
"""

import os
import re
import shutil
import tempfile
import uuid
import zlib
from pathlib import Path
from typing import Any

import msgspec
import tantivy

from larm.index.analysis import MIXED, WORDS, new_analyzer
from larm.index.failure import IndexFailure
from larm.index.integrity import FOOTER_END, MANAGED, META, file_names, read_footer, read_meta
from larm.index.kept import KEPT
from larm.index.readable import as_the_others
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import sync_directory

_EMPTY = 7
"""Segments beside the one: tantivy's merge policy wants eight of one size, and takes all below 10,000 documents for that."""
_MEMORY = 15_000_000  # tantivy's least
_CRC = re.compile(rb'"crc":\d+')
_OF_SEGMENT = re.compile(r"[0-9a-f]{32}\..+")


def purge(path: Path) -> bool:
    """Of an index that is committed, and of which no commit is to be undone. False: something is left. Raises StorageError."""
    with disk_failures(path), IndexFailure(path):
        shutil.rmtree(path / KEPT, ignore_errors=True)
        if _segments(path, deleted=True):
            with tempfile.TemporaryDirectory(prefix="larm-") as folder:
                _put_beside(path, Path(folder))
            writer = _opened(path).writer(heap_size=_MEMORY, num_threads=1)
            writer.commit()
            writer.wait_merging_threads()
            as_the_others(path)
        wanted = set(file_names(read_meta(path / META)))
        for file in path.iterdir():  # of a process that was killed
            if _OF_SEGMENT.fullmatch(file.name) and file.name not in wanted:
                file.unlink()
        return not _segments(path, deleted=True)


def _segments(path: Path, *, deleted: bool) -> list[dict[str, Any]]:
    """Those with deleted documents, or all."""
    return [each for each in _meta(path)["segments"] if each["deletes"] or not deleted]


def _meta(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode((path / META).read_bytes())
    return found


def _opened(path: Path, schema: tantivy.Schema | None = None) -> tantivy.Index:
    index = tantivy.Index.open(str(path)) if schema is None else tantivy.Index(schema, path=str(path))
    for name in (WORDS, MIXED):
        index.register_tokenizer(name, new_analyzer(name))
    return index


def _put_beside(path: Path, folder: Path) -> None:
    """Segments of two documents, both deleted; of one of them meta.json is silent, or tantivy would drop them at once."""
    writer = _opened(folder, tantivy.Index.open(str(path)).schema).writer(heap_size=_MEMORY, num_threads=1)
    for _ in range(2):
        writer.add_document(tantivy.Document())
    writer.commit()
    writer.wait_merging_threads()
    [made] = _segments(folder, deleted=False)
    own, meta, opstamp = made["segment_id"].replace("-", ""), _meta(path), _meta(path)["opstamp"]
    files: dict[str, bytes] = {}
    for _ in range(_EMPTY):
        new = uuid.uuid4()
        files |= {f"{new.hex}{file.suffix}": file.read_bytes() for file in folder.glob(f"{own}.*")}
        files[f"{new.hex}.{opstamp}.del"] = _nobody(folder / f"{own}.store")
        meta["segments"].append(made | {"segment_id": str(new), "deletes": {"num_deleted_docs": 1, "opstamp": opstamp}})
    for each in meta["segments"]:
        if each["deletes"]:
            each["deletes"]["num_deleted_docs"] = each["max_doc"] - 1
    listed = msgspec.json.decode((path / MANAGED).read_bytes(), type=list[str])
    write_atomically(path / MANAGED, msgspec.json.encode(sorted({*listed, *files})))
    for name, data in files.items():
        with (path / name).open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # before meta.json speaks of it: without it, after a power failure, there is no index
    sync_directory(path)
    write_atomically(path / META, msgspec.json.encode(meta))


def _nobody(like: Path) -> bytes:
    """A file by which both documents are deleted; ``like``: another file of tantivy's, for its footer."""
    alive = (2).to_bytes(4, "little") + bytes(8)
    footer = _CRC.sub(b'"crc":%d' % zlib.crc32(alive), read_footer(like))
    return alive + footer + len(footer).to_bytes(4, "little") + FOOTER_END
