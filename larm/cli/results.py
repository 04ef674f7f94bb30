"""How a person sees results: a title, an address, a passage, what else is known. Plain where nobody sees colours.

On a terminal the passage is wrapped at its width; elsewhere it stays on one line, for ``grep``.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from larm.cli.terminal import columns, has_colours, is_terminal, wrapped
from larm.index.meta_words import MIME_NAMES
from larm.index.search.answer import moment
from larm.kit.printable import printable

if TYPE_CHECKING:
    from larm.model.facets import Facet
    from larm.model.hit import Hit

_LONGEST_TITLE = 300  # characters: some pages have all of their text in it; ``--json`` tells it whole
_WIDEST = 100  # columns; longer lines are hard to read
_INDENT = "   "
_DEPTH = 6
"""Levels of an explanation that are shown; below are the constants of the formula."""
_VALUES = 8
"""Of a facet; ``--json`` has all that were looked for."""
_USUAL = {"text/html", "application/xhtml+xml", ""}


class Style(NamedTuple):
    """What the terminal can do."""

    width: int
    """Columns; 0: do not wrap."""
    colours: bool
    hyperlinks: bool

    @classmethod
    def of_stdout(cls, hyperlinks: bool) -> Style:
        """What stdout is: a terminal, a pipe, a file."""
        terminal = is_terminal(sys.stdout)
        width = min(shutil.get_terminal_size().columns, _WIDEST) if terminal else 0
        return cls(width, has_colours(sys.stdout), hyperlinks and terminal)

    def title(self, text: str, url: str) -> str:
        """Bold, and to be clicked where that is wanted (OSC 8)."""
        text = click.style(text, bold=True) if self.colours else text
        return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if self.hyperlinks else text

    def address(self, text: str) -> str:
        """Green, as search engines have them."""
        return click.style(text, fg="green") if self.colours else text

    def word(self, text: str) -> str:
        """A word of the query."""
        return click.style(text, bold=True) if self.colours else text

    def aside(self, text: str) -> str:
        """What few people want to know."""
        return click.style(text, dim=True) if self.colours else text


def lines(rank: int, hit: Hit, style: Style, explain: bool) -> Iterator[str]:
    """Title, address, passage, and why it stands where it stands; the last line is empty."""
    number = f"{rank}. "
    url = printable(hit.url)
    shown = printable(hit.title)
    title = [(shown if len(shown) <= _LONGEST_TITLE else shown[:_LONGEST_TITLE].rstrip() + "…", False)]
    for at, line in enumerate(wrapped(title, style.width - len(number)) if style.width else [title]):
        head = number if not at else " " * len(number)
        yield head + style.title(line[0][0], url)
    facts = " · ".join(_facts(hit))
    if facts and (not style.width or len(_INDENT) + columns(url) + 3 + len(facts) <= style.width):
        yield f"{_INDENT}{style.address(url)}   {style.aside(facts)}"
    else:
        yield _INDENT + style.address(url)
        if facts:
            yield _INDENT + style.aside(facts)
    parts = [(_clean(text), marked) for text, marked in hit.parts]
    for line in wrapped(parts, style.width - len(_INDENT)) if style.width else [parts] * any(parts):
        yield _INDENT + "".join(style.word(text) if marked else text for text, marked in line)
    said = " · ".join(f"{name}: {', '.join(values)}" for name, values in hit.fields.items())
    if said:
        for line in wrapped([(_clean(said), False)], style.width - len(_INDENT)) if style.width else [[(_clean(said), False)]]:
            yield _INDENT + style.aside(line[0][0])
    if explain:
        yield f"{_INDENT}score {hit.score:.4f}"
        if hit.explanation:
            yield from _factors(json.loads(hit.explanation), 0)
    yield ""


def facet_lines(facets: Sequence[Facet], style: Style) -> Iterator[str]:
    """A line for each facet, as ``--only`` takes its values."""
    for facet in facets:
        values = [f"{printable(each.value)} ({each.pages:,})" for each in facet.values[:_VALUES]]
        more = [] if facet.whole and len(facet.values) <= _VALUES else ["..."]
        if values:
            yield f"{_INDENT}{style.word(facet.name)}: {', '.join([*values, *more])}"


def _facts(hit: Hit) -> Iterator[str]:
    """When it was changed, its language, and its type where that is not HTML."""
    changed = moment(hit.modified)
    if changed:
        yield changed[:10]
    if hit.language:
        yield printable(hit.language)
    if hit.mime not in _USUAL:
        short = hit.mime.rpartition("/")[2] if len(hit.mime) <= 24 else hit.mime
        yield printable(MIME_NAMES.get(hit.mime, short))
    if hit.source:
        yield f"in {printable(hit.source)}"
    if not hit.complete:
        yield "not all of the words"
    if hit.cuts:
        yield "not all of it was read"
    if hit.failing:
        yield f"not reached since {(moment(hit.failing) or '')[:10]}"


def _clean(text: str) -> str:
    """As `printable`, but the spaces at the ends stay: they part marked words from others."""
    before, after = text[:1].isspace(), text[1:][-1:].isspace()
    return f"{' ' * before}{printable(text)}{' ' * after}"


def _factors(explanation: dict[str, Any], depth: int) -> Iterator[str]:
    """An indented line for each factor of the score."""
    if depth < _DEPTH:
        described = printable(str(explanation.get("description", "")))
        yield f"{_INDENT}{'  ' * depth}{explanation.get('value', 0):.4f}  {described}"
        for detail in explanation.get("details") or ():
            yield from _factors(detail, depth + 1)
