"""Sitemaps (sitemaps.org 0.9): XML, index, text; each entry with its lastmod. Pure; any thread.

Feeds that serve as sitemaps are read by ``feed.py``, gzip is undone by ``gzipped.py``. The rule that a sitemap may speak only
for URLs below its own directory is an option and off in a crawl: robots.txt may name sitemaps anywhere, and what leads out
of the scope is dropped by the filters like any link.
"""

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from larm.parse.dates import seconds_of
from larm.parse.xml_tokens import START, TEXT, XmlTokens

SITEMAP, INDEX = "urlset", "sitemapindex"
ROOTS: Final = (SITEMAP, INDEX)
"""Elements that make a sitemap of an XML document."""
NAMESPACES: Final = frozenset(
    f"{scheme}://www.{site}/schemas/sitemap/0.{version}"
    for scheme in ("http", "https")
    for site in ("sitemaps.org", "google.com")
    for version in ("9", "90", "84")
)
"""The protocol's own, and those that were in use before it (0.84 of Google)."""

_WHITE = " \t\r\n\f\v\u00a0\u200b\ufeff\u2028\u2029" + "".join(map(chr, range(0x2000, 0x200B)))
_PARTS = {SITEMAP: "url", INDEX: "sitemap"}
_LOC_DEPTH = 3  # of a loc, with the root
_LEAST = 2  # lines of a text sitemap with an odd line
_LINE = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_FIRST = re.compile(rf"(?:\A|[\r\n])[{re.escape(_WHITE)}]*+https?://\S++[ \t]*+(?:[\r\n]|\Z)", re.IGNORECASE)
_HEAD = 2_000  # characters of a text sitemap in which its first URL stands; to split each text into lines takes longer
_SHORTENED = re.compile(r"(?!#)(?=[^\s<>\"]*+\Z).*?(?:[/?]|\.[a-z]{2}).*", re.IGNORECASE)
_HOST_END = re.compile(r"[/?#]")
_NO_SCHEME = re.compile(r"(?:www\.)[^\s/:]+\.[a-z]{2,}(?:[/?#:]|$)", re.IGNORECASE)


class Entry(NamedTuple):
    """One line of a sitemap."""

    loc: str
    """As it stands there, without white space around it."""
    modified: int = 0
    """Unix seconds of its lastmod; 0: there is none that can be read."""


class Sitemap(NamedTuple):
    """What a sitemap holds."""

    entries: list[Entry]
    lists_sitemaps: bool = False
    """It is an index: its entries are sitemaps."""
    error: str = ""
    """Why it is not believed: then there are no entries, unless ``partial`` was asked for."""
    cut: bool = False
    """It ends too early."""
    given_up: bool = False
    """It is longer or deeper than any sitemap that is read."""
    skipped: Sequence[str] = ()
    """Lines of a text that are no addresses, but for comments."""
    alternates: Sequence[str] = ()
    """Addresses of its pages in other languages (``xhtml:link``), each once."""


def read_xml(text: str, effort: int = 1, *, partial: bool = False, strict_namespace: bool = False) -> Sitemap:
    """Of an XML document with one of `ROOTS`.

    A sitemap that is not well-formed is refused as a whole, as the protocol has it; one that was cut off counts as far as it
    goes. ``partial``: whatever can be read counts. ``strict_namespace``: only elements of a namespace of the protocol do.
    The protocol's 50,000 entries are no limit. ``effort``: times those of the reader.
    """
    reader = _Reader()
    tokens = XmlTokens(text, effort)
    for kind, name, rest in tokens:
        if kind == TEXT:
            reader.pieces.append(rest)
        elif kind == START:
            reader.begin(name, tokens.attributes(rest) if not reader.root or name.endswith("link") else {})
        else:
            reader.end(name)
    error = f"not well-formed: {'; '.join(tokens.faults)}" if tokens.faults else ""
    foreign = strict_namespace and reader.namespace.rstrip("/") not in NAMESPACES
    if foreign:
        error = f"the namespace {reader.namespace[:100]!r} is not that of sitemaps"
    entries = [] if error and (foreign or not partial) else reader.entries
    others = list(reader.alternates) if entries else ()
    return Sitemap(entries, reader.root == INDEX, error, tokens.cut, tokens.given_up, alternates=others)


