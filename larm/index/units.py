"""Units: what is looked for as one thing. Pure; from analysed text to words and phrases.

A unit is a word, or words that must stand next to each other: ``pg_dump`` and ``node.js`` are written as one, and so are two
neighbours in a script without spaces.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from larm.index.scripts import is_unspaced
from larm.index.terms import Clause, Span

_JOINTS = frozenset("_.:@#/\\")
"""Between two words without spaces these make one name of them. A hyphen does not: ``full-text`` is also ``full text``."""

_WITHIN = frozenset({"Mn", "Mc", "Cf"})
"""Kinds of characters that stand within a word and are no letters to the analyzer, which makes two words of it: the sign that
joins two consonants in the scripts of India, an accent for which there is no letter, a soft hyphen."""


class Unit(NamedTuple):
    """One thing that is looked for."""

    words: Clause
    typed: str
    """As it stands in the query, in lower case."""
    times: int = 1
    """How often it stands there: who repeats a word means it."""


def units_of(text: str, spans: Sequence[Span]) -> list[Unit]:
    """The units of a text, each once, in their order; ``spans`` are its words."""
    found: dict[Clause, Unit] = {}
    for first, last in _runs(text, spans):
        words = tuple(span.word for span in spans[first:last])
        unit = found.get(words)
        typed = text[spans[first].start : spans[last - 1].end].lower()
        found[words] = Unit(words, typed) if unit is None else unit._replace(times=unit.times + 1)
    return list(found.values())


def _runs(text: str, spans: Sequence[Span]) -> list[tuple[int, int]]:
    """(first, behind the last) of the spans that are one unit; pairs of characters overlap."""
    runs: list[tuple[int, int]] = []
    place = 0
    while place < len(spans):
        end = place + 1
        if is_unspaced(spans[place].word):
            while end < len(spans) and spans[end].start == spans[end - 1].end and is_unspaced(spans[end].word):
                end += 1
            runs += [(at, at + 2) for at in range(place, end - 1)] or [(place, end)]
        else:
            while end < len(spans) and _joined(text, spans[end - 1], spans[end]):
                end += 1
            runs.append((place, end))
        place = end
    return runs


def _joined(text: str, one: Span, other: Span) -> bool:
    between = text[one.end : other.start]
    if not between or is_unspaced(other.word):
        return False
    return set(between) <= _JOINTS or all(unicodedata.category(each) in _WITHIN for each in between)
