"""best_passages: how well the best passage of each of several pages answers a question, beside those of the others. Pure.

A page of a manual is about many things, and a question about one of them. A word that all these pages have, as "commit" in a
manual of git, still tells them apart, as few of their passages have it. So each passage is scored by BM25, with words as rare
as they are among the passages of these pages. Called by the ranker, on its thread.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import log

_STEP = 30
"""Words; passages have twice as many, and half of each is in the next one."""
_SATURATION = 1.2
"""BM25's k1. Passages are equally long, so it needs no b."""
_LOOKED_AT = 100_000
"""Characters of a page."""
_MARKS = re.compile(rb"\xc2[\x80-\xbf]|\xe2[\x80-\x8f].")
"""Signs beyond ASCII that part words."""
_ACCENTED = re.compile(rb"[\xc3-\xc9]|\xe1[\xb8-\xbb]")
_ACCENTS = re.compile(rb"\xcc[\x80-\xbf]|\xcd[\x80-\xaf]")
_PLAIN = bytes(byte if byte > 127 or chr(byte).isalnum() else 32 for byte in range(256)).lower()
"""For ASCII: in lower case, and a space for all that parts words."""


def best_passages(texts: Sequence[str], forms: Mapping[str, str]) -> list[float]:
    """0 where a text has no word of the question, 1 for the text with the best passage of all.

    ``forms``: the words of the index by which a word of the question is found, each with that word.
    """
    sought = {form.encode("utf-8", "replace"): word for form, word in forms.items()}
    pages = [_counted(_words(text[:_LOOKED_AT]), sought) for text in texts]
    having = Counter(word for passages, _ in pages for passage in passages for word in passage)
    total = sum(count for _, count in pages)
    rarity = {word: log(1 + (total - number + 0.5) / (number + 0.5)) for word, number in having.items()}
    best = [max((_score(passage, rarity) for passage in passages), default=0.0) for passages, _ in pages]
    most = max(best, default=0.0) or 1.0
    return [score / most for score in best]


def _words(text: str) -> list[bytes]:
    """As the index has them, nearly."""
    data = text.encode("utf-8", "replace")
    if not text.isascii():
        if _ACCENTED.search(data):
            data = _ACCENTS.sub(b"", unicodedata.normalize("NFKD", text).encode("utf-8", "replace"))
        data = _MARKS.sub(b" ", data)
    return data.translate(_PLAIN).split()


def _counted(words: Sequence[bytes], sought: Mapping[bytes, str]) -> tuple[list[Counter[str]], int]:
    """For each passage with such words, how often each is in it; and the number of all passages."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    last = max(0, (len(words) - 1) // _STEP - 1)
    for place, word in [(place, word) for place, word in enumerate(words) if word in sought]:
        at = place // _STEP
        for passage in {min(at, last), max(0, at - 1)}:
            found[passage][sought[word]] += 1
    return list(found.values()), last + 1


def _score(passage: Counter[str], rarity: Mapping[str, float]) -> float:
    return sum(rarity[word] * times / (times + _SATURATION) for word, times in passage.items())
