"""Words as the index knows them: clauses of queries, places in texts. Pure, and free of tantivy."""

import unicodedata
from typing import NamedTuple

Clause = tuple[str, ...]
"""One word, or the words of a phrase, as the analyzer makes them; must not be empty."""


class Span(NamedTuple):
    """One word of a text and where it stands."""

    word: str
    start: int
    end: int
    """Characters of the text, as in a slice."""


def composed(text: str) -> str:
    """The text with letters and accents as one character each where there is one (NFC), as nearly all texts and keyboards have
    them: apart, they would part words. Free for ASCII, a glance for what is so already."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
