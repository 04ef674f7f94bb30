"""Reply: what a synthetic host answers, byte for byte.

Values: a Reply knows nothing of the site that gives it. Built by tests, sent by ``larm.testing.server``.
"""

from __future__ import annotations

import functools
import http.client
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


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
