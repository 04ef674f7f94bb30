"""Sections: the headings of a page that have an address of their own, so that a result can lead there. Pure.

Each is a line: the fragment of its address, a tab, its heading. Made by the index storage for each page, stored with it, and
read by `larm.index.search.passages`.
"""

import re
from collections.abc import Sequence
from itertools import zip_longest

from larm.index.terms import composed

_FRAGMENT = re.compile(r"[^\s\x00-\x1f]{1,200}")
"""What HTML allows as an id, if it is no text by accident."""


def sections(headings: Sequence[str], places: Sequence[str]) -> str:
    """Of the headings those that have a place."""
    named = zip_longest(headings[: len(places)], places, fillvalue="")
    return "\n".join([f"{place}\t{heading}" for heading, place in named if heading and _FRAGMENT.fullmatch(place)])


def section_at(stored: str, body: str, at: int) -> str:
    """The fragment of the section that the character ``at`` of the main text is in; empty where it is in none.

    Headings are lines of the text, as the index has it. They are looked for from its end: lists of contents, which say the
    same, are at the top.
    """
    text, end = f"\n{body}\n", len(body) + 2
    for line in reversed(stored.split("\n")):
        place, _, heading = line.partition("\t")
        begin = text.rfind(f"\n{composed(heading)}\n", 0, end) if place else -1
        if 0 <= begin <= at:
            return place
        end = end if begin < 0 else begin + 1
    return ""
