"""Plain full-text searches of the same pages, to compare larm with: BM25 with stems (bm25s), and tantivy on title and body.

Both get what larm has found out of a page: its title and its main text. ``pip install bm25s PyStemmer``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tantivy

from larm.config import SearchSettings
from larm.index.reader import IndexReader
from larm.index.tree import Not, Word

_STEMMERS = {"en": "english", "de": "german", "ar": "arabic"}
_LISTS = {"en": "english", "de": "german", "zh": "chinese"}
"""Function words: those that bm25s has."""

Ranking = Callable[[str], list[str]]
"""The addresses that are found for a query, best first."""


def texts_of(directory: Path) -> list[tuple[str, str, str]]:
    """(address, title, main text) of all pages of a crawl's index."""
    reader = IndexReader(directory / "index", SearchSettings())
    found = reader.retrieve(Not(Word("wordthatnopagehas")), reader.documents)
    matches = [reader.read(each, 0.0) for each in found.candidates]
    return [(match.url, match.title, match.body) for match in matches]


def bm25s_ranking(pages: Sequence[tuple[str, str, str]], language: str, depth: int) -> Ranking:
    """Its defaults (Lucene's BM25), with Snowball's stems and its own list of function words where it has one."""
    import bm25s
    import Stemmer

    stemmer: Any = Stemmer.Stemmer(_STEMMERS[language]) if language in _STEMMERS else None
    options = {"stopwords": _LISTS.get(language, []), "stemmer": stemmer, "show_progress": False}
    index = bm25s.BM25()
    index.index(bm25s.tokenize([f"{title}\n{text}" for _, title, text in pages], **options), show_progress=False)
    most = min(depth, len(pages))

    def rank(query: str) -> list[str]:
        tokens = bm25s.tokenize([query], return_ids=False, **options)
        if not tokens[0]:
            return []
        numbers, scores = index.retrieve(tokens, k=most, show_progress=False)
        return [pages[int(number)][0] for number, score in zip(numbers[0], scores[0], strict=True) if score > 0]

    return rank


def tantivy_ranking(pages: Sequence[tuple[str, str, str]], depth: int) -> Ranking:
    """Its default words, its own parser of queries, any of the words, title and body as equals."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("number", fast=True)
    for name in ("title", "body"):
        builder.add_text_field(name)
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for number, (_, title, text) in enumerate(pages):
        document = tantivy.Document(title=title, body=text)
        document.add_unsigned("number", number)
        writer.add_document(document)
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def rank(query: str) -> list[str]:
        parsed, _ = index.parse_query_lenient(query, ["title", "body"])
        hits = searcher.search(parsed, limit=depth, count=False).hits
        numbers = searcher.fast_field_values("number", [address for _, address in hits])
        return [pages[int(number or 0)][0] for number in numbers]

    return rank
