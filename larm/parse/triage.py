"""Triage: what kind of work a body will be, told before anything of it is read. Called on the fetcher threads.

Loads no parser: a crawl whose pages are all read by processes beside it needs none itself.
"""

import enum
from importlib.util import find_spec
from typing import Final

from larm.config import ProcessingSettings
from larm.model.outcome import Fetched

HTML: Final = ("text/html", "application/xhtml+xml")
LARGE: Final = {"lexbor": 8_000_000, "html5lib": 1_000_000}
"""Bytes of a body from which it is heavy, by the parser: what takes more than half a second, and much memory."""
LARGE_OF_EFFORT: Final = 5_000
"""The same where a page may make more than the usual work: that is not known by its size."""
LARGE_XML: Final = 200_000
"""The same of XML and of feeds in JSON, which Python reads: it takes 0.4 s for a megabyte."""
_GZIP: Final = b"\x1f\x8b"
_XML: Final = ("xml", "rss", "atom", "rdf", "opml", "feed+json", "application/json")
"""Parts of the names of their types."""
_UNREAD: Final = ("image/", "audio/", "video/", "font/", "application/zip", "application/octet-stream")
"""Beginnings of types of which larm reads nothing, unless the user has a processor for them."""
_ROOM: Final = 100_000_000
"""Bytes of address space that Python takes with all that reads pages, and that XML of 52 MB takes beside its text."""
_TREE: Final = {"lexbor": 66, "html5lib": 220}
"""Bytes that a tree takes for each byte of the worst page, ``<p>`` again and again; a common page takes a third of it."""


_EFFORT: Final = 114_000_000
"""Bytes of the elements that a parser may make of a page beyond those that stand there (`larm.parse.hostile`)."""


class Work(enum.Enum):
    """Who should read a body."""

    LIGHT = enum.auto()
    """Any process that reads pages, among others; or whoever has it."""
    HEAVY = enum.auto()
    """A process that reads one body at a time, within a limit of memory that is granted for it (`larm.engine.reading_pool`)."""
    DOCUMENT = enum.auto()
    """A process that reads PDF and office files."""
    HERE = enum.auto()
    """Whoever has it: there is little to read, or a processor of the user's own does it, who may want to remember."""


READ_BY_PROCESSES: Final = (Work.LIGHT, Work.HEAVY)
"""What a process can read that reads pages."""


class Triage:
    """By the settings that the processors are made of, too (`larm.parse.by_mime`)."""

    def __init__(self, settings: ProcessingSettings, page_size: int, memory: int) -> None:
        """``page_size``: bytes that are read of a page, unpacked; ``memory``: bytes that all processes may have together.

        Half of these are enough for the largest page that is light.
        """
        # constant after construction
        self._own = frozenset(mime.lower() for mime in settings.by_mime)
        self._documents = settings.documents.processes > 0
        self._page_size = page_size
        parser = parser_of(settings)
        self._tree = _TREE[parser]
        self._large = min(LARGE[parser], memory // (2 * self._tree)) if settings.effort == 1 else LARGE_OF_EFFORT
        self._effort = (settings.effort - 1) * _EFFORT

    def work(self, fetched: Fetched) -> Work:
        """By its type, its first bytes and its size."""
        body, kind = fetched.body, fetched.headers.get("content-type", "")
        if (
            len(body) <= self._large and "html" in kind and body.startswith(b"<") and not self._own
        ):  # nearly always: a quick answer
            return Work.LIGHT
        mime = _mime_of(kind, body)
        if mime in self._own:
            return Work.HERE
        if _is_document(mime):
            return Work.DOCUMENT if self._documents else Work.HERE
        if mime.startswith(_UNREAD):
            return Work.HERE
        xml = mime not in HTML and any(word in mime for word in _XML)
        if body.startswith(_GZIP) or len(body) > (
            min(LARGE_XML, self._large) if xml else self._large
        ):  # of what is packed nobody knows how much it is
            return Work.HEAVY
        return Work.LIGHT if xml or mime in HTML else Work.HERE

    def memory(self, fetched: Fetched, *, careful: bool = False) -> int:
        """Bytes that a process should have to read it, in the worst case; ``careful``: by html5lib."""
        size = self._page_size if fetched.body.startswith(_GZIP) else len(fetched.body)
        return _ROOM + self._effort + (_TREE["html5lib"] if careful else self._tree) * size


def parser_of(settings: ProcessingSettings) -> str:
    """Return the name of the parser that reads pages: html5lib where larm could not be compiled."""
    return settings.parser if find_spec("larm.parse.compiled") is not None else "html5lib"


def _is_document(mime: str) -> bool:
    from larm.parse.apart.protocol import KINDS  # for the page in a hundred

    return mime in KINDS


def _mime_of(kind: str, body: bytes) -> str:
    from larm.parse.mime import mime_of  # with a millisecond of regular expressions, for the page in a hundred

    return mime_of(kind, body)
