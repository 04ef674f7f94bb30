"""Frames: bodies of several pages, one after the other, compressed together as one zstd frame (RFC 8878) of a page file.

Pages of a crawl have much in common, so together they take half of what each of them takes alone, and half of the time.
A frame has a checksum. Behind it stands a *skippable* frame, which is room for the frame to grow by when a page in it is
overwritten; ``zstd -dc`` passes over it, and shows all bodies of a file. Pure but for `read_frame`; any thread.
"""

from pathlib import Path
from typing import BinaryIO

from larm.errors import StorageError
from larm.kit.squash import zstd

BLOCK = 128_000
"""Bytes of bodies that are compressed together: with 512,000 they take a tenth less, and to read one page takes four times as
long."""
_LEVEL, _CHECKSUM = int(zstd.CompressionParameter.compression_level), int(zstd.CompressionParameter.checksum_flag)
_OPTIONS = {_LEVEL: 1, _CHECKSUM: 1}
"""Level 3 takes a third more time, and 5 % less room."""
_SLACK = 64
_SKIPPED, _HEAD = (0x184D2A50).to_bytes(4, "little"), 8
_CHUNK = 65_536


def pack(bodies: bytes) -> bytes:
    """A frame, with room behind it."""
    return zstd.compress(bodies, options=_OPTIONS) + _room(_SLACK)


def pack_again(bodies: bytes, size: int) -> bytes:
    """A frame with room, ``size`` bytes in all, for what takes the place of a frame. Raises ValueError if there is no way."""
    for level in (1, 9, 19):
        packed = zstd.compress(bodies, options=_OPTIONS | {_LEVEL: level})
        if len(packed) <= size - _HEAD:
            return packed + _room(size - len(packed))
    raise ValueError(f"{len(bodies)} bytes do not fit into {size}")


def _room(size: int) -> bytes:
    return _SKIPPED + (size - _HEAD).to_bytes(4, "little") + bytes(size - _HEAD)


def read_frame(file: BinaryIO, offset: int, path: Path) -> tuple[bytes, int]:
    """The bodies of the frame that begins at ``offset``, and the bytes that it takes, without the room behind it.

    Raises StorageError where it is damaged, or cut; OSError.
    """
    file.seek(offset)
    unpack = zstd.ZstdDecompressor()
    parts: list[bytes] = []
    read = 0
    while not unpack.eof:
        chunk = file.read(_CHUNK)
        if not chunk:
            raise StorageError(f"{path}: it ends within the pages at byte {offset}: it was cut; restore it, or crawl again")
        read += len(chunk)
        try:
            parts.append(unpack.decompress(chunk))
        except zstd.ZstdError as error:
            raise StorageError(
                f"{path}: the pages at byte {offset} are damaged ({error}); restore the file, or crawl again"
            ) from error
    return b"".join(parts), read - len(unpack.unused_data)


def room_at(file: BinaryIO, offset: int) -> int:
    """Bytes of the room that begins there; 0 where there is none. Raises OSError."""
    file.seek(offset)
    head = file.read(_HEAD)
    return _HEAD + int.from_bytes(head[4:], "little") if head[:4] == _SKIPPED else 0
