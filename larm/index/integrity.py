"""check_files: the files of an index are whole, or refused. Called on the writer thread before a crawl is continued.

tantivy ends each file with a footer that has a CRC-32, but does not look at it: a damaged file shows as wrong answers, as an
error in the middle of a merge, or as a panic.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from larm.errors import REPAIR, StorageError
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.seal import NO_SEAL, Seal

_PARTS = ("store", "pos", "idx", "term", "fast", "fieldnorm")
_CHUNK = 1 << 20
FOOTER_END = (1337).to_bytes(4, "little")
"""The last bytes of each file of tantivy's."""
_LONGEST_FOOTER = 1000
_FOOTER = re.compile(rb'\{"version":\{"major":\d+,"minor":\d+,"patch":\d+,"index_format_version":\d+\},"crc":(\d+)\}')


META = "meta.json"
"""What tantivy calls the file that says which files count."""
MANAGED = ".managed.json"
"""tantivy's list of the files that it may remove."""
HALF_WRITTEN = re.compile(r"\.(?:meta|\.managed)\.json\.\w+")
"""What `larm.kit.disk.atomic` leaves of a file of tantivy's that was being replaced, after a kill."""


class Deletes(msgspec.Struct):
    """Documents of a segment that were removed."""

    opstamp: int


class Segment(msgspec.Struct):
    """A part of an index."""

    segment_id: str
    deletes: Deletes | None = None


class Meta(msgspec.Struct):
    """One commit, as tantivy describes it."""

    segments: list[Segment]
    opstamp: int
    """Rises with each commit; a merge leaves it as it is."""


def check_files(path: Path, seal: Seal = NO_SEAL) -> None:
    """Read all files of the index that count, but what is sealed: 1 GB a second. Raises StorageError, naming the file."""
    for flaw in flaws_of(path, file_names(read_meta(path / META)), seal):
        raise flaw


def flaws_of(path: Path, names: Iterable[str], seal: Seal = NO_SEAL) -> Iterator[StorageError]:
    """Yield an error for each of the files that is not whole."""
    for name in names:
        try:
            if not (path / name).exists():
                raise StorageError(f"{path / META}: it speaks of {name}, which is not there: one was damaged; {REPAIR}")
            if not seal.holds(path / name):
                _check(path / name)
        except StorageError as error:
            yield error


def drop_unfinished(path: Path) -> None:
    """Before a writer is opened: remove what a process that was killed has left half-way.

    That is files that were to take the place of others (`larm.index.kept`), and the lists of deleted documents of a commit that
    never came to its end. These tantivy names after a count of operations, which begins again at the last whole commit. So the
    next one may come to the same name, and would fail, again and again. Raises StorageError.
    """
    wanted = set(file_names(read_meta(path / META)))
    with disk_failures(path):
        for file in path.iterdir():
            if HALF_WRITTEN.fullmatch(file.name) or (file.suffix == ".del" and file.name not in wanted):
                file.unlink()


def read_meta(path: Path) -> Meta:
    """A meta.json. Raises StorageError."""
    with disk_failures(path):
        return parse_meta(path.read_bytes(), path)


def parse_meta(data: bytes, path: Path) -> Meta:
    """What stands in the file at that path. Raises StorageError."""
    try:
        return msgspec.json.decode(data, type=Meta)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise damaged(path) from error


def file_names(meta: Meta) -> list[str]:
    """Of the files that count."""
    names = []
    for segment in meta.segments:
        name = segment.segment_id.replace("-", "")
        parts = [*_PARTS, *([f"{segment.deletes.opstamp}.del"] if segment.deletes else ())]
        names += [f"{name}.{part}" for part in parts]
    return names


def link_commit(path: Path, folder: Path, link: Callable[[Path, Path], object]) -> bytes:
    """Give all files of the last commit a second name in a folder; return its meta.json.

    A merge that ends meanwhile removes files: then those of the new meta.json are linked. Raises OSError, StorageError.
    """
    data = b""
    while True:
        before, data = data, (path / META).read_bytes()
        try:
            for name in file_names(parse_meta(data, path / META)):
                if not (folder / name).exists():
                    link(path / name, folder / name)
        except FileNotFoundError:
            if data == before:
                raise
        else:
            return data


def read_footer(path: Path) -> bytes:
    """What tantivy says of the data of a file, as JSON; its length and 1337 follow, 4 bytes each. Raises StorageError."""
    with disk_failures(path), path.open("rb") as file:
        size = path.stat().st_size
        file.seek(max(size - 8, 0))
        length, end = int.from_bytes(file.read(4), "little"), file.read(4)
        if end != FOOTER_END or not 0 < length <= min(_LONGEST_FOOTER, size - 8):
            raise damaged(path)
        file.seek(size - 8 - length)
        return file.read(length)


def _check(path: Path) -> None:
    footer = read_footer(path)
    crc = _FOOTER.fullmatch(footer)
    if crc is None:
        raise damaged(path)
    with disk_failures(path), path.open("rb") as file:
        left, found = path.stat().st_size - 8 - len(footer), 0
        while left:
            chunk = file.read(min(left, _CHUNK))
            found = zlib.crc32(chunk, found)
            left -= len(chunk)
    if found != int(crc[1]):
        raise damaged(path)


def damaged(path: Path) -> StorageError:
    """What to raise."""
    return StorageError(f"{path}: the file is damaged; {REPAIR}")
