"""What is in an index, asked of tantivy itself: whichever way searches go about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import tantivy

from larm.index import fields
from larm.index.schema import open_index


def pages_with(index: Path, *clauses: Sequence[str], within: Iterable[str] = (fields.MAIN, fields.TITLE)) -> list[str]:
    """Addresses of the pages that have each clause, a word or a phrase, in at least one of these fields; sorted."""
    opened = open_index(index)
    query, schema = tantivy.Query, opened.schema

    def in_field(clause: Sequence[str], field: str) -> tantivy.Query:
        one = len(clause) == 1
        return query.term_query(schema, field, clause[0]) if one else query.phrase_query(schema, field, list(clause))

    in_any = [[(tantivy.Occur.Should, in_field(clause, field)) for field in within] for clause in clauses]
    asked = query.boolean_query([(tantivy.Occur.Must, query.boolean_query(fields)) for fields in in_any])
    found = opened.searcher()
    return sorted(str(found.doc(address).get_first(fields.URL)) for _, address in found.search(asked, limit=1_000).hits)
