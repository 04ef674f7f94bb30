"""From the tree of a query to a query of tantivy. Called by the reader, on its thread.

Words are compiled by who knows the fields and their weights (`Words`). All else only decides whether a page is in, and adds
nothing to its score. `None` is what says nothing: a word without letters, a group of such words; it is left out, so that
``+++ vacuum`` finds what ``vacuum`` finds.
"""

from collections.abc import Callable
from typing import Literal

import tantivy

from larm.index import fields
from larm.index.analysis import encodable
from larm.index.meta_words import meta_word
from larm.index.tree import All, Any, Dates, In, Info, Linking, Meta, Node, Not, Pages, Phrase, Word

Words = Callable[[Literal["any", "title", "url"], Word | Phrase], tantivy.Query | None]
"""The query for a word or phrase in any field, in the title or in the address; None if no word of the index is in it."""

_THIS = 1_000.0
"""What the page counts whose address was typed: more than any words."""
_NEVER = 2**63  # seconds since 1970; tantivy takes no open end that excludes


class Compiler:
    """Compiles trees for one schema."""

    def __init__(self, schema: tantivy.Schema, words: Words) -> None:
        # constant after construction
        self._schema = schema
        self._words = words

    def compile(self, node: Node | None) -> tantivy.Query | None:  # noqa: PLR0911 - a line for each kind of node
        """The query; None where there is nothing to search for."""
        match node:
            case Word() | Phrase():
                return self._words("any", node)
            case In(field, item):
                return self._words(field, item)
            case Meta(name, value):
                return _filter(
                    tantivy.Query.term_query(self._schema, fields.META, encodable(meta_word(name, value)), index_option="basic")
                )
            case Dates(low, high):
                return _filter(self._between(low, high))
            case Pages(urls):
                return _filter(self._pages(urls))
            case Not():
                return self._all((node,))
            case All(items):
                return self._all(items)
            case Any(items):
                return self._any(items)
            case Linking() | Info():  # nobody has looked them up
                return tantivy.Query.empty_query()
            case None:
                return None

    def _all(self, items: tuple[Node, ...]) -> tantivy.Query | None:
        """Each of the items; tantivy wants something to exclude the excluded from."""
        parts: list[tuple[tantivy.Occur, tantivy.Query]] = []
        for item in items:
            occur, inner = (tantivy.Occur.MustNot, item.item) if isinstance(item, Not) else (tantivy.Occur.Must, item)
            query = self.compile(inner)
            if query is not None:
                parts.append((occur, query))
        if not parts:
            return None
        if all(occur == tantivy.Occur.MustNot for occur, _ in parts):
            parts.append((tantivy.Occur.Must, _filter(tantivy.Query.all_query())))
        return parts[0][1] if len(parts) == 1 else tantivy.Query.boolean_query(parts)

    def _any(self, items: tuple[Node, ...]) -> tantivy.Query | None:
        queries = [query for item in items if (query := self.compile(item)) is not None]
        # an address that was typed: this page, before those that speak of it
        these = [self._pages(item.urls) for item in items if isinstance(item, Pages)]
        queries += [tantivy.Query.const_score_query(each, _THIS) for each in these]
        if len(queries) < 2:
            return queries[0] if queries else None
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])

    def _between(self, low: int | None, high: int | None) -> tantivy.Query:
        """Pages changed in ``low <= time < high``; 0 is a time that is not known."""
        return tantivy.Query.range_query(
            self._schema,
            fields.MODIFIED,
            tantivy.FieldType.Unsigned,
            lower_bound=max(1, low or 1),
            upper_bound=_NEVER if high is None else max(1, high),
            include_upper=False,
        )

    def _pages(self, urls: tuple[str, ...]) -> tantivy.Query:
        names = (fields.URL, fields.KEY)
        sets = [tantivy.Query.term_set_query(self._schema, name, [encodable(url) for url in urls]) for name in names]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, each) for each in sets])


def _filter(query: tantivy.Query) -> tantivy.Query:
    """The query without a say in the score."""
    return tantivy.Query.const_score_query(query, 0.0)
