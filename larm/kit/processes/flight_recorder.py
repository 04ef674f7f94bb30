"""FlightRecorder: what each thread was busy with when the process died. A file in shared memory, so writing is free.

A memory-mapped file keeps what was written even if the process is killed at the next instruction. A power cut may lose it.
That the file is emptied reaches the disk at once, so that no death is reported twice.
"""

import mmap
import os
from pathlib import Path

from larm.kit.disk.disk_failure import disk_failures

_SLOT = 2048
"""Bytes for one thread."""
LONGEST = _SLOT - 2
"""Bytes of UTF-8 that are kept; longer text is cut."""


class FlightRecorder:
    """One slot a thread. `left_over` is what an earlier process did not finish."""

    def __init__(self, path: Path, slots: int) -> None:
        """Read what the last process left, then begin anew. Raises StorageError."""
        with disk_failures(path):
            self.left_over = _read(path)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                os.ftruncate(descriptor, 0)
                os.posix_fallocate(descriptor, 0, slots * _SLOT)  # on a full disk a write to the map would be a SIGBUS
                os.fsync(descriptor)
                self._map = mmap.mmap(descriptor, slots * _SLOT)
            finally:
                os.close(descriptor)
        self._path = path

    def begin(self, slot: int, text: str) -> None:
        """The thread of this slot begins something that could kill the process."""
        data = text.encode("utf-8", "replace")[:LONGEST]
        start = slot * _SLOT
        self._map[start + 2 : start + 2 + len(data)] = data
        self._map[start : start + 2] = len(data).to_bytes(2, "big")

    def end(self, slot: int) -> None:
        """It survived."""
        self._map[slot * _SLOT : slot * _SLOT + 2] = b"\0\0"

    def close(self) -> None:
        """A clean end: nothing was left over. A second call does nothing."""
        if not self._map.closed:
            self._map[:] = bytes(len(self._map))
            self._map.flush()  # or a power cut might bring the file back as it was
            self._map.close()
            self._path.unlink(missing_ok=True)


def _read(path: Path) -> list[str]:
    if not path.exists():
        return []
    data = path.read_bytes()
    texts = []
    for start in range(0, len(data), _SLOT):
        length = int.from_bytes(data[start : start + 2], "big")
        if 0 < length <= LONGEST:
            texts.append(data[start + 2 : start + 2 + length].decode("utf-8", "replace"))
    return texts
