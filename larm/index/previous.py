"""PreviousIndex: an index of whatever schema, asked which pages it has. For ``larm reindex``, on the main thread."""

from __future__ import annotations

from pathlib import Path

import tantivy

from larm.index import fields
from larm.index.failure import IndexFailure
from larm.index.writer import key_of


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

    def fetched(self, normalised: str) -> int | None:
        """When the page was fetched, in seconds since 1970 (0: the index does not know); None if it is not there. 20 us."""
        with self._failure:
            query = tantivy.Query.term_query(self._schema, fields.KEY, key_of(normalised), index_option="basic")
            hits = self._searcher.search(query, limit=1, count=False).hits
            return int(self._searcher.doc(hits[0][1]).get_first(fields.FETCHED) or 0) if hits else None
