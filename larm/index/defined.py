"""defined: the names that a text explains, as manuals do: each begins a line that has nothing else but what it takes.

Pure. The writer keeps them beside symbols and accents, each behind a `SIGN`: who asks for ``core.autocrlf`` is looking for the
entry of that name, in however long a page, and not for a short page that mentions it. Retrieval and the search for entries ask
which names words make `together`.
"""

import re
from collections.abc import Sequence

from larm.index.text_scan import name_spans

SIGN = "="
# a call is no entry unless there is a permalink behind it: examples have calls, too
_BEHIND = re.compile(
    r"(?:\([^\n]{0,300}\u00b6|[ \t]{1,2}\([^\n()]{0,40}\)|[ \t]{0,2}\u00b6?)[ \t]{0,2}$",
    re.MULTILINE | re.ASCII,
)
_JOINT = re.compile(r"[._]|::")
_LONGEST = 63
_MOST_WORDS = 4
"""Of a name that is typed as words of their own: a longer one is a question."""


def defined(text: str) -> list[str]:
    """In lower case, each once; names that have several words, as others stand on lines of their own for any reason."""
    names = dict.fromkeys([text[begin:end].lower() for begin, end in name_spans(text) if _BEHIND.match(text, end)])
    return [SIGN + name for name in names if len(name) <= _LONGEST and _JOINT.search(name)]


def together(words: Sequence[str]) -> list[str]:
    """The names that words typed one by one may be: ``select_for_update`` and ``select.for.update``; none for one word, for
    many, and for what is no plain word."""
    plain = 1 < len(words) <= _MOST_WORDS and all(word.isascii() and word.isalnum() for word in words)
    return [joint.join(words) for joint in "_."] if plain else []
