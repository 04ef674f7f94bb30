"""Journal: what enters from outside is on the disk before anybody is told "done", and is read again after a kill.

A file of records that only grows: appended, synced, and then as durable as the disk. A position is the number of bytes ever
written before a record, so it stays what it is when records that nobody needs any more are removed (`forget`). Whoever takes
the records out notes the position that follows the last one, and opens the journal with it the next time.

The file is made with its first record: who never appends pays nothing. It begins with `_MAGIC` and the position of its first
record. Each record is a length, a checksum of that, a checksum of the bytes, and the bytes. A process or a machine may have
died while the last one was written, and it had not been acknowledged then: it is cut off. Any other damage is refused.

`append` and `forget` may be called on any thread; appending takes as long as the disk does, and holds up nobody else.
"""

import os
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from larm.errors import REPAIR, StorageError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.kit.disk.files import sync_directory

Position = int
_MAGIC = b"larm journal 1\n\0"
_BEGIN = struct.Struct("<16sQI")
_RECORD = struct.Struct("<II")
_CHECK = struct.Struct("<I")
_HEAD = _RECORD.size + _CHECK.size
_FORGET = 1_000_000
"""Bytes that nobody needs any more before the file is written anew: as much as a checkpoint writes anyway."""


class Journal:
    """The records from ``position`` on, and those that are appended."""

    def __init__(self, path: Path, position: Position) -> None:
        """Raises StorageError where the file is damaged, or is not the one in which ``position`` was noted."""
        # constant after construction
        self.path = path
        self._lock = threading.Lock()
        # guarded by self._lock
        self._file: int | None = None
        self._base: Position = position
        """Position of the first record in the file."""
        self._end: Position = position
        # only at the start
        self.left: list[tuple[bytes, Position]] = []
        """Records that nobody took out before the last process ended, each with the position that follows it."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            if position:
                raise self._refusal("is not there any more") from None
            return
        except OSError as error:
            raise disk_failure(path, error) from error
        if len(data) >= _BEGIN.size:
            self._read(data, position)
        elif position:  # else it was just being made
            raise self._refusal("was cut")

    def append(self, record: bytes) -> Position:
        """The position that follows it, once it is on the disk. Raises StorageError; then it is not in the journal."""
        head = _RECORD.pack(len(record), zlib.crc32(record))
        data = head + _CHECK.pack(zlib.crc32(head)) + record
        with self._lock:
            try:
                if self._file is None:
                    self._file = self._open()
                os.lseek(self._file, self._at(self._end), os.SEEK_SET)
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._file, rest) :]
                os.fsync(self._file)
            except OSError as error:
                if self._file is not None:
                    with suppress(OSError):  # half a record at the end is cut off at the next start, too
                        os.ftruncate(self._file, self._at(self._end))
                raise disk_failure(self.path, error) from error
            self._end += len(data)
            return self._end

    def forget(self, position: Position) -> None:
        """What stands before this will never be asked for again. Raises StorageError."""
        with self._lock:
            if position - self._base < _FORGET or self._file is None:
                return
            with disk_failures(self.path):
                rest = os.pread(self._file, self._end - position, self._at(position))
                os.close(self._file)
                self._file = None
                write_atomically(self.path, _beginning(position) + rest)
                self._base = position

    def close(self) -> None:
        """A second call does nothing."""
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                os.close(file)

    def _open(self) -> int:
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if os.fstat(file).st_size >= _BEGIN.size:
            os.ftruncate(file, self._at(self._end))  # what was being written when the last process ended
        else:
            os.pwrite(file, _beginning(self._base), 0)
            sync_directory(self.path.parent)
        return file

    def _at(self, position: Position) -> int:
        return position - self._base + _BEGIN.size

    def _read(self, data: bytes, position: Position) -> None:
        base = self._base = self._end = _BEGIN.unpack_from(data)[1]
        if not data.startswith(_beginning(base)):
            raise self._refusal("is no journal of larm's, or is damaged at its beginning")
        for record, end in self._records(data):
            self._end = end
            if end > position:
                self.left.append((record, end))
        if not base <= position <= self._end:
            raise self._refusal(f"has the records from {base:,} to {self._end:,}, the last checkpoint noted {position:,}")

    def _records(self, data: bytes) -> Iterator[tuple[bytes, Position]]:
        at = _BEGIN.size
        while at < len(data):
            head = data[at : at + _HEAD]
            if len(head) < _HEAD or not any(head):
                return  # the last one was being written
            length, check = _RECORD.unpack_from(head)
            if zlib.crc32(head[: _RECORD.size]) != _CHECK.unpack_from(head, _RECORD.size)[0]:
                raise self._refusal(f"is damaged at byte {at:,}")
            record = data[at + _HEAD : at + _HEAD + length]
            at += _HEAD + length
            if len(record) < length or zlib.crc32(record) != check:
                if at < len(data):
                    raise self._refusal(f"is damaged before byte {at:,}")
                return
            yield record, self._base + at - _BEGIN.size

    def _refusal(self, what: str) -> StorageError:
        return StorageError(
            f"{self.path}: it {what}: it was removed, replaced or damaged, and has what the crawl was asked to do; put the file"
            f" back as it was, or {REPAIR}"
        )

    def __repr__(self) -> str:
        return f"<Journal {self.path}: {self._base:,} to {self._end:,}>"


def salvage_journal(path: Path, position: Position) -> int:
    """Rebuild a closed journal from its whole records behind ``position``. Return the number of lost records, at least.

    Raises StorageError.
    """
    with disk_failures(path):
        data = path.read_bytes() if path.exists() else b""
    base = _BEGIN.unpack_from(data)[1] if len(data) >= _BEGIN.size else position
    at, lost, kept = _BEGIN.size, int(not data.startswith(_beginning(base))), list[bytes]()
    while data.startswith(_beginning(base)) and at + _HEAD <= len(data):
        head = data[at : at + _HEAD]
        length, check = _RECORD.unpack_from(head)
        if zlib.crc32(head[: _RECORD.size]) != _CHECK.unpack_from(head, _RECORD.size)[0]:
            lost += any(head)  # where the next one begins is not known
            break
        record = data[at + _HEAD : at + _HEAD + length]
        at += _HEAD + length
        if base + at - _BEGIN.size > position:
            whole = len(record) == length and zlib.crc32(record) == check
            kept += [head + record] if whole else []
            lost += not whole and at < len(data)
    write_atomically(path, _beginning(position) + b"".join(kept))
    return lost


def _beginning(base: Position) -> bytes:
    return _BEGIN.pack(_MAGIC, base, zlib.crc32(_MAGIC + base.to_bytes(8, "little")))
