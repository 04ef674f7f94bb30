"""How text becomes words, in the index and in queries alike. Stateless; fit for any thread.

A word is a run of letters and digits, in lower case, without accents (``Café`` is found by ``cafe``); words of 64 bytes and
more are left out. Whoever changes any of it changes `NAME`: an index of another name is refused, it has to be crawled again.
"""

from __future__ import annotations

import tantivy

from larm.index.terms import Span

NAME = "larm-1"
_LONGEST = 64  # bytes; longer "words" are encoded data


def new_analyzer() -> tantivy.TextAnalyzer:
    """The analyzer that is registered as `NAME`."""
    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (tantivy.Filter.remove_long(_LONGEST), tantivy.Filter.lowercase(), tantivy.Filter.ascii_fold()):
        words = words.filter(step)
    return words.build()


class Analyzer:
    """Words of a text; never raises, also not for the lone surrogates of a badly encoded command line."""

    def __init__(self) -> None:
        # constant after construction
        self._analyzer = new_analyzer()

    def words(self, text: str) -> list[str]:
        """The words of ``text``, in order."""
        return list(self._analyzer.analyze(encodable(text)))

    def spans(self, text: str) -> list[Span]:
        """The words of ``text`` with their places."""
        tokens = self._analyzer.pre_tokenize(encodable(text)).tokens
        return [Span(token.text, token.char_offset_from, token.char_offset_to or token.char_offset_from) for token in tokens]


def encodable(text: str) -> str:
    """The text with a ``?`` for each lone surrogate: tantivy takes only what UTF-8 can say. The length stays the same."""
    return text.encode("utf-8", "replace").decode("utf-8")
