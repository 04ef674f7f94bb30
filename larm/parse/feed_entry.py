"""Entries of feeds, whatever the language of the feed, and what a feed says of itself in the same words. Pure; any thread."""

import base64
import binascii
from typing import Final, NamedTuple

from larm.parse.dates import seconds_of
from larm.parse.fragment import Fragment, fragment
from larm.parse.readable import HIDDEN, names
from larm.parse.xml_tree import Node

_ATOM, _DC, _CONTENT, _XHTML = "atom", "dc", "content", "xhtml"
NAMESPACES: Final = {
    "http://www.w3.org/2005/atom": _ATOM,
    "http://purl.org/atom/ns#": _ATOM,
    "http://purl.org/rss/1.0/": "",
    "http://my.netscape.com/rdf/simple/0.9/": "",
    "http://channel.netscape.com/rdf/simple/0.9/": "",
    "http://purl.org/net/rss1.1#": "",
    "http://backend.userland.com/rss": "",
    "http://backend.userland.com/rss2": "",
    "http://blogs.law.harvard.edu/tech/rss": "",
    "http://purl.org/dc/elements/1.1/": _DC,
    "http://purl.org/dc/terms/": _DC,
    "http://purl.org/rss/1.0/modules/content/": _CONTENT,
    "http://www.w3.org/1999/xhtml": _XHTML,
    "http://rssnamespace.org/feedburner/ext/1.0": "feedburner",
    "http://search.yahoo.com/mrss/": "media",
    "http://search.yahoo.com/mrss": "media",
    "http://wellformedweb.org/commentapi/": "wfw",
    "http://podlove.org/simple-chapters": "psc",
}
"""Short names of namespaces, by their URIs in lower case; "" is RSS."""
CORE: Final = frozenset(("", _ATOM))
"""The namespaces of feeds themselves."""
_TEXTS = names("description summary content subtitle tagline info abstract body div encoded fullitem copyright rights")
_REGISTERED = "http://www.iana.org/assignments/relation/"  # the long form of each relation (RFC 4287 4.2.7.2)
_INNER = names("item entry items channel")
DATED: Final = CORE | {_DC}
_TEXT_SPACES = CORE | {_CONTENT, _XHTML, _DC}
_DATES = ("modified", "updated", "lastmod", "lastbuilddate", "pubdate", "issued", "published", "created", "date")
"""Elements with a date, those first that tell of the last change."""
_PAGES = frozenset(("", "text/html", "application/xhtml+xml"))


class FeedLink(NamedTuple):
    """A link of a feed or an entry, as it stands there."""

    href: str
    bases: tuple[str, ...]
    """``xml:base`` to resolve it with, the outermost first."""
    rel: str = "alternate"
    mime: str = ""
    title: str = ""
    language: str = ""
    length: str = ""


class Entry(NamedTuple):
    """An entry, or what a feed says of itself."""

    title: str
    links: list[FeedLink]
    """The link to its page is the first with ``alternate``; enclosures have ``enclosure``."""
    text: str
    """Summary and content, as text."""
    modified: int
    """Unix seconds; 0: not said."""
    mentioned: list[FeedLink]
    """Links in its texts, with their anchors as titles, and of its parts (source, author, image ...)."""
    source: list[FeedLink]
    """Links of the feed that it was taken from."""
    cut: bool = False
    """Not all of its HTML was read."""

    @property
    def link(self) -> FeedLink | None:
        """The link to its page."""
        return next((link for link in self.links if link.rel in ("alternate", "guid") and link.href), None)


def read_entry(node: Node, effort: int = 1) -> Entry:
    """Of an item or an entry, or of what is around them all. ``effort``: see `larm.parse.hostile`."""
    reader = _EntryReader(effort)
    if node.get("href") and node.local in ("channel", "item"):  # CDF
        reader.links.append(FeedLink(node.get("href"), node.bases))
    for part in node:
        reader.take(part)
    return reader.entry()


