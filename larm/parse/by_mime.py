"""ByMime: hands each fetched body to the processor for its MIME type (LARM-13). Called on the threads that fetch or read.

Types without a processor give a Document that says no more than the type: stored, not parsed. Whatever a processor raises, the
crawl goes on: the page becomes an empty document with a warning (LARM-103). So it does where a processor of the user's returns
what is no Document: structs do not check what they are made of, and a title that is None would end the thread that measures it.

A document in gzip that is sent as such, as sitemaps often are, is unpacked, and read as what is in it. (A page that a server
packs for its way, with Content-Encoding, was unpacked by the fetcher.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from larm.config import PageRules, ProcessingSettings
from larm.kit.blame import blamed
from larm.kit.clock import SystemClock
from larm.kit.gunzip import MEMBERS, MORE, unpack
from larm.model.cuts import EFFORT, PAGE, PROCESSOR
from larm.model.document import Document
from larm.model.file_url import FILES
from larm.model.left import UNCOMPILED
from larm.model.link_memo import LinkMemo
from larm.model.links import Links
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.model.own_fields import as_fields
from larm.parse import lexbor_tree
from larm.parse.apart.protocol import KINDS
from larm.parse.assembly import Assembler
from larm.parse.folder import FolderProcessor, name_of
from larm.parse.headers import HeaderReader
from larm.parse.html import HtmlProcessor
from larm.parse.mime import mime_of
from larm.parse.readable import names
from larm.parse.text import TextProcessor
from larm.parse.trees import tree_reader
from larm.seams import Processor

if TYPE_CHECKING:
    from larm.parse.apart.reader import DocumentReader
    from larm.parse.page_rules import Rules


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


class Later:
    """A processor that is created with its first page, because most crawls have pages of few types. Thread-safe."""

    def __init__(self, make: Callable[[], Processor]) -> None:
        # constant after construction
        self._make = make
        # written by any thread; two may make one each
        self.made: Processor | None = None

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`."""
        if self.made is None:
            self.made = self._make()
        return self.made.process(message, fetched, mime)


def as_document(returned: object) -> Document:
    """A Document may have a tuple of `Link` as its links, and lists in place of tuples. Raises TypeError on what is none."""
    if not isinstance(returned, Document):
        raise TypeError(f"process returned {returned!r:.100}, expected a Document")
    said = msgspec.structs.asdict(returned)
    said["fields"] = as_fields(said["fields"])
    if not isinstance(said["links"], Links):
        said["links"] = Links.of(said["links"])
    try:
        return msgspec.convert(said, Document)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        raise TypeError(f"Document.{where.rstrip('`')}: {what}") from None


_SPEAKING = frozenset({"x-robots-tag", "link", "refresh"})
"""Headers that say something of a page."""

Count = Callable[[str, int], None]
NO_MEMORY = "processing/memory"
"""Counts pages that could not be read for want of memory."""


JSON: Final = ("application/feed+json", "application/json")
"""Types that a feed may have that is no XML."""
ANY_XML = "*/*+xml"
"""Stands for the types that end in ``+xml`` and have no processor of their own (RFC 6839)."""
_FLAT = ("text", "spreadsheet", "presentation", "graphics")
XML = (
    "text/xml application/xml application/x-xml text/rss application/rss application/x-rss text/atom application/atom"
    f" text/rdf application/rdf text/x-opml text/opml {ANY_XML}"
    f" {' '.join(f'application/vnd.oasis.opendocument.{name}-flat-xml' for name in _FLAT)}"
).split()

TEXTS = names(
    "application/x-sh application/x-shellscript application/x-csh application/x-tcl application/x-perl application/x-python"
    " application/x-ruby application/x-php application/x-httpd-php application/x-lua application/sql application/x-sql"
    " application/x-tex application/x-latex application/x-texinfo application/x-bibtex application/x-troff"
    " application/x-troff-man application/x-troff-me application/x-troff-ms application/yaml application/x-yaml"
    " application/toml application/x-toml application/x-subrip"
)
"""Text for readers, though it is not filed under ``text/``."""


def _ignore(name: str, n: int) -> None:
    """Counts nothing."""