class _Reader:
    """Takes what matters from the stream of tags: ``loc`` and ``lastmod`` two levels below the root, with its prefix; links.

    Some write ``<loc><url>`` in place of ``<url><loc>``, or one within the other once more, or leave the inner one out.
    """

    def __init__(self) -> None:
        self.root = ""
        self.namespace = ""
        self.entries: list[Entry] = []
        self.alternates: dict[str, None] = {}
        self.pieces: list[str] = []  # of the element that was opened last, or of the loc that it is in
        self._prefix = ""
        self._depth = 0
        self._parts: tuple[str, ...] = ()  # elements around a loc
        self._locs: tuple[str, ...] = ()
        self._in_loc = False
        self._loc = self._date = ""
        self._head = ""  # of a loc: before what begins in it

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        if not self.root:
            self._prefix, colon, self.root = name.rpartition(":")
            self.namespace = attributes.get(f"xmlns:{self._prefix}" if colon else "xmlns", "").strip()
            self._prefix += colon
            self._parts = (self._prefix + _PARTS.get(self.root, "url"), f"{self._prefix}loc")
            self._locs = (f"{self._prefix}loc", f"{self._prefix}url")
        self._depth += 1
        if "hreflang" in attributes and "alternate" in attributes.get("rel", "").lower().split():
            self.alternates[attributes.get("href", "").strip(_WHITE)] = None
        if self._in_loc:  # it may lack its end, and what follows is none of it
            self._head = self._head or "".join(self.pieces).strip(_WHITE)
            if self._head and name in self._locs:
                self.entries.append(Entry(self._head))
                self._head = ""
        self.pieces = []
        if not self._in_loc:
            self._in_loc = self._depth == _LOC_DEPTH and name in self._locs

    def end(self, name: str) -> None:
        self._depth -= 1
        if self._in_loc and self._depth >= _LOC_DEPTH:
            return
        text, self.pieces, self._in_loc = self.pieces, [], False
        if self._depth == 2 and name in self._locs:
            self._flush()  # a second one in an element means that the first element was not closed
            self._loc, self._head = self._head or "".join(text).strip(_WHITE), ""
        elif self._depth == 2 and name == f"{self._prefix}lastmod":
            self._date = "".join(text)
        elif self._depth == 1 and name in self._parts:
            if not self._loc:  # <sitemap>https://...</sitemap>
                loc = "".join(text).strip(_WHITE)
                self._loc = loc if self.root == INDEX or _LINE.fullmatch(loc) else ""
            self._flush()

    def _flush(self) -> None:
        if self._loc:
            self.entries.append(Entry(self._loc, seconds_of(self._date)))
        self._loc = self._date = ""


def read_text(text: str) -> Sitemap:
    """Return what a text with an address a line lists; addresses without a scheme or a host count where `kind_of_text` has them
    in a sitemap."""
    entries, skipped = [], []
    for line in filter(None, (line.strip(_WHITE) for line in text.splitlines())):
        if _LINE.fullmatch(line) or _SHORTENED.fullmatch(line):
            entries.append(Entry(line))
        elif not line.startswith("#"):
            skipped.append(line)
    return Sitemap(entries, skipped=skipped)


class TextKind(enum.Enum):
    """What a text is."""

    NO_SITEMAP = enum.auto()
    SITEMAP = enum.auto()
    """Addresses, one a line, at least half of them with a scheme; in a longer one, one line in ten may be something else."""
    WITH_WORDS = enum.auto()
    """Its one odd line, or its comments, may be what it is about: it is a text for readers as well."""


def kind_of_text(text: str) -> TextKind:
    """By its first 100,000 characters."""
    begin = text.lstrip(_WHITE)[:100_000]
    if not _FIRST.search(begin, 0, _HEAD):
        return TextKind.NO_SITEMAP
    lines = [line.strip(_WHITE) for line in begin.splitlines()]
    if len(begin) == 100_000:
        del lines[-1:]  # half a line
    lines = [line for line in lines if line]
    others = [line for line in lines if not _LINE.fullmatch(line)]
    odd = [line for line in others if not _SHORTENED.fullmatch(line)]
    if 2 * (len(others) - len(odd)) > len(lines) - len(odd):
        return TextKind.NO_SITEMAP
    if len(odd) <= len(lines) // 10:
        return TextKind.SITEMAP
    comments = sum(line.startswith("#") for line in odd)
    few = len(odd) == 1 or (comments == len(odd) < len(lines) - len(odd))
    return TextKind.WITH_WORDS if few and len(lines) > _LEAST else TextKind.NO_SITEMAP


def completed(loc: str, schemes: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a loc for a URL parser, as some leave the scheme out (``www.example.org/``). ``schemes``: those of known hosts."""
    scheme = schemes.get(_HOST_END.split(loc, 1)[0].lower())
    return f"{scheme}://{loc}" if scheme else f"http://{loc}" if _NO_SCHEME.match(loc) else loc


def schemes_of(addresses: Iterable[str]) -> dict[str, str]:
    """Return the schemes of the hosts that are named in addresses."""
    parted = (address.partition("://") for address in addresses)
    return {_HOST_END.split(rest, 1)[0].lower(): scheme for scheme, found, rest in parted if found}


def speaks_for(sitemap: str, address: str) -> bool:
    """Whether a sitemap may, by the protocol, list an address: one below its own directory, on its own host."""
    directory = sitemap.partition("?")[0]
    directory = directory[: directory.rindex("/", 8) + 1] if "/" in directory[8:] else f"{directory}/"
    return f"{address}/".startswith(directory) if address.count("/") == 2 else address.startswith(directory)
