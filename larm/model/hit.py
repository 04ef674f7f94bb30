"""Hit: one page that a search has found. A frozen value that every searcher gives and every surface shows."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping

import msgspec

Part = tuple[str, bool]
"""Some text, and whether it is a word of the query."""


def as_html(parts: Iterable[Part]) -> str:
    """The parts as safe HTML, words of the query in ``<mark>``."""
    return "".join(f"<mark>{html.escape(text)}</mark>" if marked else html.escape(text) for text, marked in parts)


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One page that was found."""

    title: str
    """One line; the URL where the page has no title."""
    url: str
    parts: tuple[Part, ...] = ()
    """About 200 characters of the page as (text, is it a word of the query); free of control characters."""
    passage: str = ""
    """The address at which a browser shows these characters; empty where there is none."""
    mime: str = ""
    language: str = ""
    """ISO 639-1; empty where it is not known."""
    modified: int = 0
    """When the page was changed, in seconds since 1970; 0: not known."""
    fetched: int = 0
    """When it was fetched."""
    size: int = 0
    """Bytes."""
    cuts: tuple[str, ...] = ()
    """What was not read of it: names of settings, or ``reader`` (`larm.model.cuts`). It may have more of the words."""
    fields: Mapping[str, tuple[str, ...]] = {}
    """What users have said is to be known of it."""
    complete: bool = True
    """It has all words of the query."""
    score: float = 0.0
    explanation: str = ""
    """How the score came about, as JSON, if it was asked for."""
    digest: int = 0
    """Of its main text: pages with equal ones say the same; 0: it has no text."""
    source: str = ""
    """Which of several indexes has it; empty where there is one."""

    @property
    def snippet(self) -> str:
        """The passage of the page that shows best why it was found, as one line of plain text."""
        return "".join(text for text, _ in self.parts)

    @property
    def html(self) -> str:
        """The same as safe HTML, with the words of the query in ``<mark>``."""
        return as_html(self.parts)
