"""From what a user types to the clauses of a query. Pure; never raises, whatever is typed.

Every clause must be found. A clause is a word, or several words in quotes, which must stand next to each other. Everything but
letters and digits only separates words: there is no syntax that one could get wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from larm.index.terms import Clause

_LONGEST = 2_000  # characters; more is a pasted page, not a question
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))
_PART = re.compile(r'"([^"]*)"|([^"]+)|"')  # a quote without its partner separates


def parse_query(text: str, words_of: Callable[[str], list[str]]) -> tuple[Clause, ...]:
    """The clauses of what a user typed, each one once; ``words_of`` analyses text as the index does."""
    clauses: dict[Clause, None] = {}
    for match in _PART.finditer(text[:_LONGEST].translate(_QUOTES)):
        phrase, plain = match[1], match[2]
        if phrase is not None:
            clauses[tuple(words_of(phrase))] = None
        elif plain is not None:
            clauses.update(dict.fromkeys((word,) for word in words_of(plain)))
    clauses.pop((), None)
    return tuple(clauses)
