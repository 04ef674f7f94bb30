"""How text becomes words, in the index and in queries alike. Stateless; fit for any thread.

A word is a run of letters and digits, in lower case, without accents (``Café`` is found by ``cafe``); words of 64 bytes and
more are left out. Of scripts without spaces every character is a word. Nothing is stemmed here: a query asks for all forms of
its words that the index has (`larm.index.stems`), which costs a crawl nothing and leaves quoted words exact.

Whoever changes any of it changes `WORDS` and `MIXED`: an index of other names is refused, ``larm reindex`` makes it anew.
"""

import tantivy

from larm.index.scripts import UNSPACED, is_plain
from larm.index.terms import Span, composed

WORDS = "larm-words-3"
"""For texts with spaces between words. Four times as fast as `MIXED`, and gives the same words for them."""
MIXED = "larm-mixed-3"
"""For texts in any script."""
_LONGEST = 64  # bytes; longer "words" are encoded data
_SIGN = rf"[{UNSPACED}\x{{20000}}-\x{{3ffff}}]"
_PATTERN = rf"{_SIGN}\p{{M}}*|[[\p{{Alphabetic}}\p{{N}}]--{_SIGN}]+"


def new_analyzer(name: str = MIXED) -> tantivy.TextAnalyzer:
    """The analyzer that is registered as ``name``."""
    tokens = tantivy.Tokenizer.simple() if name == WORDS else tantivy.Tokenizer.regex(_PATTERN)
    words = tantivy.TextAnalyzerBuilder(tokens)
    # accents go first: in lower case a Turkish \u0130 is an i with a point over it, which is no accent any more
    for step in (tantivy.Filter.remove_long(_LONGEST), tantivy.Filter.ascii_fold(), tantivy.Filter.lowercase()):
        words = words.filter(step)
    return words.build()


class AnyScript:
    """Texts in any script for fields whose analyzer is `WORDS`: what it does not split right comes as words already.

    With `MIXED` for headings and addresses tantivy takes 25 us more for a page. Not for stored fields: they would keep words.
    """

    def __init__(self) -> None:
        # constant after construction
        self._analyzer = new_analyzer(MIXED)

    def add(self, document: tantivy.Document, field: str, text: str) -> None:
        """Also for lone surrogates."""
        if is_plain(text):
            document.add_text(field, text)
        else:
            document.add_pre_tokenized_text(field, self._analyzer.pre_tokenize(encodable(composed(text))))


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
