"""One page read by the compiled walk and by the plain one: what they say of it must be the same, to the last mark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from larm.parse import hostile, lexbor_tree
from larm.parse.html import reading_of
from larm.parse.page import Reading


@contextmanager
def without_a_compiler() -> Iterator[None]:
    """As if nothing were compiled."""
    walk, quick = lexbor_tree.walk, hostile._quick
    lexbor_tree.walk, hostile._quick = lexbor_tree.plain_walk, hostile._Plain  # type: ignore[misc]
    try:
        yield
    finally:
        lexbor_tree.walk, hostile._quick = walk, quick  # type: ignore[misc]


def reading(body: bytes) -> Reading:
    """What larm says of a page."""
    return reading_of(body, lexbor_tree.read_tree)[0]


def differences(body: bytes) -> list[tuple[str, Any, Any]]:
    """(what, by the plain walk, by the compiled one), each where they differ."""
    found, warnings = reading_of(body, lexbor_tree.read_tree)
    with without_a_compiler():
        plain, plain_warnings = reading_of(body, lexbor_tree.read_tree)
    pairs = zip((*plain, plain_warnings), (*found, warnings), strict=True)
    return [(name, *pair) for name, pair in zip((*Reading._fields, "warnings"), pairs, strict=True) if pair[0] != pair[1]]
