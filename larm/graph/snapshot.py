"""Snapshot: named arrays in one file, written as a whole and then only read.

`larm.graph.refresh` makes one from the journal, and can make it again; the reader maps it. So it is in the byte order of the
machine, and one that is damaged or of another order is refused, not repaired. The list of the arrays stands at the end, each
with its CRC-32, which is checked when the array is first used.
"""

import mmap
import os
import struct
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import msgspec

from larm.errors import StorageError
from larm.kit.disk.atomic import open_beside
from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.kit.disk.files import sync_directory

_TAIL = struct.Struct("<II4s")
"""Length of the list, its CRC-32, magic."""
_MAGIC = b"LGS1"
_BROKEN = "the link graph's snapshot is damaged; the next run makes it again"


class Section(msgspec.Struct, frozen=True, array_like=True):
    """One array."""

    offset: int
    length: int
    checksum: int


class Contents(msgspec.Struct, frozen=True):
    """What stands at the end of the file."""

    byte_order: str
    figures: dict[str, int]
    sections: dict[str, Section]


class SnapshotWriter:
    """Writes to a file beside ``path``, which `finish` puts in its place. Raises StorageError."""

    def __init__(self, path: Path) -> None:
        # constant after construction
        self._path = path
        with disk_failures(path):
            descriptor, self._name = open_beside(path)
        # only the writer thread
        self._file = os.fdopen(descriptor, "wb")
        self._sections: dict[str, Section] = {}
        self._begun = ("", 0, 0)

    def begin(self, name: str) -> None:
        """What is written from now on is the array ``name``."""
        self._end()
        self._put(bytes(-self._file.tell() % 8))
        self._begun = (name, self._file.tell(), 0)

    def write(self, data: bytes | memoryview) -> None:
        """The next part of the array."""
        if not len(data):  # an empty array of numpy's is no memoryview
            return
        name, offset, checksum = self._begun
        self._put(data)
        self._begun = (name, offset, zlib.crc32(data, checksum))

    def add(self, name: str, data: bytes | memoryview) -> None:
        """A whole array."""
        self.begin(name)
        self.write(data)

    def finish(self, figures: dict[str, int]) -> None:
        """Put the file in the place of the last one."""
        with disk_failures(self._path):
            self._end()
            contents = msgspec.msgpack.encode(Contents(sys.byteorder, figures, self._sections))
            self._file.write(contents + _TAIL.pack(len(contents), zlib.crc32(contents), _MAGIC))
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._name, self._path)
            sync_directory(self._path.parent)

    def close(self) -> None:
        """Throw away what was not finished; may be called at any time."""
        with suppress(OSError):  # what it still holds may not find room on the disk
            self._file.close()
        with suppress(FileNotFoundError):
            os.unlink(self._name)

    def _put(self, data: bytes | memoryview) -> None:
        with disk_failures(self._path):
            self._file.write(data)

    def _end(self) -> None:
        name, offset, checksum = self._begun
        if name:
            self._sections[name] = Section(offset, self._file.tell() - offset, checksum)


class Snapshot:
    """A snapshot that is read. Any thread. It stays as it is when a newer one takes its place."""

    def __init__(self, path: Path) -> None:
        """Map the file. Raises FileNotFoundError where there is none, StorageError where it is no good."""
        # constant after construction
        self._path = path
        try:
            with open(path, "rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                self._view = memoryview(self._map)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise disk_failure(path, error) from error
        except ValueError as error:  # an empty file
            raise StorageError(f"{path}: {_BROKEN}") from error
        contents = self._contents()
        if contents.byte_order != sys.byteorder:
            raise StorageError(f"{path}: it was made on a machine of another kind; the next run makes it again")
        self.figures = contents.figures
        self._sections = contents.sections
        # written by any thread, which at worst does it twice
        self._checked: dict[str, memoryview] = {}

    def check(self) -> None:
        """Look at all arrays, 1 GB a second. Raises StorageError where one is damaged."""
        for name in self._sections:
            self._check(name, "B")

    def array(self, name: str, kind: str = "B") -> memoryview:
        """An array as numbers of the type ``kind`` (as in the module ``array``). Raises StorageError."""
        found = self._checked.get(name)
        if found is None:
            found = self._check(name, kind)
            self._checked[name] = found
        return found

    def line(self, name: str, offset: int) -> str:
        """What stands in an array of lines at an offset; 0 is nothing. Raises StorageError."""
        if not offset:
            return ""
        if name not in self._checked:
            self.array(name)
        section, data = self._sections[name], self._map
        begin, end = section.offset + offset, section.offset + section.length
        stop = data.find(b"\n", begin, end)
        return data[begin : stop if stop >= 0 else end].decode("utf-8", "replace")

    def _check(self, name: str, kind: str) -> memoryview:
        section = self._sections.get(name)
        if section is not None:
            data = self._view[section.offset : section.offset + section.length]
            if len(data) == section.length and zlib.crc32(data) == section.checksum:
                return data.cast(kind) if len(data) else data  # type: ignore[call-overload]  # one can't cast nothing
        raise StorageError(f"{self._path}: {_BROKEN}")

    def _contents(self) -> Contents:
        view = self._view
        try:
            length, checksum, magic = _TAIL.unpack(view[-_TAIL.size :])
            data = view[-_TAIL.size - length : -_TAIL.size]
            if magic == _MAGIC and zlib.crc32(data) == checksum:
                return msgspec.msgpack.decode(data, type=Contents)
        except (struct.error, msgspec.MsgspecError):
            pass
        raise StorageError(f"{self._path}: {_BROKEN}")
