"""Trees against an index that tantivy has made."""

from __future__ import annotations

from typing import Literal

import pytest
import tantivy

from larm.index import fields, schema
from larm.index.analysis import Analyzer
from larm.index.compile import Compiler
from larm.index.meta_words import meta_words
from larm.index.page import Page
from larm.index.tree import All, Any, Dates, In, Linking, Meta, Node, Not, Pages, Phrase, Word
from larm.index.writer import IndexWriter
from larm.model.url import URLNormalizer

parse = URLNormalizer().parse
DAY = 86_400
PAGES = {  # name of the page: title, text, changed
    "/": ("Home", "red house", 0),
    "/docs/": ("Red", "the manual of the house", 10 * DAY),
    "/docs/a.pdf": ("A", "a red manual", 20 * DAY),
    "/blog/b": ("B", "green tree", 30 * DAY),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> tantivy.Index:
    path = tmp_path_factory.mktemp("index") / "index"
    writer = IndexWriter(path, 15_000_000, 1)
    writer.open(None)
    for place, (title, text, modified) in PAGES.items():
        url = parse("http://www.a.org" + place)
        mime = "application/pdf" if place.endswith("pdf") else "text/html"
        meta = meta_words(url, mime, modified=modified, language="en")
        writer.add(Page(url, mime, title, text, meta=meta, modified=modified, language="en"))
    writer.commit()
    writer.close()
    return schema.open_index(path)


def found(index: tantivy.Index, node: Node | None) -> set[str] | None:
    """Paths of the pages that a tree finds; None where it says nothing."""
    words_of = Analyzer().words

    def words(where: Literal["any", "title", "url"], item: Word | Phrase) -> tantivy.Query | None:
        names = {"any": (fields.TITLE, fields.MAIN), "title": (fields.TITLE,), "url": (fields.URL_WORDS,)}[where]
        terms = words_of(item.text)
        if not terms:
            return None
        options = [tantivy.Query.phrase_query(index.schema, name, terms) for name in names] if len(terms) > 1 else []
        options = options or [tantivy.Query.term_query(index.schema, name, terms[0], index_option="freq") for name in names]
        return tantivy.Query.disjunction_max_query(options)

    query = Compiler(index.schema, words).compile(node)
    if query is None:
        return None
    searcher = index.searcher()
    hits = searcher.search(query, limit=10).hits
    return {str(searcher.doc(address).get_first(fields.URL)).removeprefix("http://www.a.org") for _, address in hits}


RED, HOUSE, GREEN, NOTHING = Word("red"), Word("house"), Word("green"), Word("+++")
ALL = set(PAGES)


@pytest.mark.parametrize(
    ("node", "pages"),
    [
        (RED, {"/", "/docs/", "/docs/a.pdf"}),
        (Phrase("red house"), {"/"}),
        (All((RED, HOUSE)), {"/", "/docs/"}),
        (All((RED, Not(HOUSE))), {"/docs/a.pdf"}),
        (Any((HOUSE, GREEN)), {"/", "/docs/", "/blog/b"}),
        (Not(RED), {"/blog/b"}),
        (All((Not(RED), Not(GREEN))), set()),
        (Not(All((RED, HOUSE))), {"/docs/a.pdf", "/blog/b"}),
        (Any((GREEN, Not(RED))), {"/blog/b"}),
        (Any((GREEN, Not(GREEN))), ALL),
        (Not(Not(GREEN)), {"/blog/b"}),
        (In("title", RED), {"/docs/"}),
        (In("url", Word("docs")), {"/docs/", "/docs/a.pdf"}),
        (Meta("site", "a.org"), ALL),
        (Meta("site", "b.org"), set()),
        (All((Meta("site", "www.a.org"), Meta("path", "/docs"))), {"/docs/", "/docs/a.pdf"}),
        (Meta("filetype", "pdf"), {"/docs/a.pdf"}),
        (Meta("host", "all"), {"/"}),
        (Meta("modified", "1970-01-21"), {"/docs/a.pdf"}),
        (Meta("modified", "all"), ALL - {"/"}),
        (Dates(low=20 * DAY), {"/docs/a.pdf", "/blog/b"}),
        (Dates(high=20 * DAY), {"/docs/"}),
        (Dates(10 * DAY, 20 * DAY), {"/docs/"}),
        (Dates(high=0), set()),
        (Dates(low=-5), ALL - {"/"}),
        (Pages(("http://www.a.org/", "http://www.a.org/blog/b")), {"/", "/blog/b"}),
        (Pages(()), set()),
        (Linking("http://www.a.org/"), set()),
        (All((RED, NOTHING)), {"/", "/docs/", "/docs/a.pdf"}),
        (Any((GREEN, NOTHING)), {"/blog/b"}),
        (All((GREEN, Not(NOTHING))), {"/blog/b"}),
        (NOTHING, None),
        (Not(NOTHING), None),
        (Any((NOTHING, NOTHING)), None),
        (None, None),
    ],
)
def test_what_a_tree_finds(index: tantivy.Index, node: Node | None, pages: set[str] | None) -> None:
    assert found(index, node) == pages


def test_what_only_filters_has_no_say_in_the_score(index: tantivy.Index) -> None:
    def scores(node: Node) -> list[float]:
        query = Compiler(
            index.schema, lambda _, item: tantivy.Query.term_query(index.schema, fields.MAIN, item.text, index_option="freq")
        ).compile(node)
        assert query is not None
        return [score for score, _ in index.searcher().search(query).hits]

    assert scores(GREEN) == scores(All((GREEN, Meta("site", "a.org"), Dates(low=DAY), Not(RED))))
    assert scores(Meta("site", "a.org")) == [0, 0, 0, 0]
