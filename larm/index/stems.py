"""Stems: which forms of a word belong together, by language. Stateless once made; fit for any thread.

Snowball's algorithms and lists of function words, as tantivy has them. They are asked at query time only: a word of a query
stands for all words of the index with its stem.
"""

import re
import unicodedata
from collections.abc import Sequence

import tantivy

from larm.index.analysis import Analyzer, encodable
from larm.index.function_words import FUNCTION_WORDS

_NAMES = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
_SAME = {"nb": "no", "nn": "no"}
LANGUAGES = frozenset(_NAMES)
"""ISO 639-1 codes of those that can be stemmed."""
_WITHOUT_LIST = frozenset({"ta", *FUNCTION_WORDS})
_LETTERS = {"ar": "ابتثجحخدذرزسشصضطظعغفقكلمنهويأإآءئؤ", "el": "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώϊϋΐΰ"}
"""Letters that a word can begin with, where the forms of a word need not begin alike: articles and conjunctions are written as
a part of it, or accents move, which besides nobody types."""

_PLURAL = re.compile(r"(?:(?<=ss)es|(?<=[^su])s)$")
_OF_VERBS = re.compile(r"^([^aeiouy]*[aeiouy]\w*?)(?:ed|ing|e)+$")
"""Also that of the verb itself, of ``need`` as of ``needed``."""
_DOUBLED = re.compile(r"([bdfglmnprt])\1$")


class Stemmer:
    """Stems of one language. Raises KeyError for one that is not in `LANGUAGES`."""

    def __init__(self, language: str) -> None:
        # constant after construction
        self.language = _SAME.get(language, language)
        words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        words = words.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.stemmer(_NAMES[self.language]))
        self._analyzer = words.build()
        self._ours = frozenset(Analyzer().words(FUNCTION_WORDS.get(self.language, "")))
        self._list: tantivy.TextAnalyzer | None = None
        if self.language not in _WITHOUT_LIST:
            plain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
            self._list = plain.filter(tantivy.Filter.stopword(_NAMES[self.language])).build()

    def is_function_word(self, word: str) -> bool:
        """In the language's list, in lower case: ``the``, ``und``. Never, where there is no list."""
        if self._list is None:
            return word in self._ours
        return not self._list.analyze(encodable(word))

    def stem(self, word: str) -> str:
        """The stem of one word; what is no word comes back as it is."""
        stems = self._analyzer.analyze(encodable(word))
        return self._folded(stems[0]) if len(stems) == 1 else word

    def stems(self, words: Sequence[str]) -> list[str]:
        """The stems of many words without white space, in one call."""
        return [self._folded(stem) for stem in self._analyzer.analyze(" ".join(words))]

    def _folded(self, stem: str) -> str:
        """Greek without its accents; the index folds those of Latin letters only."""
        if self.language != "el":
            return stem
        return "".join(each for each in unicodedata.normalize("NFD", stem) if not unicodedata.combining(each))

    def is_inflection(self, word: str, form: str) -> bool:
        """Of two words with one stem: they differ by an ending that makes no other word of it. English alone has rules for
        that; in other languages Snowball's endings are mostly such."""
        return self.language != "en" or _uninflected(word) == _uninflected(form)

    @property
    def letters(self) -> str:
        """What words can begin with, if forms of a word need not begin alike; empty if they do."""
        return _LETTERS.get(self.language, "")

    def beginning(self, word: str) -> str:
        """Every word with the stem of ``word`` begins so, in most languages; two letters at least."""
        same = 0
        for mine, its in zip(word, self.stem(word), strict=False):
            if mine != its:
                break
            same += 1
        return word[: max(same, 2)]


def _uninflected(word: str) -> str:
    """An English word without what Porter's first step takes off, which are endings of plurals and verbs."""
    word = _DOUBLED.sub(r"\1", _OF_VERBS.sub(r"\1", _PLURAL.sub("", word)))
    return word[:-1] + "i" if word.endswith("y") else word
