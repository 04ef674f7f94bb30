"""What a page is made of beside its images and scripts: srcset, poster, backgrounds, applets, frames in attributes, CSS.

Asked only where somebody wants those files (``processing.follow_embedded``, ``processing.srcset``): it takes as long as all the
rest. By pattern, not by tree: what is missed or too much is a file that no reader sees. Pure; any thread.
"""

import html
import re
from collections.abc import Iterable, Iterator

import msgspec

from larm.config import ProcessingSettings
from larm.model.document import Document
from larm.model.links import Links
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.parse.assembly import Assembler
from larm.parse.charset import text_of
from larm.parse.page import Element
from larm.seams import Processor

_OPENING = re.compile(r"<!--|<script\b[^<>]*>|<style\b[^<>]*>", re.IGNORECASE)
_ENDS = {"<!-": re.compile("-->"), "<sc": re.compile("</script", re.IGNORECASE), "<st": re.compile("</style", re.IGNORECASE)}
_START_TAG = re.compile(r"<([a-z][a-z0-9]*+)\s((?:[^<>\"']|\"[^\"]{0,2000}+\"|'[^']{0,2000}+')*+)", re.IGNORECASE)
_BASE = re.compile(r"<base\s[^<>]*?href\s*=\s*[\"']?([^\s\"'<>]+)", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?<![a-z:-])([a-z][a-z:-]*+)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))", re.IGNORECASE)
_CSS = re.compile(
    r"url\(\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\"'()\s]*+))\s*+\)|@import\s++(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE
)
_CANDIDATE = re.compile(
    r"(\S*[^\s,])(?:\s[^,(]*(?:\([^)]*+(?:\)|\Z)[^,(]*)*)?[\s,]*+"
)  # of a srcset: an address, and what it is for

_FILES = {  # attributes with one address, beside those that every page is asked for
    "applet": ("code", "codebase"),
    "body": ("background",),
    "html": ("manifest",),
    "image": ("href", "xlink:href"),
    "img": ("dynsrc", "longdesc", "lowsrc"),
    "object": ("codebase",),
    "script": ("xlink:href",),
    "table": ("background",),
    "td": ("background",),
    "th": ("background",),
    "tr": ("background",),
    "use": ("href", "xlink:href"),
    "video": ("poster",),
}
_CITING = frozenset(("blockquote", "del", "ins", "q"))
_PARAMETERS = frozenset(("data", "filename", "movie", "ref", "src", "url"))


def in_page(text: str, *, files: bool, srcset: bool) -> list[str]:
    """The addresses in a page; ``files``: all but those of ``srcset``."""
    found: list[str] = []
    tags, styles = _split(text)
    for tag, rest in _START_TAG.findall(tags):
        attributes = {name.lower(): html.unescape(a or b or c) for name, a, b, c in reversed(_ATTRIBUTE.findall(rest))}
        if files:
            found += filter(None, _in_tag(tag.lower(), attributes))
        if srcset and "srcset" in attributes:
            found += _CANDIDATE.findall(re.sub(r"\A[\s,]+", "", attributes["srcset"]))
    for style in styles if files else ():
        found += in_css(style)
    return found


def _split(text: str) -> tuple[str, list[str]]:
    """(a page without comments, scripts and style sheets, its style sheets)."""
    pieces: list[str] = []
    styles: list[str] = []
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        pieces.append(text[at : opening.start()])
        kind = opening[0][:3].lower()
        if kind != "<!-":
            pieces.append(opening[0])
        end = _ENDS[kind].search(text, opening.end())
        at = end.start() + 1 if end else len(text)
        if kind == "<st":
            styles.append(text[opening.end() : at])
    pieces.append(text[at:])
    return "".join(pieces), styles


def _in_tag(tag: str, attributes: dict[str, str]) -> Iterator[str]:
    for name in _FILES.get(tag, ()):
        yield attributes.get(name, "")
    if "style" in attributes:
        yield from in_css(attributes["style"])
    if tag in _CITING:
        yield attributes.get("cite", "")
    elif tag == "applet":
        yield from (part.strip() for part in attributes.get("archive", "").split(","))
    elif tag == "param" and attributes.get("name", "").lower() in _PARAMETERS:
        yield attributes.get("value", "")
    elif tag == "meta" and attributes.get("name", "").lower() == "msapplication-config":
        yield attributes.get("content", "")
    elif tag == "iframe" and "srcdoc" in attributes:
        yield from in_page(attributes["srcdoc"], files=True, srcset=False)


def in_css(text: str) -> list[str]:
    """The addresses in a style sheet: fonts, images, other style sheets."""
    return [address for match in _CSS.finditer(text) if (address := "".join(filter(None, match.groups())).strip())]


def _elements(addresses: Iterable[str]) -> list[Element]:
    return [("embed", {"src": address}, "") for address in addresses]


class WithEmbedded:
    """An HTML processor, and the files beside."""

    def __init__(self, within: Processor, assembler: Assembler, settings: ProcessingSettings) -> None:
        # constant after construction
        self._within = within
        self._assembler = assembler
        self._files = settings.follow_embedded
        self._srcset = settings.srcset

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`."""
        document = self._within.process(message, fetched, mime)
        text, _ = text_of(fetched.body, fetched.headers.get("content-type", ""))
        elements = _elements(in_page(text, files=self._files, srcset=self._srcset))
        if not elements:
            return document
        base = _BASE.search(text)
        found = self._assembler.links(message.url.access, elements, follow=document.follow, base=base[1] if base else "")
        links = Links.of(dict.fromkeys((*document.links, *found.links)))
        cuts = tuple(dict.fromkeys((*document.cuts, *found.cuts)))
        return msgspec.structs.replace(document, links=links, warnings=(*document.warnings, *found.warnings), cuts=cuts)


class CssProcessor:
    """For text/css, where embedded files are followed. A style sheet has links and no text."""

    def __init__(self, assembler: Assembler) -> None:
        # constant after construction
        self._assembler = assembler

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`."""
        text, encoding = text_of(fetched.body, fetched.headers.get("content-type", ""))
        found = self._assembler.links(message.url.access, _elements(in_css(text)), follow=True)
        name, warnings = encoding.name, found.warnings
        return Document(mime, links=found.links, charset=name, warnings=warnings, index=False, cuts=found.cuts)
