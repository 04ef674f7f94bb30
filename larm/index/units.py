"""Units: what is looked for as one thing. Pure; from analysed text to words and phrases.

A unit is a word, or words that must stand next to each other: ``pg_dump`` and ``node.js`` are written as one, and so are two
neighbours in a script without spaces. It may also be a symbol (`larm.index.symbols`), or a pattern such as ``vac*``.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from larm.index.scripts import is_unspaced
from larm.index.terms import Clause, Span

_JOINTS = frozenset("_.:@#/\\")
"""Between two words without spaces these make one name of them. A hyphen does not: ``full-text`` is also ``full text``."""

_WITHIN = frozenset({"Mn", "Mc", "Cf"})
"""Kinds of characters that stand within a word and are no letters to the analyzer, which makes two words of it: the sign that
joins two consonants in the scripts of India, an accent for which there is no letter, a soft hyphen."""


_PATTERN = re.compile(r"(?<!\S)[^\W_]{2,}[*?](?:[^\W_*?]+[*?])*(?:[^\W_*?]*[^\W_*?])?(?!\S)")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST_NAME = 4
"""Words of a name that is written as one."""
_LONG_ENOUGH = 3
"""Letters of a symbol, for its words to say something; ``c`` says nothing of ``c++``."""
_LEAST_NAME = 6
"""Letters of such a name: shorter ones are other words by chance."""


class Unit(NamedTuple):
    """One thing that is looked for."""

    words: Clause
    """Empty for symbols with hardly a letter, and for patterns."""
    typed: str
    """As it stands in the query, in lower case."""
    times: int = 1
    """How often it stands there: who repeats a word means it."""
    symbol: str = ""
    """It is this, or was meant as this."""
    pattern: str = ""
    """``*`` stands for any letters, ``?`` for one."""
    parts: Clause = ()
    """Of a word that was typed as ``HashMap``: its words."""
    names: tuple[str, ...] = ()
    """What the words around it make together with it: ``hashmap`` for ``hash`` in ``hash map``."""
    exact: bool = False
    """Typed in quotes: no other form will do."""
    derived: float = 1.0
    """What words count that are made of it, or it of them, beside its other forms: ``multiple`` for ``multiplication``."""

    @property
    def name(self) -> str:
        """For explanations."""
        return self.symbol or self.pattern or " ".join(self.words)


def units_of(text: str, spans: Sequence[Span], symbols: Sequence[Span] = ()) -> list[Unit]:
    """The units of a text, each once, in their order; ``spans`` are its words, ``symbols`` what takes the place of some."""
    found: dict[tuple[Clause, str, str], Unit] = {}
    patterns = [Span("", match.start(), match.end()) for match in _PATTERN.finditer(text) if _is_pattern(match[0])]
    places = [(span.start, span.end, span.word) for span in sorted([*patterns, *symbols], key=lambda span: span.start)]
    rest = [span for span in spans if not any(start <= span.start < end for start, end, _ in places)]
    units = [(rest[first].start, _of_words(text, rest[first:last])) for first, last in _runs(text, rest)]
    for start, end, symbol in places:
        typed = text[start:end].lower()
        if symbol:
            words = tuple(span.word for span in spans if start <= span.start < end)
            said = words if sum(map(len, words)) >= _LONG_ENOUGH else ()
            units.append((start, Unit(said, typed, symbol=symbol)))
        else:
            units.append((start, Unit((), typed, pattern=typed)))
    for _, unit in sorted(units, key=lambda pair: pair[0]):
        key = unit.words, unit.symbol, unit.pattern
        before = found.get(key)
        found[key] = unit if before is None else before._replace(times=before.times + 1)
    return list(found.values())


def with_names(units: Sequence[Unit]) -> list[Unit]:
    """The units with what they make together with their neighbours: many names are written as one word."""
    names: list[list[str]] = [[] for _ in units]
    for at in range(len(units)):
        plain = list(takewhile(_can_be_joined, units[at : at + _LONGEST_NAME]))
        for count in range(2, len(plain) + 1):
            name = "".join(unit.words[0] for unit in plain[:count])
            if len(name) >= _LEAST_NAME:
                for inside in range(at, at + count):
                    names[inside].append(name)
    return [unit._replace(names=tuple(own)) if own else unit for unit, own in zip(units, names, strict=True)]


def _can_be_joined(unit: Unit) -> bool:
    return len(unit.words) == 1 and not unit.symbol and not is_unspaced(unit.words[0])


def _is_pattern(text: str) -> bool:
    """Not the end of a question."""
    return "*" in text or "?" in text[:-1]


def _of_words(text: str, spans: Sequence[Span]) -> Unit:
    typed = text[spans[0].start : spans[-1].end]
    parts = tuple(part.lower() for part in _CAMEL.findall(typed)) if len(spans) == 1 and typed.isascii() else ()
    return Unit(tuple(span.word for span in spans), typed.lower(), parts=parts if len(parts) > 1 else ())


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
