"""Replies of bad hosts, byte for byte."""

from __future__ import annotations

import gzip
import zlib
from typing import Literal

from larm.testing.replies import Reply, html

_MEGABYTE = 1_000_000


def unavailable(retry_after: str | int | None = None, status: int = 503) -> Reply:
    """Not now; ``retry_after`` is in seconds or an HTTP date."""
    return Reply(status, {} if retry_after is None else {"Retry-After": str(retry_after)}, b"try later\n")


def stall(before: bytes = b"") -> Reply:
    """Sends ``before`` and then nothing, for ever, with the connection open."""
    return Reply(0, raw=before, end="stall")


def reset(before: bytes = b"") -> Reply:
    """Breaks the connection (RST), after ``before``."""
    return Reply(0, raw=before, end="reset")


def half(body: bytes) -> Reply:
    """Promises all of ``body``, sends half of it and closes the connection."""
    headers = {"Content-Type": "text/html", "Content-Length": str(len(body))}
    return Reply(0, raw=Reply(200, headers).head + body[: len(body) // 2], end="close")


def endless_body(line: bytes = b"<p>more and more</p>\n") -> Reply:
    """A page that never ends (chunked)."""
    block = line * (16_384 // len(line) + 1)
    headers = {"Content-Type": "text/html", "Transfer-Encoding": "chunked"}
    return Reply(200, headers, endless=b"%x\r\n%s\r\n" % (len(block), block))


def endless_headers() -> Reply:
    """Header lines without end."""
    return Reply(0, raw=b"HTTP/1.1 200 OK\r\n", endless=b"X-Filler: %s\r\n" % (b"a" * 5000))


def zipped(body: bytes, coding: Literal["gzip", "deflate"] = "gzip") -> Reply:
    """An HTML page, compressed."""
    data = gzip.compress(body, mtime=0) if coding == "gzip" else zlib.compress(body)
    return Reply(200, {"Content-Type": "text/html", "Content-Encoding": coding}, data)


def broken_gzip(body: bytes = b"<title>broken</title>" * 100) -> Reply:
    """Says gzip, begins as gzip, goes on as rubbish."""
    data = gzip.compress(body, mtime=0)[:20]
    return Reply(200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}, data + b"\xff" * 200)


def gzip_bomb(megabytes: int = 1000) -> Reply:
    """A small answer (a thousandth) that unpacks to so many megabytes of zeros; valid gzip to its last byte."""
    zeros = bytes(_MEGABYTE)
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = deflate.compress(zeros) + deflate.flush(zlib.Z_FULL_FLUSH)  # stands alone, so that it can be repeated
    crc = 0
    for _ in range(megabytes):
        crc = zlib.crc32(zeros, crc)
    head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    tail = deflate.flush() + crc.to_bytes(4, "little") + (megabytes * _MEGABYTE % 2**32).to_bytes(4, "little")
    return Reply(200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}, head + block * megabytes + tail)


def nul_page(size: int = 100_000) -> Reply:
    """A page of NUL bytes that calls itself HTML."""
    return html(bytes(size))


def huge_page(size: int) -> Reply:
    """A well-formed page of about ``size`` bytes, most of it text."""
    line = b"<p>The quick brown fox jumps over the lazy dog, again and again.</p>\n"
    return html(b"<!DOCTYPE html><title>huge</title>\n" + line * (size // len(line)) + b'<a href="/after-huge">end</a>\n')
