"""Marks: where the words of a query stand in a text. Pure; one is made for a query and a language, and used for many pages.

A word is found in every form that the index takes for the same one (``Häuser`` for ``haus``). To analyse a whole page for
that costs 3 ms for 30 KB; so a regular expression finds what begins like the word, and only that is analysed, once for each
spelling. In scripts of which one can't say that forms begin alike (Arabic), all words of the page are looked at. In scripts
without spaces, two neighbouring characters of a word count as found.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from larm.index.scripts import UNSPACED, is_unspaced
from larm.index.symbols import symbols
from larm.index.tree import Phrase, Word

Words = Callable[[str], list[str]]
"""Makes a text into words as the index has them."""

# a word with all its marks: what spaces, ASCII's and the usual punctuation part
_CHUNK = re.compile(
    r"[^\s!-/:-@\[-`{-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff00-\uff0f\u060c\u061b\u061f\u06d4\u0964\u0965]+"
)
_SUFFIXING = re.compile(r"[^\W_\u0590-\u1dff\u2c00-\uffff]+")  # Latin, Greek, Cyrillic, Armenian: forms differ at their ends
_ACCENTED = "\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
_ACCENT = re.compile(f"[{_ACCENTED}]")
_UNSPACED = re.compile(f"[{UNSPACED}\U00020000-\U0003ffff]")
_PREFIX = 4  # letters; more would miss forms, fewer would find too much
_IDLE = 0.15  # of what the rarest word is worth: "the" has .02, words that say little .1
_LONGEST = 1_000  # characters of a phrase
_ENOUGH = 60  # places; of a word like "the" there are thousands
_LONG_ENOUGH = 3  # letters of a symbol, for its word to say something
_OF_SIGNS = r"-+*=<>!&|^~:@?%"
_LOOKED_THROUGH = 30_000  # characters of a page of which every word is analysed


class Place(NamedTuple):
    """One piece of the query in a text."""

    start: int
    end: int
    """Characters, as in a slice."""
    piece: str
    """Which one; equal pieces are equal texts."""


class Marks:
    """The pieces of a query, ready to be found.

    ``words_of`` analyses a text as the index does; ``forms_of`` gives the other forms that are taken for a word as well;
    ``worth_of`` says what it is worth to show a word: the rarer, the more. Words that are worth little next to the others
    ("how do I") are not looked for.
    """

    def __init__(
        self,
        items: Sequence[Word | Phrase],
        words_of: Words,
        forms_of: Words = lambda _: [],
        worth_of: Callable[[str], float] = lambda _: 1.0,
    ) -> None:
        # constant after construction
        self._words_of = words_of
        self._worth = {word: worth_of(word) for item in items for word in words_of(item.text)}
        most = max(self._worth.values(), default=0.0)
        self._idle = {word for word, worth in self._worth.items() if worth < most * _IDLE}
        self._pieces: dict[str, str] = {}  # word as the index has it -> the word of the query that it is a form of
        self._alone: set[str] = set()  # words that were asked for outside of phrases
        self._phrases: list[tuple[str, ...]] = []
        self._prefixes: set[str] = set()
        self._typed: list[str] = []
        self._pairs: set[str] = set()  # of characters, in scripts without spaces
        self._signs: list[str] = []  # symbols, such as ->, and names, such as os.path
        self._anything = False  # every word of a page has to be looked at
        for item in items:
            spaced: list[str] = []
            for run in _runs(self._without_signs(item.text)):
                if is_unspaced(run[0]):
                    self._pairs.update({run[at : at + 2] for at in range(len(run) - 1)} or {run})
                else:
                    spaced += self._learn(run, forms_of if isinstance(item, Word) else lambda _: [])
            name = item.text.lower()
            if isinstance(item, Word) and len(spaced) > 1 and name.isascii() and name not in self._signs:
                self._signs.append(name)  # where it stands whole is worth more than its words
            said = [at for at, word in enumerate(spaced) if word not in self._idle]
            if isinstance(item, Phrase) and len(said) > 1:
                self._phrases.append(tuple(spaced[said[0] : said[-1] + 1]))
            else:
                self._alone.update(spaced[at] for at in said)
        self._bare = self._pattern("")
        self._sign = re.compile("|".join(map(_alone, self._signs)) or "(?!)", re.IGNORECASE)
        # made when needed
        self._full: re.Pattern[str] | None = None
        self._known: dict[str, str] = {}  # spelling -> its piece, empty if it is none of ours

    def __bool__(self) -> bool:
        return bool(self._pieces or self._pairs or self._signs)

    @property
    def pieces(self) -> int:
        """How many different ones may be found, about."""
        return len(self._alone) + len(self._phrases) + len(self._pairs) + len(self._signs)

    def worth(self, piece: str) -> float:
        """What it is worth to show this piece."""
        return sum(self._worth.get(word, 1.0) for word in piece.split(" "))

    def places(self, text: str) -> list[Place]:
        """All places in ``text``, in order; those of characters in scripts without spaces may overlap."""
        found = self._spaced(text) if self._pieces else []
        if self._pairs:
            found += self._unspaced(text)
        if self._signs:
            found += [Place(*each.span(), each[0].lower()) for each in islice(self._sign.finditer(text), _ENOUGH)]
        return sorted(found) if self._pairs or self._signs else found

    def _without_signs(self, text: str) -> str:
        """The rest, of which words are learned: ``c`` says nothing of ``c++``, but ``no-index`` does of ``--no-index``."""
        for sign in reversed(symbols(text)):
            self._signs.append(sign.word)
            if sum(map(str.isalnum, sign.word)) < _LONG_ENOUGH:
                text = f"{text[: sign.start]} {text[sign.end :]}"
        return text

    def _learn(self, run: str, forms_of: Words) -> list[str]:
        """Take up a word in letters, unless it says little; returns it as the index has it, in several words perhaps."""
        every = self._words_of(run)
        words = [word for word in every if word not in self._idle]
        for word in words:
            for form in (word, *forms_of(word)):
                self._pieces.setdefault(form, word)
                prefix = _fold(form)[:_PREFIX]
                if _SUFFIXING.fullmatch(prefix):
                    self._prefixes.add(prefix)
                else:
                    self._anything = True
        if words:
            self._typed.append(run)
        self._anything = self._anything or len(words) > 1
        return every

    def _pattern(self, others: str) -> re.Pattern[str]:
        """What begins like one of the words, where each letter may also be one of ``others``: letters with accents.

        It finds too much, for that is cheap. The class in front lets ``re`` jump from first letter to first letter. Accents
        are only asked for where a text has some: it takes 1 ms to compile their expression.
        """

        def spellings(letter: str) -> str:
            capitals = {letter.upper(), letter.title()}  # two kinds in Greek, of which the upper one may be two letters
            either = letter + "".join(sorted(capital for capital in capitals if len(capital) == 1))
            return f"[{re.escape(either)}{others if letter.isascii() else ''}]"

        firsts = "".join(sorted({spellings(prefix[0])[1:-1] for prefix in self._prefixes}))
        rests = "|".join("".join(map(spellings, prefix[1:])) for prefix in sorted(self._prefixes))
        return re.compile(rf"[{firsts}](?:{rests})[^\W_]*" if firsts else "(?!)")

    def _spaced(self, text: str) -> list[Place]:
        pattern, typed = self._bare, [_fold(run) for run in self._typed]
        if not text.isascii() and _ACCENT.search(text):
            pattern, typed = self._full or self._pattern(_ACCENTED), self._typed
            self._full = pattern
        limit = len(text)
        if self._anything or not all(map(pattern.fullmatch, typed)):  # the pattern would not find what was typed
            pattern, limit = _CHUNK, _LOOKED_THROUGH
        known = self._known
        found: list[Place] = []
        at = 0
        while at >= 0:
            begin, at = at, -1
            for match in pattern.finditer(text, begin, limit):
                spelling = match[0]
                piece = known.get(spelling)
                if piece == "":
                    continue
                start = match.start()
                if not spelling.isascii() and (sign := _UNSPACED.search(spelling)):  # a word ends there, and another may begin
                    at = start + max(1, sign.start())
                    spelling = spelling[: sign.start()]
                    piece = known.get(spelling)
                if piece is None:
                    ours = (self._pieces.get(word) for word in self._words_of(spelling))
                    piece = known[spelling] = next(filter(None, ours), "")
                if piece and spelling and not (start and text[start - 1].isalnum() and not is_unspaced(text[start - 1])):
                    found.append(Place(start, start + len(spelling), piece))
                    if len(found) == _ENOUGH:
                        at = -1
                        break
                if at >= 0:
                    break
        return self._with_phrases(text, found) if self._phrases and found else found

    def _with_phrases(self, text: str, found: list[Place]) -> list[Place]:
        """Where a phrase is in the text, its words count only there; where it is not, each of them counts."""
        whole: list[Place] = []
        settled: set[str] = set()
        for phrase in self._phrases:
            said = tuple(word for word in phrase if word not in self._idle)
            for at in range(len(found) - len(said) + 1):
                places = found[at : at + len(said)]
                if tuple(place.piece for place in places) == said:
                    start, end = places[0].start, places[-1].end
                    if end - start <= _LONGEST and tuple(self._words_of(text[start:end])) == phrase:
                        whole.append(Place(start, end, " ".join(said)))
                        settled.update(said)
        if not whole:
            return found
        kept = [place for place in found if place.piece not in settled or place.piece in self._alone]
        whole += [place for place in kept if not any(other.start <= place.start < other.end for other in whole)]
        return sorted(whole)

    def _unspaced(self, text: str) -> list[Place]:
        places = []
        for pair in self._pairs:
            at = text.find(pair)
            while at >= 0:
                places.append(Place(at, at + len(pair), pair))
                at = text.find(pair, at + 1)
        return places


def _alone(sign: str) -> str:
    """An expression for a symbol that is no part of another one, or of a word."""
    before, after = (r"\w" if end.isalnum() else _OF_SIGNS for end in (sign[0], sign[-1]))
    return f"(?<![{before}]){re.escape(sign)}(?![{after}])"


def _runs(text: str) -> list[str]:
    """The words of a text, those in scripts without spaces apart from their neighbours."""
    found: list[str] = []
    for match in _CHUNK.finditer(text):
        chunk, begin = match[0], 0
        for at in range(1, len(chunk) + 1):
            if at == len(chunk) or is_unspaced(chunk[at]) != is_unspaced(chunk[begin]):
                found.append(chunk[begin:at])
                begin = at
    return found


def signs(text: str) -> int:
    """Characters of scripts without spaces."""
    return len(_UNSPACED.findall(text))


def _fold(text: str) -> str:
    """In lower case, Latin letters without accents, as the index folds them."""
    if text.isascii():
        return text.lower()
    return "".join(_base(letter) for letter in text.lower())


def _base(letter: str) -> str:
    if not _ACCENT.match(letter):
        return letter
    base = _LETTERS.get(letter) or unicodedata.normalize("NFKD", letter)[0]
    return base if base.isascii() and base.isalpha() else letter


_LETTERS = {"ß": "s", "æ": "a", "œ": "o", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "t", "ı": "i"}
