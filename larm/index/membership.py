"""is_indexed: whether a page is in the index under its own address. For ``larm why``; any thread; a crawl may be writing."""

from __future__ import annotations

from pathlib import Path

import tantivy

from larm.index import fields, schema
from larm.index.failure import IndexFailure
from larm.index.readable import openable
from larm.index.writer import key_of


def is_indexed(path: Path, normalised: str) -> bool:
    """Of the index in ``path``; False where there is none. Raises UsageError for one of another larm, StorageError."""
    if not schema.index_exists(path):
        return False
    with IndexFailure(path), openable(path) as readable:
        index = schema.open_index(readable, path)
        index.reload()
        query = tantivy.Query.term_query(index.schema, fields.KEY, key_of(normalised), index_option="basic")
        return bool(index.searcher().search(query, limit=1, count=False).hits)
