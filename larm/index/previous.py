"""What an index has of a page, by its address: of whatever schema, for ``larm reindex``, on the main thread; whether it is
there at all, for ``larm why``, on any thread, also while a crawl writes.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import tantivy

from larm.index import fields, schema
from larm.index.failure import IndexFailure
from larm.index.own_fields import read_stored
from larm.index.readable import openable
from larm.index.writer import key_of


class Known(NamedTuple):
    """What an index has stored of a page; what its schema has not is empty."""

    fetched: int
    """Seconds since 1970; 0: not known. So is `modified`."""
    text: str
    """The main text."""
    description: str
    language: str
    modified: int
    quote: int | None
    """At most so many characters of it may be shown; None: any number."""
    group: int
    """What pages of one search result have in common; 0: not known."""
    own: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Fields of the user's."""


class PreviousIndex:
    """The index in ``path``; all schemas so far have `fields.KEY`. Raises StorageError if it can't be read."""

    def __init__(self, path: Path) -> None:
        # constant after construction
        self._failure = IndexFailure(path)
        with self._failure:
            index = tantivy.Index.open(str(path))
            index.reload()
            self._schema = index.schema
            self._searcher = index.searcher()

    def find(self, normalised: str) -> Known | None:
        """What the index has stored of a page; None if the page is not there. 30 us."""
        with self._failure:
            query = tantivy.Query.term_query(self._schema, fields.KEY, key_of(normalised), index_option="basic")
            hits = self._searcher.search(query, limit=1, count=False).hits
            if not hits:
                return None
            first = self._searcher.doc(hits[0][1]).get_first
            return Known(
                fetched=int(first(fields.FETCHED) or 0),
                text=first(fields.MAIN) or first(fields.SIGNS) or "",
                description=first(fields.DESCRIPTION) or "",
                language=first(fields.LANGUAGE) or "",
                modified=int(first(fields.MODIFIED) or 0),
                quote=first(fields.QUOTE),
                group=self._group(hits[0][1]),
                own=read_stored(bytes(first(fields.OWN) or b"").decode()),
            )

    def _group(self, address: tantivy.DocAddress) -> int:
        try:
            return int(self._searcher.fast_field_values(fields.DIGEST, [address])[0] or 0)
        except ValueError:  # the schema has no such field
            return 0


def is_indexed(path: Path, normalised: str) -> bool:
    """Of the index in ``path``; False where there is none. Raises UsageError for one of another larm, StorageError."""
    if not schema.index_exists(path):
        return False
    with IndexFailure(path), openable(path) as readable:
        index = schema.open_index(readable, path)
        index.reload()
        query = tantivy.Query.term_query(index.schema, fields.KEY, key_of(normalised), index_option="basic")
        return bool(index.searcher().search(query, limit=1, count=False).hits)
