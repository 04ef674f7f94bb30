"""Triage: what kind of work a body will be, told before anything of it is read. Called on the fetcher threads.

Loads no parser: a crawl whose pages are all read by a process beside it needs none itself.
"""

from __future__ import annotations

from typing import Final

from larm.config import Processing
from larm.model.outcome import Fetched

HTML: Final = ("text/html", "application/xhtml+xml")
LARGE: Final = 1_000_000
"""Bytes of a body that a fetcher thread leaves to the reading threads: one page in ten thousand, a sitemap, a trap."""


class Triage:
    """By the settings that the processors are made of, too (`larm.processing.by_mime`)."""

    def __init__(self, settings: Processing) -> None:
        # constant after construction
        self._own = frozenset(mime.lower() for mime in settings.by_mime)
        self._quick = settings.parser == "lexbor" and not (settings.follow_embedded or settings.srcset)
        self._documents = settings.documents.processes > 0

    def is_page(self, fetched: Fetched) -> bool:
        """Whether this is HTML, says so, and takes a few seconds at most: html5lib takes 3 s for a megabyte."""
        kind = fetched.headers.get("content-type", "")
        if len(fetched.body) > LARGE and not (self._quick and HTML[0] not in self._own):
            return False
        return "html" in kind and (fetched.body.startswith(b"<") or _mime_of(kind, fetched.body) in HTML)

    def is_slow(self, fetched: Fetched) -> bool:
        """Whether it takes a process, or a good part of a second, to read this."""
        if len(fetched.body) > LARGE:
            return True
        if fetched.body.startswith(b"<") or not self._documents:  # nearly always: a quick answer
            return False
        from larm.processing.apart.protocol import KINDS

        mime = _mime_of(fetched.headers.get("content-type", ""), fetched.body)
        return mime in KINDS and mime not in self._own


def _mime_of(kind: str, body: bytes) -> str:
    from larm.processing.mime import mime_of  # with a millisecond of regular expressions, for the page in a hundred

    return mime_of(kind, body)
