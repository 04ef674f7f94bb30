"""HtmlProcessor: HTML to Document. Called on the fetcher threads, which share one processor; it keeps no state.

Whatever is asked of a page is asked here once, for whichever parser makes its tree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from larm.model.crawl_hash import hash_of_letters
from larm.model.cuts import EFFORT
from larm.model.document import Document
from larm.model.hollow import TEXT_IN_SCRIPTS
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.parse.assembly import Assembler
from larm.parse.charset import utf8_of
from larm.parse.collector import More
from larm.parse.hostile import before_huge_tag, budget, spent
from larm.parse.page import Blocks, Element, Page, Reading, as_html, with_shadows
from larm.parse.parts import Parts, split, title_of
from larm.parse.script_text import LITTLE, text_in_scripts
from larm.parse.trees import ReadTree, cut

if TYPE_CHECKING:
    from larm.parse.page_rules import Rules

FEW: Final = 12  # elements that lead somewhere or say something: pages with frames have little else
_NOSCRIPT = re.compile(rb"<noscript(?=[\s/>])[^>]*>", re.IGNORECASE)
_TIMES: Final = 4
"""A page is read at most: what is no longer hidden may hide something else."""
_NOTICE: Final = 200  # characters of words to who runs no scripts that are no more than that scripts are wanted
_SHOWN: Final = ("iframe", "noframes")  # the page that a frame has in an attribute is seen; and words for who has no frames
_NOTHING: Final = Reading("", Blocks(), False, (), (), (), "", ())
_FRAME = re.compile(rb"<frame\s[^<>]*+>", re.IGNORECASE)


class HtmlProcessor:
    """For text/html and application/xhtml+xml."""

    def __init__(
        self,
        assembler: Assembler,
        read_tree: ReadTree,
        effort: int = 1,
        *,
        text: bool = True,
        rules: Rules | None = None,
        counts: tuple[str, ...] = (),
    ) -> None:
        """``effort``: see `larm.parse.hostile`; ``text``: False where nobody wants it; ``rules``: None where nobody has any.

        ``counts``: names of statistics that count each page.
        """
        # constant after construction
        self._effort = effort
        self._rules = rules
        self._assembler = assembler
        self._read_tree = read_tree
        self._text = text
        self._counts = counts

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`."""
        page = read(fetched, mime, self._read_tree, self._effort, text=self._text)
        if self._counts:
            page = page._replace(counts=(*page.counts, *self._counts))
        rules = self._rules.of(message.url) if self._rules is not None and self._text else ()
        if not rules:
            return self._assembler.document(message, fetched, mime, page)
        from larm.parse.page_rules import apply  # for who has rules

        body, _ = utf8_of(fetched.body, fetched.headers.get("content-type", ""))
        html = cut(with_shadows(as_html(body, mime)), self._effort)[0]
        ruled = apply(rules, html, page, lambda part: reading_of(part, self._read_tree, self._effort)[0], self._effort)
        document = self._assembler.document(message, fetched, mime, ruled.page)
        return msgspec.structs.replace(document, fields=ruled.fields, counts=(*document.counts, *ruled.counts))


def read(fetched: Fetched, mime: str, read_tree: ReadTree, effort: int = 1, *, text: bool = True) -> Page:
    """What there is in a page."""
    body, encoding = utf8_of(fetched.body, fetched.headers.get("content-type", ""))
    found, warnings = reading_of(as_html(body, mime), read_tree, effort)
    inner = text_in_scripts(body, found) if text and found.outside <= LITTLE else b""
    if inner:
        found, warnings = reading_of(as_html(body, mime) + inner, read_tree, effort)
    main, other, headings, places = split(found) if text else Parts()
    title = title_of(found.title, headings, main)
    return Page(
        title,
        main,
        other,
        headings,
        found.elements,
        found.about,
        encoding.name,
        found.language,
        hash_of_letters(title, found.letters) if text else 0,
        found.linked_data if text else (),
        warnings,
        declared=encoding.declared,
        cuts=(EFFORT,) if warnings else (),  # all of them say that
        places=places,
        counts=(TEXT_IN_SCRIPTS,) if inner else (),
    )


