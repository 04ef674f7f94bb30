"""Words as the index knows them: clauses of queries, places in texts. Pure, and free of tantivy."""

import re
import unicodedata
from typing import NamedTuple

_HALF_WIDTH = re.compile("[\uff61-\uff9f]+")
"""Katakana as terminals had them; a sound mark is a character of its own there."""
_POINTS = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]+")
"""Vowels and accents of Hebrew, which the Bible and poems are printed with, and nobody types."""

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
    them: apart, they would part words; with katakana of full width, and Hebrew without points. Free for ASCII, a glance for
    what is so already."""
    if text.isascii():
        return text
    before = text = unicodedata.normalize("NFC", text)
    data = text.encode("utf-8", "surrogatepass")  # to look for bytes that these begin with takes a fifth of the time
    if b"\xef" in data:
        text = _HALF_WIDTH.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text)
    if b"\xd6" in data or b"\xd7" in data:
        text = _POINTS.sub("", text)
    return text if text is before else unicodedata.normalize("NFC", text)  # what stood apart may stand side by side now
