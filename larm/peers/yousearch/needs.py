"""needs_of: which words a page must have to be an answer that has all that was asked for (YOUS-16, 19). Pure.

It never asks for more than the index does (`larm.index.retrieval`), so no peer with such a page is left out; where it can't say
what is needed it asks for nothing, and all peers are asked. A word stands for all its forms, by its stem in the languages of
each peer; two words side by side may be written as one; function words may be missing, in the language in which they are such.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Annotated

import msgspec
from msgspec import Meta

from larm.index.analysis import Analyzer
from larm.index.forms import can_have_forms
from larm.index.stems import LANGUAGES, Stemmer
from larm.index.symbols import symbols
from larm.index.terms import Span
from larm.index.tree import All, Any, In, Node, Phrase, Word, split
from larm.index.units import Unit, units_of, with_names

_MOST_CLAUSES = 20
_MOST_WAYS = 12
_MOST_TERMS = 12
"""Clauses, ways in which one can be met, and terms of a way: a registrar answers many queries, also of who would keep it
busy."""
_MOST_LANGUAGES = 40


class Term(msgspec.Struct, frozen=True):
    """A word in any of its forms."""

    word: str
    stems: Annotated[tuple[tuple[str, str], ...], Meta(max_length=_MOST_LANGUAGES)] = ()
    """Languages, and its stem in each; none for what has no forms."""


Way = Annotated[tuple[Term, ...], Meta(max_length=_MOST_TERMS)]
"""All of these."""
Clause = Annotated[tuple[Way, ...], Meta(max_length=_MOST_WAYS)]
"""Any of these."""
Needs = Annotated[tuple[Clause, ...], Meta(max_length=_MOST_CLAUSES)]
"""All of these; none: anything may be an answer."""


def needs_of(tree: Node | None) -> Needs:
    """Of what was typed."""
    typed, conditions = split(tree)
    found = [*_of_typed(typed), *_of(conditions)]
    return tuple(dict.fromkeys(clause for clause in found if clause and len(clause) <= _MOST_WAYS))[:_MOST_CLAUSES]


def _of_typed(words: Sequence[Word]) -> Needs:
    """Plain words at the top: a page may lack function words, if it has others."""
    text = " ".join(word.text for word in words)
    if not text:
        return ()
    units, names = _units(text), _names(text)
    sure = [unit for unit in units if not _may_be_common(unit)]
    if sure:
        return tuple(clause for unit in sure if (clause := _clause(unit, names.get(unit.words, ()))))
    return (tuple(way for unit in units for way in _clause(unit, names.get(unit.words, ()))),)


def _of(node: Node | None) -> Needs:
    match node:
        case Word(text) | In(_, Word(text)):
            return tuple(clause for unit in _units(text) if (clause := _clause(unit, ())))
        case Phrase(text) | In(_, Phrase(text)):
            return tuple(((_term(word),),) for word in dict.fromkeys(_analyzer().words(text)))
        case All(items):
            return tuple(clause for item in items for clause in _of(item))
        case Any(items):
            ways = [_one_way(_of(item)) for item in items]
            return (tuple(dict.fromkeys(ways)),) if all(ways) else ()
        case _:
            return ()


def _one_way(needs: Needs) -> Way:
    """What is needed for certain."""
    return tuple(dict.fromkeys(term for clause in needs if len(clause) == 1 for term in clause[0]))[:_MOST_TERMS]


def _clause(unit: Unit, names: Sequence[str]) -> Clause:
    """Empty: nobody can say."""
    if unit.pattern or unit.symbol or not unit.words:
        return ()
    ways = [tuple(_term(word) for word in unit.words)]
    ways += [(_term(name),) for name in names]
    if unit.parts:
        ways.append(tuple(_term(part) for part in unit.parts))
    return tuple(dict.fromkeys(way[:_MOST_TERMS] for way in ways))  # fewer words are needed for certain, too


def _units(text: str) -> list[Unit]:
    """What is a symbol to an index that knows it may be needed or not."""
    return units_of(text, _analyzer().spans(text), symbols(text))


def _names(text: str) -> dict[tuple[str, ...], list[str]]:
    """Of each word what it may make together with others, whichever symbols of the text an index knows."""
    found: dict[tuple[str, ...], list[str]] = {}
    spans = _analyzer().spans(text)
    for known in (list[Span](), symbols(text)):
        for unit in with_names(units_of(text, spans, known)):
            if unit.names:
                found[unit.words] = list(dict.fromkeys([*found.get(unit.words, ()), *unit.names]))
    return found


def _may_be_common(unit: Unit) -> bool:
    if unit.pattern or unit.symbol or len(unit.words) != 1:
        return False
    return any(stemmer.is_function_word(each) for stemmer in _stemmers() for each in (unit.words[0], unit.typed))


@lru_cache(4_096)
def _term(word: str) -> Term:
    if not can_have_forms(word):
        return Term(word)
    return Term(word, tuple((stemmer.language, stemmer.stem(word)) for stemmer in _stemmers()))


@cache
def _stemmers() -> tuple[Stemmer, ...]:
    return tuple(Stemmer(language) for language in sorted(LANGUAGES))


@cache
def _analyzer() -> Analyzer:
    return Analyzer()
