"""Document and Visit: what a fetched page is made into, and what the storages get.

Documents are made by ``larm.parse``, on whatever thread or process reads pages; visits by `larm.engine.landing`, and
handed on by `larm.engine.unloading`. Read by the storages (each on its own thread). All immutable.
"""

import re
from collections.abc import Mapping

import msgspec

from larm.model.crawl_hash import page_hash
from larm.model.exchange import Exchange
from larm.model.links import Links
from larm.model.novelty import Fingerprint, PageText
from larm.model.restriction import UNKNOWN
from larm.model.url import Url

_SPACES = re.compile("  +")


def squeeze(text: str) -> str:
    """As ``" ".join(text.split())``, but faster where most white space is indentation, as in the text of pages."""
    for blank in "\t\xa0":
        if blank in text:
            text = text.replace(blank, " ")
    text = " ".join(filter(None, map(str.strip, text.split("\n"))))
    return _SPACES.sub(" ", text) if "  " in text else text


class Alternate(msgspec.Struct, frozen=True, gc=False):
    """The same page in another language, as it says itself (``hreflang``)."""

    language: str
    """As written, in lower case: ``de``, ``pt-br``, or ``x-default`` for all others."""
    url: Url


class Document(msgspec.Struct, frozen=True, gc=False):
    """A page as the processors understood it (LARM-87)."""

    mime: str
    """Essence, lower case, such as ``text/html``."""
    title: str = ""
    raw_text: str = ""
    """The main text without markup, with its white space as it came; empty where larm has no processor for the type.

    Measured: to squeeze it takes an eighth of the time that a page takes in all, and an index has no use for that."""
    links: Links = Links()
    charset: str = ""
    index: bool = True
    """False: the page asks not to be indexed."""
    follow: bool = True
    """False: the page asks that its links are not followed; then each of them says so as well."""
    archive: bool = True
    """False: the page asks that no copy of it is kept for others (noarchive): its body is not stored."""
    snippet: int | None = None
    """Characters of its text that may be shown with a result (max-snippet; nosnippet is 0); None: as many as one likes."""
    until: float | None = None
    """Wall time from which on it must not be found any more (unavailable_after); None: never."""
    canonical: Url | None = None
    """The address under which the page wants to be known, if that is not its own. It may be on another host."""
    alternates: tuple[Alternate, ...] = ()
    warnings: tuple[str, ...] = ()
    """Lines for the thread's log: malformed links and the like (LARM-103)."""
    other_text: str = ""
    """The rest of the readable text in the same form: menus, headers, footers, side boxes. Empty where all is main text."""
    headings: tuple[str, ...] = ()
    """Texts of h1 to h6 on one line each, in their order."""
    places: tuple[str, ...] = ()
    """For each of them the fragment of an address that leads there, empty where there is none; or nothing at all."""
    description: str = ""
    """What the page says that it is about (meta description), on one line."""
    language: str = ""
    """ISO 639-1, such as ``de``; empty where it is not known."""
    modified: int = 0
    """When the page was last changed, by what it or its server says, in seconds since 1970; 0: not known."""

    fields: Mapping[str, tuple[str, ...]] = {}
    """What users have said is to be known of it: values by name (LARM-87); a name is as `larm.model.own_fields` has it."""
    counts: tuple[str, ...] = ()
    """Names of statistics that count it."""
    cuts: tuple[str, ...] = ()
    """Limits beyond which it was not read, see `larm.model.cuts`."""

    lastmods: Mapping[int, int] | None = None
    """Of a sitemap: when pages changed, as it says, in seconds since 1970, by their fingerprints; None: it is none."""

    unread: bool = False
    """The process that read it was ended: there may be more to it, so it is asked for as a whole the next time."""
    words: int = 0
    """The `page_hash` over all its text in the order that it has in the page; 0: there is no other order than here."""

    measured: PageText | None = None
    """What the crawl has to know of its text, where that was found out in another process."""

    @property
    def seen(self) -> int:
        """The `page_hash` of what a reader sees: whether a page has changed, and whether two say the same (YIOOP-9)."""
        return self.words or page_hash(self.title, self.raw_text + self.other_text)

    @property
    def outside(self) -> int:
        """Characters of its text outside its links."""
        known = self.measured
        return known.outside if known else len(self.raw_text) + len(self.other_text) - len(self.links.anchors)

    @property
    def text(self) -> str:
        """The main text on one line."""
        return squeeze(self.raw_text)


class Visit(msgspec.Struct, frozen=True, gc=False):
    """What one fetch (or the list of start URLs) leaves for the storages: links first, then the document (LARM-14)."""

    page: str
    """Access URL of the page that the links stand on; ``<start>`` for start URLs."""
    links: Links = Links()
    url: Url | None = None
    """The page's own URL; None for start URLs."""
    referrer: str = ""
    """First page with a link to this one (LARM-92)."""
    link_type: int = 0
    depth: int = 0
    """Links from a start URL."""
    status: int = 0
    """HTTP status; 0 where there is no answer to speak of."""
    headers: dict[str, str] = {}
    body: bytes = b""
    document: Document | None = None
    """None: nothing to store but the links (a redirect, the start URLs, a page that answers 404, or is unchanged)."""
    revisited: bool = False
    """The page was stored before; what there is of it is to be replaced."""
    gone: bool = False
    """The page is to be forgotten: out of the index with it."""
    cuts: Mapping[str, int] = {}
    """What was not read of it, see `larm.model.cuts`, and the limits that held; 0: one that no setting changes."""
    group: int = 0
    """`Document.seen` of an earlier page that says nearly the same: a search shows the best page of a group. 0: of none."""
    fingerprint: Fingerprint | None = None
    """Of its main text, where it was made already."""
    failure: str = ""
    """Why there is no page, after all tries; one line for a person."""
    exchange: Exchange | None = None
    """The request and its answer, where some storage wants them."""
    restricted: int = UNKNOWN
    """Why strangers could not have had the page: bits of `larm.model.restriction`."""
    row: bytes = b""
    """For the page book alone: what that of another crawl knew of the page, as its host has come from there."""
    left: bool = False
    """For the page book alone: the host of the page has gone to another crawl."""

    @property
    def cost(self) -> int:
        """Bytes that this visit holds in a queue, roughly; queues of storages are bounded by the sum of it."""
        text = len(self.document.raw_text) + len(self.document.other_text) if self.document else 0
        headers = sum(map(len, self.headers.values()))  # up to 64,000 characters, where a server wants that
        own = 500 + len(self.body) + text + headers + self.links.size
        if self.exchange is None:
            return own
        return own + self.exchange.cost - (len(self.body) if self.exchange.body is self.body else 0)
