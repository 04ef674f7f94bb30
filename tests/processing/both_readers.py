"""One page read in one pass and by its tree: what they say of it must be the same."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from larm.model.crawl_hash import page_hash
from larm.processing import parts
from larm.processing.page import Reading
from larm.processing.regular import read_regular
from larm.processing.tree import read_tree

_NAMES = {"\n": "block", " ": "paragraph", "\t": "item", "\r": "heading"}
_NAMES |= {"\f": "box", "\v": "end of box", "\x1c": "light box", "\x1d": "end of light box"}
_MARK = re.compile(r"\s*\0(.)\s*", re.DOTALL)
_OF_ANCHOR = frozenset(("href", "rel", "xlink:href"))
"""The attributes of an anchor that anybody asks for: the others are left out in one pass."""


def differences(body: bytes) -> list[tuple[str, Any, Any]] | None:
    """(what, by the tree, in one pass), each where they differ; None for an irregular page."""
    found = read_regular(body, text=True)
    if found is None:
        return None
    whole = _whole(body)
    tree, one = _plain(read_tree(body, text=True)[0]), _plain(whole)
    return [(name, tree[name], one[name]) for name in tree if tree[name] != one[name]] + _differences_apart(found, whole)


def _whole(body: bytes) -> Reading:
    """A regular page in one pass, with its text with marks."""
    read = import_module("larm.processing.regular.page").read
    return Reading(*read(body, True, apart=False))


def _differences_apart(found: Reading, whole: Reading) -> list[tuple[str, Any, Any]]:
    """The same where a plain page is taken apart while it is read, and where that is done with its text with marks."""
    plain = parts._plain(whole.marked, whole.boxes)
    wanted = parts.split(whole.marked, whole.boxes, whole.anchors, whole.headings)
    one = parts.split(found.marked, found.boxes, found.anchors, found.headings, found.plain)
    pairs = {
        "plain": (plain is not None, found.plain is not None),
        "text with marks": (whole.marked if plain is None else "", found.marked),
        "main text": (wanted.main, one.main),
        "other text": (wanted.other, one.other),
        "headings of the parts": (wanted.headings, one.headings),
        "letters of the parts": (whole.letters, found.letters),
    }
    return [(name, *pair) for name, pair in pairs.items() if pair[0] != pair[1]]


def is_plain(body: bytes) -> bool | None:
    """Whether a page is taken apart while it is read; None for an irregular one."""
    found = read_regular(body, text=True)
    return None if found is None else found.plain is not None


def differences_without_text(body: bytes) -> list[tuple[str, Any, Any]] | None:
    """The same where no text is wanted: of links only where they lead, as their texts are rougher by the tree then."""
    found = read_regular(body, text=False)
    if found is None:
        return None
    tree, one = _plain(read_tree(body, text=False)[0]), _plain(found)
    for plain in (tree, one):
        plain["elements"] = [(tag, attributes) for tag, attributes, _ in plain["elements"]]
    names = ("title", "elements", "about", "language")
    return [(name, tree[name], one[name]) for name in names if tree[name] != one[name]]


def _plain(reading: Reading) -> dict[str, Any]:
    plain = reading._asdict()
    plain["marked"] = _words(reading.marked)
    plain["letters"] = page_hash(reading.title, reading.marked, reading.letters)
    plain["boxes"] = [tuple(box) for box in reading.boxes]
    plain["headings"] = None if reading.headings is None else [_words(each) for each in reading.headings]
    plain["elements"] = [
        (tag, {name: value for name, value in attributes.items() if tag != "a" or name in _OF_ANCHOR}, text)
        for tag, attributes, text in reading.elements
    ]
    return plain


def _words(marked: str) -> str:
    """White space between a mark and a word says nothing; some of it stands elsewhere in the tree, or not at all."""
    named = _MARK.sub(lambda mark: f" <{_NAMES[mark[1]]}> ", marked)
    return " ".join(named.split())
