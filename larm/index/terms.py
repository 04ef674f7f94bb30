"""Words as the index knows them: clauses of queries, places in texts. Pure, and free of tantivy."""

from __future__ import annotations

from typing import NamedTuple

Clause = tuple[str, ...]
"""One word, or the words of a phrase, as the analyzer makes them; must not be empty."""


class Span(NamedTuple):
    """One word of a text and where it stands."""

    word: str
    start: int
    end: int
    """Characters of the text, as in a slice."""
