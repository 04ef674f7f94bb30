"""Forms: the words of the index that a word of a query stands for. Used by the reader, on its thread.

``crawler`` also finds ``crawlers``: all words of the main texts that have its stem in one of the languages of the index. Stems
are thus a matter of queries alone: the index has each word as it is, half as much work for its threads, and the form that was
typed can count more than the others.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import tantivy

from larm.index.scripts import is_unspaced
from larm.index.stems import Stemmer
from larm.index.synonyms import NONE, Synonyms

_SHORTEST = 3
"""Shorter words stand for themselves."""
_MOST = 24
"""Forms of a word, the most frequent ones."""
_SCANNED = 3_000
"""Words with the same beginning that are looked at, the most frequent ones; half a millisecond."""
_DICTIONARY = 20_000
"""Words of each letter, the most frequent ones, where all of them have to be looked at."""
_REMEMBERED = 10_000


class Form(NamedTuple):
    """A word of the index."""

    word: str
    pages: int
    """Pages that have it in the field."""
    synonym: bool = False
    """The user says that it means the same."""
    derived: bool = False
    """Made of it, or it of this: another word, which may mean something else (``multiple`` for ``multiplication``)."""


class Forms:
    """For one field of one state of an index, and the languages that its pages are in."""

    def __init__(self, searcher: tantivy.Searcher, field: str, languages: Iterable[str], synonyms: Synonyms = NONE) -> None:
        # constant after construction
        self._synonyms = synonyms.words
        self._searcher = searcher
        self._field = field
        self._stemmers = [Stemmer(language) for language in languages]
        # only the reader's thread
        self._known: dict[str, tuple[Form, ...]] = {}
        self._dictionaries: dict[str, dict[str, list[tuple[str, int]]]] = {}

    def of(self, word: str, *, derived: bool = True) -> tuple[Form, ...]:
        """The word itself first, even if no page has it. ``derived``: and the words that are made of it, or it of them."""
        found = self._of(word)
        return found if derived else tuple(form for form in found if not form.derived)

    def _of(self, word: str) -> tuple[Form, ...]:
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[word] = self._with_synonyms(self._find(word))
        return found

    def _with_synonyms(self, forms: tuple[Form, ...]) -> tuple[Form, ...]:
        """Those of any of the forms, in all forms of their own."""
        if not self._synonyms:
            return forms
        others = dict.fromkeys(other for form in forms for other in self._synonyms.get(form.word, ()))
        found = {form.word: form._replace(synonym=True) for other in others for form in self._find(other)}
        return (*forms, *(form for word, form in found.items() if word not in {each.word for each in forms}))

    def stems(self, words: Sequence[str]) -> list[str]:
        """Of words without white space, in the language that most pages are in."""
        return self._stemmers[0].stems(words) if self._stemmers else list(words)

    def is_function_word(self, word: str) -> bool:
        """One of those that say nothing of what a text is about: articles, prepositions and the like."""
        return any(stemmer.is_function_word(word) for stemmer in self._stemmers)

    def _find(self, word: str) -> tuple[Form, ...]:
        itself = Form(word, int(self._searcher.doc_freq(self._field, word)))
        if not can_have_forms(word):
            return (itself,)
        found: dict[str, int] = {}
        inflections: set[str] = set()
        for stemmer in self._stemmers:
            stem, pairs = stemmer.stem(word), list[tuple[str, int]]()
            if word[0] in stemmer.letters:
                pairs = self._dictionary(stemmer).get(stem, [])
            elif not stemmer.letters:
                pairs = [pair for pair, its in self._stemmed(stemmer, stemmer.beginning(word), _SCANNED) if its == stem]
            found.update(pairs)
            inflections.update(form for form, _ in pairs if stemmer.is_inflection(word, form))
        found.pop(word, None)
        others = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        return (itself, *(Form(*pair, derived=pair[0] not in inflections) for pair in others[:_MOST]))

    def _stemmed(self, stemmer: Stemmer, beginning: str, limit: int) -> Iterable[tuple[tuple[str, int], str]]:
        """Words of the index that begin so, each with the number of pages, and with its stem."""
        near = self._searcher.terms_with_prefix(self._field, beginning, limit=limit)
        return zip(near, stemmer.stems([each for each, _ in near]), strict=True)

    def _dictionary(self, stemmer: Stemmer) -> dict[str, list[tuple[str, int]]]:
        """By stem, the words of a language of which no beginning says anything: 0.1 s for a large index, once."""
        found = self._dictionaries.get(stemmer.language)
        if found is None:
            found = self._dictionaries[stemmer.language] = {}
            for letter in stemmer.letters:
                for pair, stem in self._stemmed(stemmer, letter, _DICTIONARY):
                    found.setdefault(stem, []).append(pair)
        return found


def can_have_forms(word: str) -> bool:
    """Others stand for themselves alone."""
    return len(word) >= _SHORTEST and _is_letters(word) and not is_unspaced(word)


def _is_letters(word: str) -> bool:
    """Letters, and the signs on them: vowels are such signs in Arabic, Hebrew and the scripts of India."""
    return all(each.isalpha() or unicodedata.category(each) in {"Mn", "Mc"} for each in word)
