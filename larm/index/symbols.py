"""Symbols: what a text has that is neither letters nor digits and yet is looked for: ``->``, ``c++``, ``--no-index``, ``%s``.

Pure. The writer has them in a field of their own; a query's are looked up there (`larm.index.units`). A symbol is an operator
of a programming language, an option of a command, a letter with ``%``, ``++`` or ``#``, or a name that begins with ``_``, ``$``
or ``@``. Rulers, bullets and dashes are none.
"""

import re

from larm.index.terms import Span
from larm.index.text_scan import sign_places

_LONGEST = 64
# From a place of `sign_places`. What stands before a sign is looked at after it.
_SYMBOL = re.compile(
    r"""
    . (?: (?<=_) (?<!\w_) \w+                                   # __init__
      | (?<=-) (?<![^\s("'\[`,|=]-) -?[A-Za-z][\w-]*            # -i, --no-index
      | (?<=[$@]) (?<![\w$@/&.]{2}) [A-Za-z_]\w*                # $libdir, @property
      | (?<=%) (?<![\w%]%) [A-Za-z]\b                           # %s
      | (?<=[A-Za-z]\+) \+ (?![\w+])                            # c++
      | (?<=\b[A-Za-z]\#) (?!\w)                                # c#
      | (?<![-+*=<>!&|^~:@?%]{2}) [-+*=<>!&|^~:@?%]{1,3} (?![-+*=<>!&|^~:@?%/])     # ->, :=
      | (?<=[=%^~@$<+!]) (?<!\S[=%^~@$<+!]) (?!\S)              # = between spaces
    )""",
    re.VERBOSE,
)
_WORD_BEFORE = re.compile(r"[A-Za-z0-9]+\Z")
_DOUBLE = frozenset(("::", "||", "&&", "==", "===", "<<", ">>", "**", "++", "??", "@@"))
"""Signs that are doubled and are no ruler."""


def symbols(text: str) -> list[Span]:
    """The symbols of a text in lower case, with their places: they include the letters that belong to them."""
    found = []
    end = 0
    for place in sign_places(text):
        match = _SYMBOL.match(text, place) if place >= end else None
        if match is None:
            continue
        symbol, start, end = match[0], place, match.end()
        last = symbol[-1]
        if len(symbol) > _LONGEST or (symbol[0] == last and len(symbol) > 1 and not last.isalpha() and not _is_one(symbol)):
            continue
        if symbol in {"++", "#"} and (before := _WORD_BEFORE.search(text, max(0, start - _LONGEST), start)):
            symbol, start = before[0] + symbol, before.start()
        found.append(Span(symbol.lower(), start, end))
    return found


def _is_one(symbol: str) -> bool:
    """Of those that begin and end with the same sign: no ruler, no emphasis."""
    return symbol in _DOUBLE or any(sign != symbol[0] for sign in symbol)
