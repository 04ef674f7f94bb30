"""What somebody who types may be about to say: words of the index, and titles of pages. Called by the reader, on its thread."""

from __future__ import annotations

import tantivy

from larm.index import fields
from larm.index.schema import total

_LOOKED_AT = 30
"""Words with that beginning, the most frequent ones: of so many it is counted how many pages have them beside the others, each
by a search of 0.1 ms. (An aggregation knows none of our analyzers, so it can't count words of texts.)"""
_ENDINGS = 20
"""Words of titles that the last word may become."""
_TITLES = 30
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should


def words_beginning(
    schema: tantivy.Schema, searcher: tantivy.Searcher, condition: tantivy.Query | None, beginning: str
) -> list[tuple[str, int]]:
    """Words of main texts that begin so, with the pages that have them and meet the condition; most pages first."""
    found = [(str(word), int(pages)) for word, pages in searcher.terms_with_prefix(fields.MAIN, beginning, limit=_LOOKED_AT)]
    if condition is None:
        return found
    pages = []
    for word, _ in found:
        term = tantivy.Query.term_query(schema, fields.MAIN, word, index_option="freq")
        both = tantivy.Query.const_score_query(tantivy.Query.boolean_query([(_MUST, condition), (_MUST, term)]), 1.0)
        pages.append((word, total(searcher.search(both, limit=1))))
    return sorted([each for each in pages if each[1]], key=lambda each: -each[1])


def titles_with(
    schema: tantivy.Schema, searcher: tantivy.Searcher, condition: tantivy.Query | None, beginning: str
) -> list[str]:
    """Titles of pages that meet the condition and have a word with that beginning in their title, shorter ones first."""
    endings = [word for word, _ in searcher.terms_with_prefix(fields.TITLE, beginning, limit=_ENDINGS)] if beginning else []
    if beginning and not endings:
        return []
    terms = [tantivy.Query.term_query(schema, fields.TITLE, word, index_option="freq") for word in endings]
    parts = [(_MUST, tantivy.Query.boolean_query([(_SHOULD, term) for term in terms]))] if terms else []
    if condition is not None:
        parts.append((_MUST, condition))
    if not parts:
        return []
    hits = searcher.search(tantivy.Query.boolean_query(parts), limit=_TITLES, count=False).hits
    return [str(searcher.doc(address).get_first(fields.TITLE) or "") for _, address in hits]