class _EntryReader:
    """Takes the parts of an entry, or of a feed."""

    def __init__(self, effort: int) -> None:
        self._effort = effort
        self._cut = False
        self.links: list[FeedLink] = []
        self._mentioned: list[FeedLink] = []
        self._source: list[FeedLink] = []
        self._texts: list[str] = []
        self._titles: dict[str, str] = {}
        self._dates: dict[str, str] = {}
        self._guid: FeedLink | None = None

    def take(self, part: Node) -> None:
        name, space = part.local, part.space
        if space in CORE and name in _INNER:
            return
        if space in CORE and (take := _TAKERS.get(name)):
            take(self, part)
        elif name == "title" and space == _DC:
            self._take_title(part)
        elif name == "origlink":  # FeedBurner's links lead to itself
            self.links.insert(0, FeedLink(part.text().strip(), part.bases))
        elif name in _DATES and space in DATED:
            self._dates.setdefault(name, part.text())
        elif name in _TEXTS and space in _TEXT_SPACES:
            self._texts.append(self._plain(part))
            if part.get("src"):
                self._mentioned.append(FeedLink(part.get("src"), part.bases, "content", part.get("type")))
        else:
            self._mentioned += _parts(part)

    def entry(self) -> Entry:
        links = self.links
        guid = self._guid
        if guid is not None and guid.href.startswith(("http:", "https:")) and all(link.rel != "alternate" for link in links):
            links.append(guid)  # also where it says that it is no link: it is the only address that there is
        titles = self._titles
        title = titles.get(_ATOM) or titles.get("") or titles.get(_DC, "")
        dates = (seconds_of(self._dates[name]) for name in _DATES if name in self._dates)
        text = "\n".join(dict.fromkeys(text.strip() for text in self._texts))
        return Entry(
            " ".join(title.split()),
            _pages_first(links),
            text,
            next(filter(None, dates), 0),
            self._mentioned,
            self._source,
            self._cut,
        )

    def _take_title(self, part: Node) -> None:
        self._titles.setdefault(part.space, self._plain(part))

    def _take_link(self, part: Node) -> None:
        self.links.append(_link(part))

    def _take_guid(self, part: Node) -> None:
        rel = "guid" if part.get("ispermalink").lower() == "false" else "alternate"
        self._guid = FeedLink(part.text().strip(), part.bases, rel)

    def _take_enclosure(self, part: Node) -> None:
        kind, length = part.get("type"), part.get("length")
        self.links.append(FeedLink(part.get("url"), part.bases, "enclosure", kind, "", "", length))

    def _take_source(self, part: Node) -> None:
        taken = read_entry(part, self._effort)
        self._cut |= taken.cut
        self._source += (*taken.links, *taken.mentioned)
        if part.get("url"):
            self._source.append(FeedLink(part.get("url"), part.bases, "source", "", part.text().strip()))

    def _plain(self, node: Node) -> str:
        """The text of an element that may hold HTML (escaped, as XHTML, in base64); links in it are mentioned."""
        kind, mode = node.get("type").lower(), node.get("mode").lower()
        if any(True for _ in node):
            self._mentioned += (
                FeedLink(part.get("href"), part.bases, "mentioned", "", part.text())
                for part in node.all()
                if part.local == "a" and part.get("href")
            )
            return " ".join(node.texts(HIDDEN))
        text = node.text()
        if mode == "base64" or (kind and "/" in kind and not kind.startswith("text/") and not kind.endswith(("+xml", "/xml"))):
            text = _decoded(text)
        if kind in ("text", "text/plain") and mode != "escaped":
            return text
        found: Fragment = fragment(text, self._effort)
        self._cut |= found.cut
        self._mentioned += (FeedLink(href, node.bases, "mentioned", "", words) for href, words in found.links)
        return found.text


_TAKERS = {
    "title": _EntryReader._take_title,
    "link": _EntryReader._take_link,
    "guid": _EntryReader._take_guid,
    "enclosure": _EntryReader._take_enclosure,
    "source": _EntryReader._take_source,
}


def _pages_first(links: list[FeedLink]) -> list[FeedLink]:
    """Among several alternates the one that is a page, not a picture of it, is the link; else their order stays."""
    first = next((link for link in links if link.rel == "alternate"), None)
    if first is None or first.mime in _PAGES:
        return links
    page = next((link for link in links if link.rel == "alternate" and link.mime in _PAGES), first)
    return [page, *(link for link in links if link is not page)]


def _link(node: Node) -> FeedLink:
    """Of Atom, with attributes, or of RSS, as text."""
    href = node.get("href") or node.get("rdf:resource") or node.text().strip()
    return FeedLink(
        href,
        node.bases,
        node.get("rel").lower().removeprefix(_REGISTERED) or "alternate",
        node.get("type").lower(),
        node.get("title"),
        node.get("hreflang"),
        node.get("length"),
    )


def _parts(node: Node) -> list[FeedLink]:
    """Links of authors, images, generators, comments, media and of what else there may be."""
    found = []
    for part in node.all():
        named = part.local in ("link", "url", "uri", "commentrss", "docs", "homepage")
        named = named or (part.local == "comments" and part.space in CORE)  # slash:comments is a number
        href = part.get("href") or part.get("url") or part.get("uri") or part.get("rdf:resource")
        if not href and named:
            href = part.text().strip()
        if href and not any(character.isspace() for character in href):
            rel = part.get("rel") or part.local
            found.append(FeedLink(href, part.bases, rel, part.get("type"), part.get("title")))
    return found


def _decoded(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return text
