"""Heavy bodies: small or slow answers that cost their reader much memory."""

from __future__ import annotations

import zlib
from typing import Final

from larm.testing.replies import Reply

_BLOCK: Final = 1 << 20


def packed(line: bytes, size: int) -> bytes:
    """gzip of ``line`` again and again, ``size`` bytes unpacked; made a piece at a time."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    lines = _BLOCK // len(line)
    whole, rest = divmod(size // len(line), lines)
    pieces = [squeeze.compress(line * lines) for _ in range(whole)]
    return b"".join([*pieces, squeeze.compress(line * rest), squeeze.flush()])


def packed_links(count: int) -> bytes:
    """gzip of so many links, each of them to another page of a host without a name."""
    squeeze = zlib.compressobj(1, zlib.DEFLATED, 31)
    pieces = []
    for begin in range(0, count, 10_000):
        links = b"".join([b"<a href=//x/%07d>\n" % number for number in range(begin, min(begin + 10_000, count))])
        pieces.append(squeeze.compress(links))
    return b"".join([*pieces, squeeze.flush()])


def gz(body: bytes) -> Reply:
    """A file in gzip, sent as such."""
    return Reply(200, {"Content-Type": "application/gzip"}, body)


def in_single_bytes(size: int) -> Reply:
    """A page of ``size`` bytes in chunks of one byte each."""
    text = (b"<p>drip " * (size // 8 + 1))[:size]
    wire = b"".join([b"1\r\n%c\r\n" % letter for letter in text]) + b"0\r\n\r\n"
    return Reply(200, {"Content-Type": "text/html", "Transfer-Encoding": "chunked"}, wire)


def paragraphs() -> Reply:
    """16 million paragraphs without end tags: 46 KB that unpack to 48 MB, and to a tree of gigabytes."""
    return gz(packed(b"<p>", 48_000_000))


def short_paragraphs() -> Reply:
    """52 MB of paragraphs of two letters."""
    return gz(packed(b"<p>ab</p>\n", 52_000_000))


def many_links() -> Reply:
    """2.4 million links in 52 MB."""
    return gz(packed_links(2_400_000))
