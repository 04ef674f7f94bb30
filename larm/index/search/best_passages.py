"""best_passages: how well the best passage of each of several pages answers a question, beside those of the others. Pure.

A page of a manual is about many things, and a question about one of them. A word that all these pages have, as "commit" in a
manual of git, still tells them apart, as few of their passages have it. So each passage is scored by BM25, with words as rare
as they are among the passages of these pages. The beginning counts beside it: a page that only tells of others, as a list of
commands does, has its best passage elsewhere. Called by the ranker, on its thread.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import log

from larm.index.scripts import is_unspaced

_STEP = 200
"""Characters, some thirty words; passages have twice as many, and half of each is in the next one."""
_ABOUT = 0.5
"""What the beginning of a page counts beside its best passage: there it says what it is about."""
_SATURATION = 1.2
"""BM25's k1. Passages are equally long, so it needs no b."""
_LOOKED_AT = 100_000
"""Characters of a page."""
_ACCENTED = range(0xC3, 0xCA)
_CASED = (*range(0xC3, 0xE0), 0xE1)
"""First bytes of letters beyond ASCII, in UTF-8: of those with accents, and of those with two cases."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_PREFIX = 4
"""Letters by which the words are looked for: as many as forms of a word have in common, mostly."""


def best_passages(texts: Sequence[str], forms: Mapping[str, str]) -> list[float]:
    """0 where a text has no word of the question, 1 for the text with the best passage of all.

    ``forms``: the words of the index by which a word of the question is found, each with that word.
    """
    beginnings = {form[:_PREFIX] for form in forms if not is_unspaced(form[0])}
    words = [re.compile(re.escape(beginning) + r"[^\W_]*") for beginning in sorted(beginnings)]
    pages = [_passages(_folded(text[:_LOOKED_AT]), words, forms) for text in texts]
    having = Counter(word for found in pages for each in found.values() for word in each)
    total = sum(min(len(text), _LOOKED_AT) // _STEP + 2 for text in texts)
    rarity = {word: log(1 + (total - number + 0.5) / (number + 0.5)) for word, number in having.items()}
    best = [
        max((_score(each, rarity) for each in found.values()), default=0.0) + _ABOUT * _score(found.get(-1, {}), rarity)
        for found in pages
    ]
    most = max(best, default=0.0) or 1.0
    return [score / most for score in best]


def _folded(text: str) -> str:
    """In lower case and without accents, as the index has it."""
    if text.isascii():
        return text.lower()
    data = text.encode("utf-8", "replace")
    if not any(byte in data for byte in _CASED):
        return data.lower().decode()  # ten times as fast, where it is but quotation marks that are not ASCII
    if any(byte in data for byte in _ACCENTED) or 0xE1 in data:
        text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return text.lower()


def _passages(text: str, words: Sequence[re.Pattern[str]], forms: Mapping[str, str]) -> dict[int, dict[str, int]]:
    """Of the passages with words of the question, how often each is in it; -1 is the first half of the first one."""
    found: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for beginning in words:
        for match in beginning.finditer(text):
            word, start = forms.get(match[0]), match.start()
            if word is not None and not (start and text[start - 1].isalnum()):
                at = start // _STEP
                found[at][word] += 1
                found[at - 1][word] += 1
    return found


def _score(passage: Mapping[str, int], rarity: Mapping[str, float]) -> float:
    return sum(rarity[word] * times / (times + _SATURATION) for word, times in passage.items())
