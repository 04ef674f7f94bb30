"""Frames: messages through a pipe, each with its length in front, read into memory that is used again.

Fresh memory would cost more than the message: the system clears each page of it first. Used by both ends of a helper process,
each on its own thread.
"""

import os
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")
LENGTH: Final = 4
"""Bytes of the length in front of each frame, big-endian."""
KEPT: Final = 2_000_000
"""Size in bytes of the buffer that each end of a pipe between two processes keeps; most frames fit in several times."""
_FREE = 250_000  # bytes that there is room for, at least, where more room is made: most frames


class Frames:
    """What comes through one pipe: `take` until there is a `whole` frame, then `pop` it."""

    def __init__(self) -> None:
        self._room = bytearray()
        self._begin = self._end = 0  # of what is there

    @property
    def size(self) -> int | None:
        """Bytes of the first frame, be it whole or not; None: not known yet."""
        if self._end - self._begin < LENGTH:
            return None
        return int.from_bytes(self._room[self._begin : self._begin + LENGTH])

    @property
    def whole(self) -> bool:
        """There is a frame to be popped."""
        size = self.size
        return size is not None and self._end - self._begin >= LENGTH + size

    def take(self, pipe: int) -> bool:
        """Read once what there is, or what there is room for; False: the pipe has ended.

        Raises OSError; BlockingIOError where it would have to wait, and must not.
        """
        self._make_room()
        with memoryview(self._room) as room, room[self._end :] as free:
            count = os.readv(pipe, [free])
        self._end += count
        return count > 0

    def pop(self, read: Callable[[memoryview], T]) -> T:
        """The first frame, as ``read`` has it, which must not keep the memory. Also gone if ``read`` raises."""
        begin = self._begin + LENGTH
        self._begin = begin + (self.size or 0)
        try:
            with memoryview(self._room) as room, room[begin : self._begin] as frame:
                return read(frame)
        finally:
            if self._begin == self._end:
                self._begin = self._end = 0
                if len(self._room) > KEPT:
                    self._room = bytearray()

    def _make_room(self) -> None:
        """If there is none: for the whole of the first frame, and for something, as nobody need have popped that one."""
        if self._end < len(self._room):
            return
        rest = self._room[self._begin : self._end]
        there = len(rest)
        wanted = max(LENGTH + (self.size or 0), there + _FREE)
        if wanted > len(self._room):
            self._room = bytearray(max(wanted, KEPT))
        self._room[:there] = rest
        self._begin, self._end = 0, there


def framed(data: bytes | bytearray) -> list[memoryview]:
    """What is to be written for a frame of it, by `write_some`."""
    head = memoryview(len(data).to_bytes(LENGTH, "big"))
    return [head, memoryview(data)] if data else [head]


def write_some(pipe: int, rest: list[memoryview]) -> None:
    """Write once, and leave in ``rest`` what there was no room for. Raises OSError, BlockingIOError."""
    written = os.writev(pipe, rest)
    while rest and written >= len(rest[0]):
        written -= len(rest.pop(0))
    if written:
        rest[0] = rest[0][written:]
