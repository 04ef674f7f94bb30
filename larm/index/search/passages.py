"""The address of the passage of a page that a result shows: browsers scroll there and mark it (text fragments). Pure.

Browsers find a text: ``URL#SECTION:~:text=WORDS``. The words are of one line of the page's text, as browsers do not look
across blocks, and occur once. Where they are not found, as a page has changed meanwhile, or where a browser does not look for
them, it is shown from the heading of the section, and from its top where that has no name.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from larm.index.sections import section_at
from larm.model.hit import Part

_MOST_WORDS = 8
_IN_FRAGMENTS = "!$&'()*+,;=:@/?"
_OF_HTML = frozenset({"text/html", "application/xhtml+xml"})
_LONGEST = 120
"""Characters of the text in the address."""


def passage_address(url: str, mime: str, body: str, parts: Sequence[Part], sections: str = "") -> str:
    """Empty where it is no web page, or no such words are there; ``parts`` are the passage, ``body`` the text it is of.

    ``sections``: those of the page (`larm.index.sections`).
    """
    if mime not in _OF_HTML or not url.startswith(("http://", "https://")) or "#" in url:
        return ""
    for words in _marked(parts):
        text = _one_place(words, body)
        if text:
            section = quote(section_at(sections, body, body.find(text)), safe=_IN_FRAGMENTS) if sections else ""
            return f"{url}#{section}:~:text={quote(text, safe='').replace('-', '%2D')}"
    return ""


def _marked(parts: Sequence[Part]) -> Iterator[list[str]]:
    """For each marked word, it and the words that follow it in the passage."""
    shown, at = "".join(text for text, _ in parts), 0
    for text, marked in parts:
        if marked:
            yield shown[at : at + 2 * _LONGEST].partition("…")[0].split(maxsplit=_MOST_WORDS)[:_MOST_WORDS]
        at += len(text)


def _one_place(words: Sequence[str], body: str) -> str:
    """As few of the words as there is one place of, two or more; empty where there is none, or several."""
    at = 0
    for count in range(2, len(words) + 1):
        text = " ".join(words[:count])
        if len(text) > _LONGEST:
            return ""
        at = body.find(text, at)
        if at >= 0 and body.find(text, at + 1) < 0:
            before, after = body[at - 1 : at], body[at + len(text) : at + len(text) + 1]
            return "" if before.isalnum() or after.isalnum() else text
        if at < 0:
            return ""
    return ""
