"""Did you mean: another spelling of a query that finds more. Pure; called where a query finds few pages.

The dictionary is the index itself, so it knows the names and the languages of what was crawled, and never suggests what is not
there. A word is suspected if few pages have it, in any of its forms. Its neighbours are the words of the index that are one or
two slips away: a letter too many, too few, wrong, or two in the wrong order; or a space that is missing or too many. Of these
the one on the most pages wins, where each slip must be paid for with twenty times the pages. The likeliest spellings of the
whole query are tried out, so that what is suggested always finds more, and words are suggested that stand together.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, product
from math import inf, log
from typing import NamedTuple, Protocol

from larm.index.terms import Span

FEW = 10
"""Pages; a query that finds more was spelt as it was meant."""
_SLIP = log(20)  # what a slip costs, in logarithms of pages
_RARE = 20  # a neighbour of a word that is there must be on so many times the pages
_SHORTEST = 4  # letters; shorter words have too many neighbours
_LONG = 6  # from this length on two slips are likely enough
_KEPT = 3  # neighbours of a word
_CHANGED = 4  # words of a query
_SIGNS = frozenset("._-/$@#:\\")  # before a word that is a name
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_TRIED = 8  # suggestions for a query


class Vocabulary(Protocol):
    """The words of the index: `larm.index.statistics`."""

    def pages(self, words: Iterable[str]) -> list[int]:
        """Return the number of pages with each word."""

    def beginning(self, prefixes: Iterable[str]) -> list[list[tuple[str, int]]]:
        """Return the words that begin with each prefix, with their numbers of pages, commonest first."""


class Neighbour(NamedTuple):
    """What may have been meant by a word: another word, or two; or the word itself."""

    score: float
    """The larger, the likelier: logarithm of the pages less the cost."""
    cost: float
    text: str


class Suggestion(NamedTuple):
    """Another spelling of a query."""

    score: float
    cost: float
    text: str


def did_you_mean(
    text: str,
    words: Sequence[str],
    spans: Sequence[Span],
    vocabulary: Vocabulary,
    forms_of: Callable[[str], Sequence[str]],
    *,
    total_of: Callable[[str], int],
) -> str:
    """The spelling that is best worth its slips, by the pages that it finds; empty if none finds more than ``text``.

    ``words`` are those that may be changed, ``spans`` all words of the text with their places; ``forms_of`` gives the words of
    the index that stand for one, ``total_of`` counts the pages of another query.
    """
    best, chosen = -inf, ""
    total = -1
    for suggestion in suggestions(text, words, spans, vocabulary, forms_of)[:_TRIED]:
        total = total_of(text) if total < 0 else total
        found = total_of(suggestion.text)
        if found > total and log(found) - suggestion.cost > best:
            best, chosen = log(found) - suggestion.cost, suggestion.text
    return chosen


def suggestions(
    text: str,
    words: Sequence[str],
    spans: Sequence[Span],
    vocabulary: Vocabulary,
    forms_of: Callable[[str], Sequence[str]],
) -> list[Suggestion]:
    """Other spellings of ``text``, likeliest first. Operators and their values stay as they are."""
    options: dict[str, list[Neighbour]] = {}
    for word in dict.fromkeys(words):
        (count,) = vocabulary.pages([word])
        if count and sum(vocabulary.pages(forms_of(word))) >= _RARE:
            continue
        found = neighbours(word, count, vocabulary)
        if count or any(span.word == word and _is_name(text, span) for span in spans):
            found = [each for each in found if " " not in each.text]
        if found and len(options) < _CHANGED:
            options[word] = [Neighbour(log(count), 0.0, word), *found] if count else found
    spans = [span for span in spans if span.word in words]
    found_texts = {}
    for choice in product(*options.values()) if options else ():
        better = {word: new.text for word, new in zip(options, choice, strict=True) if new.text != word}
        score, cost = sum(new.score for new in choice), sum(new.cost for new in choice)
        found_texts[_replaced(text, spans, better)] = score, cost
    for left, right in pairwise(spans):
        between = text[left.end : right.start]
        if between and not between.strip() and (pages := vocabulary.pages([left.word + right.word])[0]):
            found_texts[text[: left.end] + text[right.start :]] = log(pages) - _SLIP, _SLIP
    found_texts.pop(text, None)
    return sorted([Suggestion(score, cost, new) for new, (score, cost) in found_texts.items()], reverse=True)


def _is_name(text: str, span: Span) -> bool:
    """``.gitignore``, ``NoneType``: its words are found anyway, and nobody means them apart."""
    typed = text[span.start : span.end]
    return typed[1:].lower() != typed[1:] or text[max(0, span.start - 1) : span.start] in _SIGNS


def neighbours(word: str, count: int, vocabulary: Vocabulary) -> list[Neighbour]:
    """The likeliest other spellings of a word that ``count`` pages have; none for common words, numbers and the like."""
    if count >= _RARE or len(word) < _SHORTEST or not word.isalpha():
        return []
    most = 2 if len(word) >= _LONG else 1
    least = max(1, count * _RARE)
    best = _split(word, least, vocabulary)
    letters = set(word)
    nearby = vocabulary.beginning(_beginnings(word))
    for candidates in (*nearby, _first_letters(word, vocabulary)):
        for other, pages in candidates:
            if pages < least or (len(best) == _KEPT and log(pages) - _SLIP / 3 <= best[-1].score):
                break  # all that follow are on fewer pages
            if abs(len(other) - len(word)) > most or len(letters.symmetric_difference(other)) > 2 * most or other == word:
                continue
            slips: float = distance(word, other, most)
            if slips <= most and all(other != each.text for each in best):  # it may begin as two of these do
                slips += (other[0] != word[0]) / 3 - (_undoubled(word) == _undoubled(other)) * 2 / 3
                best = sorted([*best, Neighbour(log(pages) - slips * _SLIP, slips * _SLIP, other)], reverse=True)[:_KEPT]
    return best


def _beginnings(word: str) -> list[str]:
    """Of words that are a slip away, but for a wrong first letter: all words of a letter would be a tenth of a large index."""
    first, second, third = word[0], word[1], word[2]
    found = dict.fromkeys((first + second, second + first, first + third, second + third))
    others = [first + letter + then for letter in _letters(second) for then in {second: 0, third: 0}]
    return [*found, *(each for each in others if each[:2] not in found)]


def _letters(like: str) -> Sequence[str]:
    code = ord(like)
    return _LATIN if like in _LATIN else [chr(near) for near in range(max(128, code - 40), code + 40)]


def _first_letters(word: str, vocabulary: Vocabulary) -> list[tuple[str, int]]:
    """Words that differ in the first letter alone, and words of which it is missing; `_beginnings` would be too many."""
    others = [other for letter in _letters(word[0]) for other in (letter + word, letter + word[1:])]
    found = zip(others, vocabulary.pages(others), strict=True)
    return sorted([row for row in found if row[1]], key=lambda row: -row[1])


def _undoubled(word: str) -> str:
    """``vacum`` for ``vacuum``: whether a letter is double is what people are least sure of."""
    return "".join(letter for letter, before in zip(word, " " + word, strict=False) if letter != before)


def _split(word: str, least: int, vocabulary: Vocabulary) -> list[Neighbour]:
    """Two words without the space between them."""
    found, places = [], range(3, len(word) - 2)
    counts = vocabulary.pages([part for at in places for part in (word[:at], word[at:])])
    for at, pages in zip(places, map(min, counts[::2], counts[1::2]), strict=True):
        if pages >= least:
            found.append(Neighbour(log(pages) - 1.5 * _SLIP, 1.5 * _SLIP, f"{word[:at]} {word[at:]}"))
    return sorted(found, reverse=True)[:_KEPT]


def distance(one: str, other: str, most: int) -> int:
    """Slips between two words (Damerau and Levenshtein, no letter twice), or ``most + 1`` where there are more."""
    start, end = 0, 0
    shorter = min(len(one), len(other))
    while start < shorter and one[start] == other[start]:
        start += 1
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    one, other = one[start : len(one) - end], other[start : len(other) - end]
    if not one or not other:
        return min(len(one) + len(other), most + 1)
    if most <= 0 or abs(len(one) - len(other)) > most:
        return most + 1
    ways = [(one[1:], other[1:]), (one[1:], other), (one, other[1:])]
    if one[:2] == other[1::-1]:
        ways.append((one[2:], other[2:]))
    return min(1 + distance(left, right, most - 1) for left, right in ways)


def _replaced(text: str, spans: Sequence[Span], better: dict[str, str]) -> str:
    """The text with other words in the places of some, written as they were: all in capitals, or with one in front."""
    parts, at = [], 0
    for span in spans:
        if span.word in better:
            typed, new = text[span.start : span.end], better[span.word]
            new = new.upper() if len(typed) > 1 and typed.isupper() else new.capitalize() if typed[:1].isupper() else new
            parts += [text[at : span.start], new]
            at = span.end
    return "".join([*parts, text[at:]])
