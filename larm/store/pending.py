"""Pending: what the index was told and has not committed, on the disk, so that a checkpoint need not wait for a commit.

A commit of tantivy's writes a segment, which is merged with others later: some 30 ms however few pages it has, so a slow
crawl commits by age (`larm.store.index`). What is told between two commits is kept here; a checkpoint writes and syncs it,
and notes the length of the file, and after a kill the index is told again. Each commit begins another file, with the number of
the commit in its name. The one before stays until the next checkpoint: till then nobody knows whether the commit is undone.

Owned by the index storage; only its writer thread.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from larm.errors import REPAIR, StorageError
from larm.index.analysis import encodable
from larm.index.page import Page
from larm.kit.disk.append_file import AppendFile
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import check_length
from larm.store.body_frames import pack, read_frame, room_at

Told = Page | str
"""A page that is to be indexed, or the normalised address of one that is to be removed."""
_NAME = "pending-"
_MOST = 8_000_000
"""Characters of text in memory, on top of what tantivy has: from then on the next checkpoint commits, however few pages."""
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[Told])


class Pending:
    """``folder``: where its files are; ``pages``: from which on the next checkpoint commits. Methods may raise StorageError."""

    def __init__(self, folder: Path, pages: int) -> None:
        # constant after construction
        self._folder = folder
        self._pages = pages
        # only the writer thread
        self.count = 0
        """What the index was told since its last commit."""
        self._size = 0
        self._told: list[Told] = []
        self._generation = 0
        self._file: AppendFile | None = None

    @property
    def full(self) -> bool:
        """It is worth a commit; nothing more is kept here till then."""
        return self.count >= self._pages or self._size >= _MOST

    def open(self, generation: int, length: int) -> list[Told]:
        """Go on after commit ``generation``, with what ``length`` bytes have: it is to be told again."""
        self._generation = generation
        drop_pending(self._folder, generation if length else -1)
        told = read_pending(self._folder, generation, length)
        if length:
            self._file = AppendFile(_path(self._folder, generation), length)
            self.count, self._size = len(told), sum(map(_size, told))
        return told

    def add(self, told: Told) -> None:
        """The index was told this."""
        self.count += 1
        self._size += _size(told)
        if self.full:
            self._told = []
        else:
            self._told.append(told)

    def write(self) -> int:
        """Make it durable, unless `full`; the length is for `open`."""
        if self._file is None:
            if not self._told:
                return 0
            drop_pending(self._folder)
            with disk_failures(self._folder):
                self._folder.mkdir(exist_ok=True)
            self._file = AppendFile(_path(self._folder, self._generation), 0)
        if self._told:
            self._file.append(pack(_encode(self._told)))
            self._told = []
            self._file.sync()
        return self._file.length

    def committed(self, generation: int) -> None:
        """The index has it. Commit ``generation - 1`` was in the last checkpoint, so what came before that goes."""
        self.close()
        drop_pending(self._folder, self._generation)
        self._generation = generation
        self._told, self.count, self._size = [], 0, 0

    def close(self) -> None:
        """What was not written is lost, as it is not in the index either."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


def drop_pending(folder: Path, keep: int = -1) -> None:
    """Remove all files but that of one commit. Raises StorageError."""
    with disk_failures(folder):
        for path in folder.glob(f"{_NAME}*"):
            if path != _path(folder, keep):
                path.unlink()


def _path(folder: Path, generation: int) -> Path:
    return folder / f"{_NAME}{generation}"


def read_pending(folder: Path, generation: int, length: int) -> list[Told]:
    """What a checkpoint speaks of. Changes nothing. Raises StorageError where it is damaged, or not there."""
    if not length:
        return []
    path = _path(folder, generation)
    check_length(path, length)
    return [told for some in _frames(path, length) for told in some]


def _frames(path: Path, length: int) -> Iterator[list[Told]]:
    with disk_failures(path), path.open("rb") as file:
        at = 0
        while at < length:
            data, size = read_frame(file, at, path)
            at += size
            at += room_at(file, at)
            try:
                yield _decoder.decode(data)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise StorageError(f"{path}: the file is damaged ({error}); {REPAIR}") from error


def _encode(some: list[Told]) -> bytes:
    try:
        return _encoder.encode(some)
    except UnicodeEncodeError:  # lone surrogates, which no field of an index can hold either
        return _encoder.encode([told if isinstance(told, str) else _encodable(told) for told in some])


def _encodable(page: Page) -> Page:
    texts = {name: encodable(text) for name, text in msgspec.structs.asdict(page).items() if isinstance(text, str)}
    return msgspec.structs.replace(page, headings=tuple(map(encodable, page.headings)), **texts)


def _size(told: Told) -> int:
    return len(told) if isinstance(told, str) else len(told.text) + len(told.other) + 1000
