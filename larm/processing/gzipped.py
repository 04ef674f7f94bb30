"""GzipProcessor: a document in gzip that is sent as such, as sitemaps often are. Called on the fetcher threads; no state.

(A page that a server packs for its way, with Content-Encoding, was unpacked by the fetcher.)
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

import msgspec

from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched

MAX_SIZE: Final = 52_428_800
"""Bytes unpacked; the protocol's limit for a sitemap. A bomb ends here."""
_MOST_MEMBERS: Final = 10_000  # they may be empty
_SLICE: Final = 1 << 16
GZIP: Final = ("application/gzip", "application/x-gzip")
"""The types this is for."""


class GzipProcessor:
    """Unpacks, and lets the processor for what is within read it."""

    def __init__(self, process: Callable[[URLMessage, Fetched], Document]) -> None:
        # constant after construction
        self._process = process

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`. The document's type is that of what is within, if that is text or XML."""
        body, warning = unpack(fetched.body)
        if body.startswith(b"\x1f\x8b") or b"\0" in body[:512]:  # packed twice, tar: not for us
            return Document(mime)
        headers = {name: value for name, value in fetched.headers.items() if name != "content-type"}
        found = self._process(message, msgspec.structs.replace(fetched, body=body, headers=headers))
        if warning:
            line = f"{message.url.access}: {warning}"
            return msgspec.structs.replace(found, warnings=(line, *found.warnings))
        return found


def unpack(body: bytes, limit: int = MAX_SIZE) -> tuple[bytes, str]:
    """(what is within, as far as it can be had; a warning or nothing). Several members in a row are one file (RFC 1952 2.2)."""
    pieces: list[bytes] = []
    left, at, members = limit, 0, 0
    while at < len(body) and left > 0 and members < _MOST_MEMBERS:
        reader = zlib.decompressobj(wbits=31)
        begin = at
        while not reader.eof and at < len(body) and left > 0:  # in slices: what is behind the end of a member is copied
            piece = body[at : at + _SLICE]
            at += len(piece)
            try:
                pieces.append(reader.decompress(piece, left))
            except zlib.error as error:
                if members and not body.startswith(b"\x1f\x8b", begin):
                    return b"".join(pieces), ""  # padding
                return b"".join(pieces), f"broken gzip: {error}"
            left -= len(pieces[-1])
        if not reader.eof:
            return b"".join(pieces), f"more than {limit} bytes in gzip" if left <= 0 else "gzip ends too early"
        at -= len(reader.unused_data)
        members += 1
    return b"".join(pieces), f"gzip of more than {members} members" if members == _MOST_MEMBERS else ""
