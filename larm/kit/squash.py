"""zstd, where this Python has it; squash, unsquash: bytes by it, with a bound for what comes out. Pure; any thread."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


__all__ = ["squash", "unsquash", "zstd"]


def squash(data: bytes) -> bytes:
    """Fewer bytes, in some microseconds for each of ten kilobytes."""
    return zstd.compress(data, level=3)


def unsquash(data: bytes, limit: int) -> bytes:
    """The inverse. Raises ValueError for anything else, and for what has more than ``limit`` bytes."""
    decoder = zstd.ZstdDecompressor()
    try:
        found = decoder.decompress(data, limit + 1)
    except zstd.ZstdError as error:
        raise ValueError(f"not compressed by zstd: {error}") from error
    if len(found) > limit or not decoder.eof:
        raise ValueError(f"more than {limit:,} bytes, or cut off")
    return found
