"""The address of the passage of a page that a result shows: browsers scroll there and mark it (text fragments). Pure.

The index does not know the names that a page gives to its places, but browsers find a text: ``URL#:~:text=WORDS``. The words
are of one line of the page's text, as browsers do not look across blocks, and occur once. Where they are not found, as a page
has changed meanwhile, it is shown from its top.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from larm.model.hit import Part

_MOST_WORDS = 8
_OF_HTML = frozenset({"text/html", "application/xhtml+xml"})
_WORD = re.compile(r"\S+")
_LONGEST = 120
"""Characters of the text in the address."""


def passage_address(url: str, mime: str, body: str, parts: Sequence[Part]) -> str:
    """Empty where it is no web page, or no such words are there; ``parts`` are the passage, ``body`` the text it is of."""
    if mime not in _OF_HTML or not url.startswith(("http://", "https://")) or "#" in url:
        return ""
    for words in _marked(parts):
        text = _one_place(words, body)
        if text:
            return f"{url}#:~:text={quote(text, safe='').replace('-', '%2D')}"
    return ""


def _marked(parts: Sequence[Part]) -> list[list[str]]:
    """For each marked word, it and the words that follow it in the passage."""
    found = []
    for at, (text, marked) in enumerate(parts):
        if marked:
            rest = text + "".join(each for each, _ in parts[at + 1 :])
            found.append(_WORD.findall(rest.partition("…")[0])[:_MOST_WORDS])
    return found


def _one_place(words: Sequence[str], body: str) -> str:
    """As few of the words as there is one place of, two or more; empty where there is none, or several."""
    for count in range(2, len(words) + 1):
        text = " ".join(words[:count])
        if len(text) > _LONGEST:
            return ""
        places = body.count(text)
        if places == 1:
            at = body.index(text)
            before, after = body[at - 1 : at], body[at + len(text) : at + len(text) + 1]
            return "" if before.isalnum() or after.isalnum() else text
        if not places:
            return ""
    return ""
