"""WACZ: an archive with its index and a list of its pages in one ZIP file, which a reader in a browser opens. Main thread.

Written by ``larm warc export``; `unpack_wacz` takes the archive out of any, for a crawl of it.

WARC files are stored in it as they are, so that a reader can ask for a part of them. By WACZ 1.1.1.
"""

import errno
import gzip
import hashlib
import heapq
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from larm.kit.disk.disk_failure import disk_failure
from larm.store.archive.cdxj import place_of
from larm.store.archive.indexing import index_lines
from larm.store.archive.scanning import Damaged

_BLOCK = 1_000_000
_WARC = re.compile(r"archive/[^/]+\.warc(\.gz)?", re.IGNORECASE)


def unpack_wacz(path: Path, target: Path) -> str:
    """Make one WARC file of those in it, one behind the other; what is wrong with it, if anything is. Raises StorageError."""
    try:
        with target.open("wb") as out, zipfile.ZipFile(path) as archive:
            names = [found for each in archive.namelist() if (found := _WARC.fullmatch(each))]
            plain = not all(found[1] for found in names)  # then all have to be
            for found in names:
                with archive.open(found[0]) as stored:
                    packed = plain and found[1]
                    shutil.copyfileobj(gzip.GzipFile(fileobj=stored) if packed else stored, out, _BLOCK)
    except Exception as error:  # what unpacks raises what it likes; it may also be encrypted, or packed in an unknown way
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # these: a stream or a place that is none
            raise disk_failure(target, error) from error
        return str(error) or "it breaks off"
    return ""


def write_wacz(  # noqa: PLR0917
    target: Path, files: Sequence[Path], titles: Callable[[str], str], software: str, wall: float, damaged: Damaged
) -> int:
    """Make it of complete WARC files; ``titles``: of an address the title of the page. How many pages it lists.

    Raises StorageError; what was written by then is removed.
    """
    partial = target.with_name(target.name + ".part")
    created = datetime.fromtimestamp(wall, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            resources = [_copy(archive, f"archive/{path.name}", path) for path in files]
            pages: list[dict[str, str]] = []
            lines = _noting_pages(heapq.merge(*(_lines_of(path, damaged) for path in files)), titles, pages)
            resources.append(_write(archive, "indexes/index.cdxj", (line.encode() for line in lines)))
            head = {"format": "json-pages-1.0", "id": "pages", "title": "All pages"}
            resources.append(_write(archive, "pages/pages.jsonl", (_json(row) + b"\n" for row in [head, *pages])))
            package = _json(
                {
                    "profile": "data-package",
                    "wacz_version": "1.1.1",
                    "software": software,
                    "created": created,
                    "resources": resources,
                }
            )
            _write(archive, "datapackage.json", [package])
            digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(package).hexdigest()}"}
            _write(archive, "datapackage-digest.json", [_json(digest)])
        partial.replace(target)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise disk_failure(target, error) from error
        raise
    return len(pages)


def _copy(archive: zipfile.ZipFile, name: str, path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return _write(archive, name, iter(lambda: file.read(_BLOCK), b""))


def _write(archive: zipfile.ZipFile, name: str, pieces: Iterable[bytes]) -> dict[str, Any]:
    """The entry of the package that speaks of it."""
    digest, size = hashlib.sha256(), 0
    with archive.open(name, "w", force_zip64=True) as entry:
        for piece in pieces:
            entry.write(piece)
            digest.update(piece)
            size += len(piece)
    return {"name": name.rpartition("/")[2], "path": name, "hash": f"sha256:{digest.hexdigest()}", "bytes": size}


def _lines_of(path: Path, damaged: Damaged) -> Iterator[str]:
    """Of the index beside it, if there is one."""
    index = path.with_name(path.name.partition(".warc")[0] + ".cdxj")
    if not index.exists():
        yield from index_lines(path, damaged)
        return
    with ExitStack() as stack:
        yield from stack.enter_context(index.open(encoding="utf-8"))


def _noting_pages(lines: Iterable[str], titles: Callable[[str], str], pages: list[dict[str, str]]) -> Iterator[str]:
    """The lines; those of pages that a person may open are noted."""
    for line in lines:
        place_of(line)
        _, digits, text = line.split(" ", 2)
        said = json.loads(text)
        if said.get("status", "200") == "200" and said.get("mime") in ("text/html", "application/xhtml+xml"):
            date = datetime.strptime(digits, "%Y%m%d%H%M%S").replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            pages.append({"id": f"page-{len(pages) + 1}", "url": said["url"], "ts": date, "title": titles(said["url"])})
        yield line


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
