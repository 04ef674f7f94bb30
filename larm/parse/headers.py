"""HeaderReader: what the headers of an answer add to its Document: X-Robots-Tag, Link, Refresh. For every MIME type.

Called by `larm.parse.by_mime` on the fetcher threads, for the few answers that have one of them.
"""

from collections.abc import Mapping, Sequence

import msgspec

from larm.config import ProcessingSettings
from larm.model.document import Document
from larm.model.left import NOFOLLOW
from larm.model.links import Links
from larm.model.message import URLMessage
from larm.parse.assembly import Assembler
from larm.parse.directives import Robots, of_header
from larm.parse.page import Element
from larm.parse.pointers import alternates, canonical, header_elements


class HeaderReader:
    """Keeps no state between answers; shared by all fetcher threads."""

    def __init__(self, assembler: Assembler, settings: ProcessingSettings, agent: str = "larm") -> None:
        """``agent``: our product token, in lower case."""
        # constant after construction
        self._assembler = assembler
        self._nofollow = settings.nofollow
        self._agent = agent

    def add(self, document: Document, message: URLMessage, headers: Mapping[str, str]) -> Document:
        """The document with what the headers say; their links come first, and theirs is the first canonical address."""
        if tag := headers.get("x-robots-tag", ""):
            document = self._obey(document, of_header(tag, self._agent))
        if elements := header_elements(headers.get("link", ""), headers.get("refresh", "")):
            document = self._point(document, message, elements)
        return document

    def _obey(self, document: Document, robots: Robots) -> Document:
        page = Robots(document.index, document.follow, document.archive, document.snippet, document.until)
        both = page.also(robots)
        follow = both.follow or not self._nofollow
        links = document.links
        if not follow:
            links = links.unfollowed()
        return msgspec.structs.replace(
            document,
            index=both.indexed,
            follow=follow,
            archive=both.archive,
            snippet=both.snippet,
            until=both.until,
            links=links,
            counts=document.counts if follow or not links else tuple(dict.fromkeys((*document.counts, NOFOLLOW))),
        )

    def _point(self, document: Document, message: URLMessage, elements: Sequence[Element]) -> Document:
        found = self._assembler.links(message.url.access, elements, follow=document.follow)
        return msgspec.structs.replace(
            document,
            links=Links.of(dict.fromkeys((*found.links, *document.links))),
            canonical=canonical(found.related, message.url) or document.canonical,
            alternates=tuple(dict.fromkeys((*alternates(found.related), *document.alternates))),
            warnings=(*document.warnings, *found.warnings),
            cuts=tuple(dict.fromkeys((*document.cuts, *found.cuts))),
        )
