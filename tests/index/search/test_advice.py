from __future__ import annotations

import pytest

from larm.index.search.advice import advice
from larm.index.search.query import parse_question
from larm.index.tree import All, Node, Not, Word

PAGES = {"a": {1, 2}, "b": {3}, "bb": {3}}


def count(node: Node) -> int:
    """On an index of three pages, all on one host."""

    def found(node: Node) -> set[int]:
        match node:
            case Word(text):
                return PAGES.get(text, set())
            case Not(item):
                return {1, 2, 3} - found(item)
            case All(items):
                return set.intersection(*map(found, items))
            case _:
                return set()

    return len(found(node))


@pytest.mark.parametrize(
    ("query", "sentences"),
    [
        ("", []),
        ("x", ['no page has "x"']),
        ("x" * 99, [f'no page has "{"x" * 40}…"']),
        ("a x y", ['no page has "x", "y"']),
        ('a "x y"', ['no page has "x y"']),
        ("a b", ["each of the words is found, but on no page all of them; OR between two asks for either"]),
        ("a site:b.org", ["without the conditions, 2 pages are found"]),
        ("bb -bb", ["without what must not be there, 1 page is found"]),
        ("site:b.org", []),
        ("intitle:x", ['no page has "x"']),
        ("intitle:a", ["without intitle:, 2 pages are found"]),
        ("intitle:b inurl:bb", ["without intitle: and inurl:, 1 page is found"]),
        ("inurl:a site:b.org", ["without the conditions, 2 pages are found"]),
    ],
)
def test_advice(query: str, sentences: list[str]) -> None:
    assert advice(parse_question(query).tree, count) == sentences
