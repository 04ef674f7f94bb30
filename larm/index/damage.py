"""damage_of: all that is not whole in the folder of an index, for ``larm check --state``. Main thread; no crawl may run."""

import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import tantivy

from larm.errors import StorageError
from larm.index.failure import IndexFailure
from larm.index.integrity import MANAGED, META, damaged, file_names, flaws_of, parse_meta, read_meta
from larm.index.kept import KEPT
from larm.index.readable import openable
from larm.kit.disk.disk_failure import disk_failures


def damage_of(path: Path) -> Iterator[StorageError]:
    """Yield an error for each damaged file: of the last commit, of tantivy's lists, of the commit before."""
    flawed = False
    for part in (_last_commit(path), _kept_commits(path)):
        try:
            for flaw in part:
                flawed = True
                yield flaw
        except StorageError as error:
            flawed = True
            yield error
    if not flawed:
        try:
            with IndexFailure(path), openable(path) as folder:
                index = tantivy.Index.open(str(folder))
                index.reload()
                index.searcher()  # opens all files, and refuses a form that it does not know
        except StorageError as error:
            yield error


def _last_commit(path: Path) -> Iterator[StorageError]:
    names = file_names(read_meta(path / META))
    yield from flaws_of(path, names)
    try:
        with disk_failures(path / MANAGED):
            listed = msgspec.json.decode((path / MANAGED).read_bytes(), type=set[str])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        listed = set()
    if not listed.issuperset(names):
        yield damaged(path / MANAGED)


def _kept_commits(path: Path) -> Iterator[StorageError]:
    for kept in sorted((path / KEPT).glob("*-*.json")):
        with disk_failures(kept):
            data = kept.read_bytes()
        if kept.stem.partition("-")[2] != f"{zlib.crc32(data):08x}":
            yield damaged(kept)
            continue
        names = [name for name in file_names(parse_meta(data, kept)) if not _is_same(path / name, path / KEPT / name)]
        yield from flaws_of(path / KEPT, names)


def _is_same(file: Path, kept: Path) -> bool:
    return file.exists() and kept.exists() and file.samefile(kept)
