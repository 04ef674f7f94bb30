"""accented: the words of a text with accents, as they are written. Pure; called by the writer, and for words of queries.

The index folds accents, as many people don't type them. Who does means them: in Vietnamese ``má``, ``mà``, ``mả``, ``mã`` and
``mạ`` are five words. So those that are folded are also kept as they are, in the field of the symbols.
"""

import re

from larm.index.text_scan import accented_words

_ACCENTED = "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
_WORD = re.compile(f"(?<![A-Za-z0-9])[A-Za-z0-9]*+[{_ACCENTED}][A-Za-z0-9{_ACCENTED}]*")
_LONGEST = 64


def accented(text: str) -> list[str]:
    """In lower case, in their order; ``text`` is composed (`larm.index.terms`). Nearly free without accents."""
    words = [] if text.isascii() else accented_words(text)
    return [word for word in _WORD.findall(" ".join(words).lower()) if len(word) <= _LONGEST] if words else []
