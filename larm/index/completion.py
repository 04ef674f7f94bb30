"""What somebody who types may be about to say: words of the index, and titles of pages. Called by the reader, on its thread."""

import tantivy

from larm.index import fields

_WORDS = 30
_ENDINGS = 20
"""Words of titles that the last word may become."""
_TITLES = 30
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should


def words_beginning(searcher: tantivy.Searcher, condition: tantivy.Query | None, beginning: str) -> list[tuple[str, int]]:
    """Words of main texts that begin so, with the pages that have them and meet the condition; most pages first."""
    found = searcher.terms_with_prefix(fields.MAIN, beginning, filter_query=condition, limit=_WORDS)
    return [(str(word), int(pages)) for word, pages in found if pages]


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
