"""How a record is compressed: a member of gzip or a frame of zstd, so that each can be read by itself. Pure."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING or sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

_GZIP_LEVEL: Final = 3  # of HTML a tenth larger than at 6, in half the time; without the GIL, as FastWARC's own is not
_ZSTD_LEVEL: Final = 3  # zstd's default


def gzip_member(data: bytes) -> bytes:
    """Complete in itself."""
    stream = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, 31)
    return stream.compress(data) + stream.flush()


def zstd_frame(data: bytes) -> bytes:
    """Complete in itself, with its length."""
    return zstd.compress(data, _ZSTD_LEVEL)


COMPRESSIONS: Final[dict[str, tuple[str, Callable[[bytes], bytes]]]] = {
    "gzip": (".warc.gz", gzip_member),
    "zstd": (".warc.zst", zstd_frame),
}
"""Of each setting the ends of file names, and what makes a member."""