class ByMime:
    """The processors of a crawl, by MIME type; shared by all fetcher threads."""

    def __init__(
        self,
        processors: Mapping[str, Processor],
        count: Count = _ignore,
        headers: HeaderReader | None = None,
        wall: Callable[[], float] | None = None,
        own: Collection[Processor] = (),
    ) -> None:
        """``processors``: essences such as ``text/html``, or ``image/*``; ``count(name, n)`` adds to a statistic.

        ``wall``: seconds since 1970, for pages that say until when they may be found. ``own``: those of the user's, whose
        documents are looked at.
        """
        # constant after construction
        self._wall = wall or SystemClock().wall
        self._headers = headers
        self._processors = {mime.lower(): processor for mime, processor in processors.items()}
        self._count = count
        self._own = frozenset(map(id, own))

    def process(self, message: URLMessage, fetched: Fetched) -> Document:
        """A Document for any bytes; never raises."""
        document = self._document(message, fetched)
        if self._headers is not None and not _SPEAKING.isdisjoint(fetched.headers):
            document = self._headers.add(document, message, fetched.headers)
        if document.until is not None and document.until <= self._wall():
            document = msgspec.structs.replace(document, index=False)
        if message.url.host == FILES and not document.title:
            document = msgspec.structs.replace(document, title=name_of(message.url))
        return document

    def _document(self, message: URLMessage, fetched: Fetched) -> Document:
        mime = mime_of(fetched.headers.get("content-type", ""), fetched.body)
        processor = self._processors.get(mime) or self._of_family(mime)
        if processor is None:
            return Document(mime)
        try:
            document = processor.process(message, fetched, mime)
            return as_document(document) if id(processor) in self._own else document
        except MemoryError:  # a process that has a limit of it ends then, see `larm.parse.reading.child`
            self._count(NO_MEMORY, 1)
            return Document(mime, index=False, warnings=(f"{message.url.access}: it needs too much memory to be read",))
        except Exception as error:  # noqa: BLE001  whatever it is, other pages can be read
            self._count("processing/error", 1)
            said = f"{message.url.access}: {_name(processor)}: {blamed(error)}"
            return Document(mime, index=False, warnings=(said,), cuts=(PROCESSOR,))
        except BaseException as error:
            error.add_note(f"in the processor {_name(processor)}")
            raise

    def _of_family(self, mime: str) -> Processor | None:
        found = self._processors.get(mime.partition("/")[0] + "/*")
        return found or (self._processors.get(ANY_XML) if mime.endswith("+xml") else None)

    def __repr__(self) -> str:
        return f"ByMime({', '.join(sorted(self._processors))})"


def processors(
    links: LinkMemo,
    settings: ProcessingSettings,
    own: Mapping[str, Processor] | None = None,
    count: Count = _ignore,
    *,
    text: bool = True,
    facts: bool = True,
    agent: str = "larm",
    wall: Callable[[], float] | None = None,
    documents: DocumentReader | None = None,
    page_size: int = MAX_SIZE,
    rules: Mapping[str, Sequence[PageRules]] = MappingProxyType({}),
) -> ByMime:
    """The processors that larm brings, and ``own`` ones (by MIME type) before them.

    ``text``: False where nobody wants the text of pages; it is not taken apart then. ``facts``: see `Assembler`. ``agent``:
    our product token; a page may have rules for us by name. ``documents``: reads PDF and office files; None: they are not
    read. ``page_size``: bytes that are read of a page that is sent in gzip; XML may be larger. ``rules``: for pages, by site.
    """
    assembler = Assembler(links, settings, agent.lower(), facts=facts)
    reader = tree_reader(settings.parser)
    slow = (UNCOMPILED,) if settings.parser == "lexbor" and not lexbor_tree.COMPILED else ()
    html: Processor = HtmlProcessor(assembler, reader, settings.effort, text=text, rules=_rules(rules), counts=slow)
    if settings.follow_embedded or settings.srcset:
        from larm.parse.embedded import WithEmbedded

        html = WithEmbedded(html, assembler, settings)
    headers = HeaderReader(assembler, settings, agent.lower())
    text_processor = TextProcessor(assembler, strict_sitemaps=settings.strict_sitemaps)

    def xml_processor() -> Processor:
        from larm.parse.xml import XmlProcessor

        return XmlProcessor(assembler, links, html, settings)

    def feed_processor() -> Processor:
        from larm.parse.json_feed import JsonFeedProcessor

        return JsonFeedProcessor(assembler, links, settings.effort)

    def css_processor() -> Processor:
        from larm.parse.embedded import CssProcessor

        return CssProcessor(assembler)

    def document_processor() -> Processor:
        from larm.parse.apart.reader import DocumentProcessor, UnreadProcessor

        if documents is None or not settings.documents.processes:
            return UnreadProcessor()
        return DocumentProcessor(assembler, documents, count)

    standard: dict[str, Processor] = {
        "text/html": html,
        "application/xhtml+xml": html,
        "text/plain": text_processor,
        "text/*": text_processor,
        **dict.fromkeys(TEXTS, text_processor),
        "inode/directory": FolderProcessor(links),
        **dict.fromkeys(XML, Later(xml_processor)),
        **dict.fromkeys(JSON, Later(feed_processor)),
    }
    if settings.follow_embedded:
        standard["text/css"] = Later(css_processor)
    if documents is not None or not settings.documents.processes:
        standard |= dict.fromkeys(KINDS, Later(document_processor))
    ours = {mime.lower(): processor for mime, processor in (own or {}).items()}
    within = ByMime(standard | ours, count, own=ours.values())
    packed = dict.fromkeys(GZIP, GzipProcessor(within.process, page_size, settings.effort))
    return ByMime(standard | packed | ours, count, headers, wall, ours.values())


def _name(processor: Processor) -> str:
    return type(getattr(processor, "made", processor)).__name__


def _rules(sites: Mapping[str, Sequence[PageRules]]) -> Rules | None:
    if not sites:
        return None
    from larm.parse.page_rules import Rules  # for who has any

    return Rules(sites)
