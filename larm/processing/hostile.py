"""Pages that would keep a parser busy for minutes, or fill the memory: they are cut where that begins. Pure; any thread.

The standard's algorithm is quadratic in three cases: deep nesting (each start tag climbs the open elements), formatting
elements left open (each paragraph opens all of them again: 50 KB make 14 million nodes), very many attributes of one tag.
Real pages come nowhere near; they pay two counts.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

HARMLESS: Final = 1_000
"""Tags that can't make more than 250,000 nodes (100 MB), whatever they are."""
SHALLOW: Final = 20_000
"""Tags that can't take half a second, however deep they are nested."""
MAX_WORK: Final = 200_000_000
"""Steps up the open elements: a third of a second."""
MAX_COPIES: Final = 300_000
"""Formatting elements opened again: 380 bytes each."""
MAX_ATTRIBUTES: Final = 5_000
"""Of one tag."""

_FORMATTING = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
_STYLED = re.compile(rb"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/][^>]*")
# These don't nest, or close each other.
_FLAT = frozenset(
    b"a area base br col embed hr img input link meta param source track wbr p li td th tr tbody option dt dd".split()
)
_LEVEL, _STYLE, _NESTING = "does not nest", "formatting", "any other"
_KINDS = dict.fromkeys(_FLAT, _LEVEL) | dict.fromkeys(_FORMATTING, _STYLE)
_TAG = re.compile(rb"<(/?)([a-z][^\s/>]*)")
_HUGE_TAG = re.compile(rb"<[a-z][^>]{40000,}", re.IGNORECASE)
_QUOTED = re.compile(rb"=\s*(?:\"[^\"]*\"|'[^']*')")
_ATTRIBUTE = re.compile(rb"[\s/][^\s/>=]")


def cut(body: bytes) -> tuple[bytes, list[str]]:
    """(the page or its harmless beginning, warnings)."""
    tags = body.count(b"<")
    if len(body) > 100_000 and (match := _huge_tag(body)) is not None:
        return body[: match.start()], [f"a tag of {match.end() - match.start()} bytes; the rest of the page is ignored"]
    if tags <= HARMLESS:
        return body, []
    closed = body.count(b"</")
    if tags <= SHALLOW and (tags - 2 * closed) * (tags - closed) < MAX_COPIES:
        return body, []  # what is closed is not opened again: nearly all pages end here, after two counts
    # An element that is formatted like three open ones isn't opened again (the Noah's Ark clause): only variety does harm.
    styles = len(set(_STYLED.findall(body.lower())))
    if tags <= SHALLOW and (3 * styles + 40) * tags < MAX_COPIES:
        return body, []
    end = _harmful(body, 3 * styles + 40)
    return (body, []) if end is None else (body[:end], [f"nested too deep at byte {end}; the rest of the page is ignored"])


def _huge_tag(body: bytes) -> re.Match[bytes] | None:
    for match in _HUGE_TAG.finditer(body):
        if len(_ATTRIBUTE.findall(_QUOTED.sub(b" ", match[0]))) > MAX_ATTRIBUTES:
            return match
    return None


def _harmful(body: bytes, variety: int) -> int | None:
    """Where the parser would have done too much; None if nowhere. Counts the open elements, roughly.

    ``variety``: formatting elements that can be opened again at once.
    """
    depth = styled = work = copies = 0
    tags = _TAG.findall(body.lower())
    for number, (end, name) in enumerate(tags):
        kind = _KINDS.get(name, _NESTING)
        if end:
            if kind is not _LEVEL and depth:
                depth -= 1
            if kind is _STYLE and styled:
                styled -= 1
        else:
            work += depth
            if kind is not _LEVEL:
                depth += 1
            if kind is _STYLE:
                styled += 1
            elif styled:
                copies += min(variety, styled)
            if work > MAX_WORK or copies > MAX_COPIES:
                return next(islice(_TAG.finditer(body.lower()), number, None)).start()
    return None
