"""XmlProcessor: XML of any kind; its first element says whether it is a feed, a sitemap, XHTML or something else.

Called on the fetcher threads, which share one; it keeps no state.
"""

from collections.abc import Callable, Iterator

from larm.config import ProcessingSettings
from larm.kit.counted import counted
from larm.model.cuts import EFFORT, ENDS_EARLY
from larm.model.document import Document
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.model.url import BadUrl
from larm.parse import feed, sitemap
from larm.parse.assembly import Assembler
from larm.parse.charset import text_of
from larm.parse.feed_entry import Entry
from larm.parse.page import Element, Page
from larm.parse.readable import anchor, names
from larm.parse.xml_tokens import START, TEXT, XmlTokens, root_of
from larm.seams import Processor

Join = Callable[[str, str], str]
"""The address of a link, given a base and what stands in the document; empty, where that is no URL."""

_PAGES = names(
    "alternate guid related via replies next prev previous first last up next-archive prev-archive current mentioned"
    " link comments commentrss a"
)
"""Relations of links in feeds that lead to what a reader reads; of others only the address is recorded."""
_OPENSEARCH = "opensearchdescription"  # for browsers: its words are those of a form
_ADDRESSES = ("href", "xlink:href", "url", "xmlurl", "htmlurl")
"""Attributes that hold an address, in documents of all kinds."""


class XmlProcessor:
    """For text/xml, application/xml and every other type that ends in ``+xml``."""

    def __init__(self, assembler: Assembler, links: LinkMemo, xhtml: Processor, settings: ProcessingSettings) -> None:
        """``xhtml``: reads XHTML that is sent as XML."""
        # constant after construction
        self._assembler = assembler
        self._links = links
        self._xhtml = xhtml
        self._strict_sitemaps = settings.strict_sitemaps
        self._effort = settings.effort

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`."""
        text, encoding = text_of(fetched.body, fetched.headers.get("content-type", ""))
        text = text.lstrip("\ufeff \t\r\n\0")
        root = root_of(text)
        if root == "html":
            return self._xhtml.process(message, fetched, "application/xhtml+xml")
        index = True
        if root in sitemap.ROOTS:
            page, index = self._sitemap(message.url.access, text), False
        elif root in feed.ROOTS and (found := feed.read_feed(text, self._effort)):
            page = page_of_feed(self._links, message, fetched.headers.get("content-location", ""), found)
        elif not root and sitemap.kind_of_text(text) is not sitemap.TextKind.NO_SITEMAP:
            page, index = sitemap_page(sitemap.read_text(text), message.url.access, self._strict_sitemaps), False
        else:
            page, index = any_xml(text, self._effort), root != _OPENSEARCH
        page = page._replace(charset=encoding.name, declared=encoding.declared)
        return self._assembler.document(message, fetched, mime, page, index=index)

    def _sitemap(self, address: str, text: str) -> Page:
        found = sitemap.read_xml(text, self._effort, partial=not self._strict_sitemaps)
        return sitemap_page(found, address, self._strict_sitemaps)


def page_of_feed(links: LinkMemo, message: URLMessage, content_location: str, found: feed.Feed) -> Page:
    """As `feed_page`, of the feed at an address. ``content_location``: what the header says, or nothing."""
    join, address = links.normalizer.join, message.url.access

    def resolved(base: str, href: str) -> str:
        try:
            return join(base, href).access
        except BadUrl:
            return ""

    page = feed_page(found, resolved, resolved(address, content_location) or address)
    return page._replace(lastmods=[]) if message.is_sitemap else page


def sitemap_page(found: sitemap.Sitemap, address: str, strict: bool) -> Page:
    """The links of a sitemap; ``strict``: only those that it may speak for."""
    warnings = [f"sitemap: {found.error}"] if found.error else []
    if found.cut:
        warnings.append(f"the sitemap ends too early, after {len(found.entries)} entries")
    if found.skipped:
        warnings.append(
            f"sitemap: {counted(len(found.skipped), 'line')} skipped, no address, such as {found.skipped[0][:100]!r}"
        )
    schemes = sitemap.schemes_of((address, *[entry.loc for entry in found.entries]))
    entries = [(sitemap.completed(entry.loc, schemes), entry.modified) for entry in found.entries]
    named = {address for address, _ in entries} if found.alternates else ()
    entries += [(other, 0) for other in found.alternates if other and other not in named]
    cuts = (EFFORT,) if found.given_up else (ENDS_EARLY,) if found.cut else ()
    if strict and not found.lists_sitemaps:
        entries = [entry for entry in entries if sitemap.speaks_for(address, entry[0])]
    tag, rel = ("link", "sitemap") if found.lists_sitemaps else ("a", "")
    elements = [(tag, {"href": each, "rel": rel}, "") for each, _ in entries]
    lastmods = [entry for entry in entries if entry[1]]
    return Page(elements=elements, warnings=warnings, cuts=cuts, lastmods=lastmods)


def feed_page(found: feed.Feed, join: Join, base: str) -> Page:
    """A feed as a page: its title, the texts of its entries, and links with the titles of entries as anchors."""
    elements: list[Element] = []
    words: list[str] = []
    for entry in (found.about, *found.entries):
        elements += _of_entry(entry, join, base)
        words += (entry.title, entry.text) if entry is not found.about else (entry.text,)
    warnings = [f"feed: not well-formed: {'; '.join(found.warnings)}"] if found.warnings else []
    modified = max((entry.modified for entry in (found.about, *found.entries)), default=0)
    text = "\n".join(word for word in words if word)
    cuts = (EFFORT,) if found.given_up else ()
    about = found.about
    return Page(about.title, text, elements=elements, language=found.language, warnings=warnings, modified=modified, cuts=cuts)


def _of_entry(entry: Entry, join: Join, base: str) -> Iterator[Element]:
    main = entry.link
    for link in (*entry.links, *entry.mentioned, *entry.source):
        if not link.href:
            continue
        address = base
        for each in link.bases:
            address = join(address, each) or address  # a base that is none changes nothing
        address = join(address, link.href) or link.href  # the warning comes from who resolves it for good
        words = entry.title if link is main else link.title
        if link.rel in _PAGES:
            yield "a", {"href": address}, words
        else:
            yield "img", {"src": address, "alt": words}, ""


def any_xml(text: str, effort: int = 1) -> Page:
    """Of a document whose language we don't know: its characters, what is called a title, what looks like links."""
    tokens = XmlTokens(text, effort)
    title, within = "", 0  # elements open from the title on
    words: list[str] = []
    elements: list[Element] = []
    for kind, name, rest in tokens:
        if kind == TEXT:
            words.append(rest)
            if within:
                title = anchor(f"{title} {rest}")
        elif kind == START:
            words.append(" ")
            if within or (not title and name.rpartition(":")[2] == "title"):
                within += 1
            if rest:
                attributes = tokens.attributes(rest)
                if name == "outline":  # of OPML, whose words are all in attributes
                    words.append(f"{attributes.get('text', '')}\n")
                elements += (("a", {"href": attributes[key]}, "") for key in _ADDRESSES if key in attributes)
        else:
            words.append(" ")
            within -= within > 0
    warnings = [f"XML: not well-formed: {'; '.join(tokens.faults)}"] if tokens.faults else []
    cuts = (EFFORT,) if tokens.given_up else ()
    return Page(title, "".join(words).strip(), elements=elements, warnings=warnings, cuts=cuts)