def reading_of(body: bytes, read_tree: ReadTree, effort: int = 1) -> tuple[Reading, list[str]]:
    """(what is in a page of UTF-8, warnings): within the limits for its markup, so many times."""
    for _ in range(_TIMES):
        others = _Others(body, read_tree, effort)
        found, warnings = _read(body, read_tree, others.read, effort)
        if others.open:
            body = _without_noscript(body, others.open)
        elif found.shadowed:
            body = with_shadows(body)
        else:
            break
    if not found.blocks:
        found = found.and_blocks(others.unframed)
    if others.blocks and sum(others.blocks.sizes) > max(_NOTICE, sum(found.blocks.sizes)):
        found = found.and_blocks(others.blocks)
    elements = found.elements
    if len(elements) + len(found.about) < FEW and (frames := _hidden_frames(body, elements)):
        elements = [*elements, *others.read("noframes", f"<frameset>{frames}").elements]
    warnings += others.warnings
    return (found if elements is found.elements else found._replace(elements=elements)), warnings


def _read(body: bytes, read_tree: ReadTree, more: More | None, effort: int) -> tuple[Reading, list[str]]:
    """(what is in a page, warnings), within what it may cost."""
    body, warnings = before_huge_tag(body, effort)
    found, end = read_tree(body, more, budget(effort))
    return found, warnings if end == len(body) else [*warnings, spent(end)]


class _Others:
    """What a page says to browsers without frames or scripts leads somewhere, too, and what a frame holds (``srcdoc``)."""

    def __init__(self, body: bytes, read_tree: ReadTree, effort: int) -> None:
        self._body = body
        self._read_tree = read_tree
        self._effort = effort
        self._unread: list[bytes] = []  # short contents of ``<noscript>``
        self.warnings: list[str] = []
        self.blocks = Blocks()
        """What is said to browsers without scripts: the text of a page that says more there than elsewhere."""
        self.unframed = Blocks()
        """What is said to browsers without frames: the text of a page that has no other, as a frameset."""
        self.open = 0
        """Bytes in a ``<noscript>`` that does not end: nearly all of such a page."""

    def read(self, name: str, html: str) -> Reading:
        """What is in it. The words of ``<noscript>`` stand for those that scripts would write."""
        written = html.encode("utf-8", "replace")
        if name == "noscript" and written and self._body.endswith(written):
            end = len(self._body) - len(written)
            if _NOSCRIPT.fullmatch(self._body, self._body.rfind(b"<", 0, end), end):
                self.open = len(written)
                return _NOTHING
        if name not in _SHOWN and "<" not in html:
            return _NOTHING
        unread = [written]
        if name == "noscript":
            unread = self._unread = [*self._unread, written]
            if "=" not in html and not self.blocks and sum(map(len, unread)) <= _NOTICE:
                return _NOTHING  # without attributes it leads nowhere, and it is too short to be the text of the page
            self._unread = []
        for each in unread:
            found, warnings = _read(with_shadows(each), self._read_tree, None, self._effort)
            self.warnings += warnings
            if name == "noscript":
                self.blocks.extend(found.blocks)
            elif name == "noframes":
                self.unframed.extend(found.blocks)
        return found if name in _SHOWN else found._replace(elements=[(tag, values, "") for tag, values, _ in found.elements])


def _without_noscript(body: bytes, size: int) -> bytes:
    """The page without the tag of one that does not end, nor of those in it: its last bytes are text of the page."""
    return body[: body.rfind(b"<", 0, len(body) - size)] + _NOSCRIPT.sub(b"", body[-size:])


def _hidden_frames(body: bytes, elements: Sequence[Element]) -> str:
    """Frames in a place where the standard ignores them, behind text that is meant for browsers without frames."""
    frames = _FRAME.findall(body) if b"<frame" in body.lower() else ()
    return b"".join(frames).decode("utf-8", "replace") if frames and not any(tag == "frame" for tag, *_ in elements) else ""
