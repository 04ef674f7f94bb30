"""The budget of steps and memory for parsing a page. Called by the HTML readers; pure.

The standard's algorithm is quadratic in three cases: deep nesting (each tag may climb the open elements), formatting
elements left open (each paragraph opens all of them again: 50 KB make 14 million nodes), very many attributes of one tag.
A parser gets the page chunk by chunk until the budget for the first two is spent; the third is checked before. Real pages stay
far below. ``effort`` (``processing.effort``) multiplies the limits.
"""

import re
from typing import Final, NamedTuple

MAX_WORK: Final = 200_000_000
"""Steps up the open elements: a third of a second."""
MAX_COPIES: Final = 300_000
"""Number of reopened formatting elements."""
COPY: Final = 380
"""Bytes of a reopened element."""
MAX_ATTRIBUTES: Final = 5_000
"""Number of attributes of a tag."""

_HUGE = 40_000  # bytes of a tag that may have too many attributes
_HUGE_TAG = re.compile(rb"<[a-z][^>]{%d,}" % _HUGE, re.IGNORECASE)
_QUOTED = re.compile(rb"=\s*(?:\"[^\"]*\"|'[^']*')")
_ATTRIBUTE = re.compile(rb"[\s/][^\s/>=]")


class Budget(NamedTuple):
    """The limits for the tree of a page."""

    steps: int
    """Steps up the open elements."""
    memory: int
    """Bytes beyond the usual size of a tree."""


def budget(effort: int = 1) -> Budget:
    """Return the budget of a page."""
    return Budget(MAX_WORK * effort, MAX_COPIES * COPY * effort)


def spent(end: int) -> str:
    """Return the warning about a page that was read up to this byte."""
    return f"nested too deep at byte {end}; the rest of the page is ignored"


def before_huge_tag(body: bytes, effort: int = 1) -> tuple[bytes, list[str]]:
    """Return the page, or its part before a tag with too many attributes, and warnings."""
    if len(body) <= _HUGE or (match := _huge_tag(body, effort)) is None:
        return body, []
    return body[: match.start()], [f"a tag of {match.end() - match.start()} bytes; the rest of the page is ignored"]


def _huge_tag(body: bytes, effort: int) -> re.Match[bytes] | None:
    place = 0
    while len(body) - place > _HUGE:
        end = body.rfind(b">", place, place + _HUGE) + 1
        if not end:
            break
        place = end
    else:
        return None  # no stretch of that length without the end of a tag: nearly all pages
    for match in _HUGE_TAG.finditer(body, place):
        if len(_ATTRIBUTE.findall(_QUOTED.sub(b" ", match[0]))) > MAX_ATTRIBUTES * effort:
            return match
    return None
