"""Reply: what a synthetic host answers, byte for byte, and the replies of bad hosts ready-made.

Values: a Reply knows nothing of the site that gives it. Built by tests, sent by ``larm.testing.server``.
"""

from __future__ import annotations

import functools
import gzip
import http.client
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Reply:
    """One answer. Whatever is left out is what a good server would do.

    ``Content-Length`` is added unless the headers have it or ``Transfer-Encoding``; nothing else is.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    delay: float = 0.0
    """Seconds before the first byte."""
    raw: bytes | None = None
    """The whole answer as it goes over the wire; headers and body are then ignored, and the status is for the records alone
    (0 in the replies below that give no usable answer: they do not count as fetched)."""
    endless: bytes = b""
    """Sent again and again after the rest, as fast as the client reads, until it hangs up."""
    piece: int = 0
    """Send so many bytes at a time, ``pause`` seconds apart; 0: all at once."""
    pause: float = 0.0
    end: Literal["keep", "close", "reset", "stall"] = "keep"
    """After the last byte: keep the connection, close it, reset it (RST), or fall silent for ever."""

    @functools.cached_property
    def head(self) -> bytes:
        """Status line and headers, with the empty line."""
        lines = [f"HTTP/1.1 {self.status} {http.client.responses.get(self.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        names = {name.lower() for name in self.headers}
        if not names & {"content-length", "transfer-encoding"} and self.status not in (204, 304):
            lines.append(f"Content-Length: {len(self.body)}")
        if self.end == "close" and "connection" not in names:
            lines.append("Connection: close")
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"

    @functools.cached_property
    def wire(self) -> bytes:
        """All bytes of the answer to a GET."""
        return self.raw if self.raw is not None else self.head + self.body

    @functools.cached_property
    def validators(self) -> Mapping[str, str]:
        """Its ETag and Last-Modified under lower-case names; empty where a conditional request makes no sense."""
        if self.status != 200 or self.raw is not None:
            return {}
        return {name.lower(): value for name, value in self.headers.items() if name.lower() in ("etag", "last-modified")}

    @functools.cached_property
    def not_modified(self) -> Reply:
        """The 304 in its place."""
        kept = {
            name: value for name, value in self.headers.items() if name.lower() in ("etag", "last-modified", "cache-control")
        }
        return Reply(304, kept, delay=self.delay)


def html(body: str | bytes, *, status: int = 200, charset: str = "utf-8", delay: float = 0.0, **headers: str) -> Reply:
    """An HTML page. ``headers``: further ones, ``_`` for ``-`` (``Retry_After="3"``)."""
    data = body.encode(charset) if isinstance(body, str) else body
    fields = {"Content-Type": f"text/html; charset={charset}"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return Reply(status, fields, data, delay)


def moved(to: str, status: int = 301) -> Reply:
    """A redirect; two of them that point at each other make a loop."""
    return Reply(status, {"Location": to})


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
