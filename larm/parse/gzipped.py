"""GzipProcessor: a document in gzip that is sent as such, as sitemaps often are. Called by who reads pages; no state.

(A page that a server packs for its way, with Content-Encoding, was unpacked by the fetcher.)
"""

from collections.abc import Callable
from typing import Final

import msgspec

from larm.kit.gunzip import MEMBERS, MORE, unpack
from larm.model.cuts import EFFORT, PAGE
from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.parse.mime import mime_of

MAX_SIZE: Final = 52_428_800
"""Bytes unpacked of all but HTML, or as many as of HTML, if that are more; the protocol's limit for a sitemap. A bomb ends
here."""
GZIP: Final = ("application/gzip", "application/x-gzip")
"""The types this is for."""
_MAGIC: Final = b"\x1f\x8b"


class GzipProcessor:
    """Unpacks, and lets the processor for what is within read it."""

    def __init__(self, process: Callable[[URLMessage, Fetched], Document], page_size: int = MAX_SIZE, effort: int = 1) -> None:
        """``page_size``: bytes of HTML that are read, as of other pages: its tree takes sixty times as much memory.

        ``effort``: times the members that a file may have.
        """
        # constant after construction
        self._process = process
        self._page_size = page_size
        self._members = MEMBERS * effort

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`. The document's type is that of what is within, if that is text or XML."""
        body, warning = fetched.body, f"no gzip, though it is said to be {mime}"
        if body.startswith(_MAGIC):
            body, warning = unpack(fetched.body, self._page_size, self._members)
            if self._page_size <= len(body) < MAX_SIZE and "html" not in mime_of("", body):
                body, warning = unpack(fetched.body, MAX_SIZE, self._members)
        if body.startswith(_MAGIC) or b"\0" in body[:512]:  # packed twice, tar: not for us
            return Document(mime)
        headers = {name: value for name, value in fetched.headers.items() if name != "content-type"}
        found = self._process(message, msgspec.structs.replace(fetched, body=body, headers=headers))
        if warning:
            line = f"{message.url.access}: {warning}"
            name = PAGE if len(body) >= self._page_size else EFFORT
            cuts = (name, *found.cuts) if warning.startswith(MORE) else found.cuts
            return msgspec.structs.replace(found, warnings=(line, *found.warnings), cuts=cuts)
        return found
