"""The tree of a query: what `larm.index.search.query` makes of a typed text, for `larm.index.compile`. Pure.

Words are in it as they were typed; how they become terms (case, stems, languages without spaces) is the index's affair. Only
words and phrases count for the score; everything else lets a page in or keeps it out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec


class Word(msgspec.Struct, frozen=True):
    """A run of characters without white space. It may be several words of the index: ``node.js``, or Chinese."""

    text: str


class Phrase(msgspec.Struct, frozen=True):
    """Words that must stand next to each other, in this order."""

    text: str


class In(msgspec.Struct, frozen=True):
    """A word or phrase that must be in one part of the page."""

    field: Literal["title", "url"]
    item: Word | Phrase


class Meta(msgspec.Struct, frozen=True):
    """A meta word (YIOOP-66), see `larm.index.meta_words`; both parts in lower case."""

    name: str
    value: str


class Dates(msgspec.Struct, frozen=True):
    """Pages that were changed within ``low <= time < high``, in seconds since 1970; None: no bound."""

    low: int | None = None
    high: int | None = None


class Linking(msgspec.Struct, frozen=True):
    """Pages with a link to the address. The index does not know links: `larm.index.search` puts `Pages` in its place."""

    url: str


class Info(msgspec.Struct, frozen=True):
    """The page with this address, as typed. `larm.index.search` puts `Pages` in its place."""

    url: str


class Pages(msgspec.Struct, frozen=True):
    """The pages with these addresses, in either form."""

    urls: tuple[str, ...]


class Not(msgspec.Struct, frozen=True):
    """What must not be."""

    item: Node


class All(msgspec.Struct, frozen=True):
    """Every one of these."""

    items: tuple[Node, ...]


class Any(msgspec.Struct, frozen=True):
    """At least one of these."""

    items: tuple[Node, ...]


Node: TypeAlias = Word | Phrase | In | Meta | Dates | Linking | Info | Pages | Not | All | Any


class Question(msgspec.Struct, frozen=True):
    """What was asked, and what there is to say about how it was asked."""

    tree: Node | None
    """None: nothing to search for."""
    notes: tuple[str, ...] = ()
    """Sentences for the user about what was ignored and why."""


def wanted(node: Node | None) -> Iterator[Word | Phrase]:
    """The words and phrases that a page is to have, in their order: what scores, and what is marked in snippets."""
    match node:
        case Word() | Phrase():
            yield node
        case In():
            yield node.item
        case All(items) | Any(items):
            for item in items:
                yield from wanted(item)
        case _:
            return


def split(node: Node | None) -> tuple[tuple[Word, ...], Node | None]:
    """The plain words that stand at the top, and the rest.

    A softer search leaves out some of the words; what the user wrote with an operator stays a condition.
    """
    items = node.items if isinstance(node, All) else () if node is None else (node,)
    words = tuple(item for item in items if isinstance(item, Word))
    rest = tuple(item for item in items if not isinstance(item, Word))
    return words, join(rest)


def loosened(node: Node | None) -> Node | None:
    """The same without quotes at the top: words of phrases are words as others."""
    items = node.items if isinstance(node, All) else () if node is None else (node,)
    return join(
        tuple(each for item in items for each in (map(Word, item.text.split()) if isinstance(item, Phrase) else (item,)))
    )


def join(items: tuple[Node, ...]) -> Node | None:
    """All of them; None where there are none."""
    return None if not items else items[0] if len(items) == 1 else All(items)
