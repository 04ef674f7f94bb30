"""What a crawl leaves, without what may differ between two good crawls: the order of pages and which link was first."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import tantivy

from larm.graph.reader import OutLink, open_graph
from larm.index import fields, schema
from larm.model.url import URLNormalizer
from larm.store.reader import StoreLog
from tests.stories.crawls import aliases, lines


class Leftovers(NamedTuple):
    """Sorted, so that pages that are there twice show."""

    pages: list[tuple[object, ...]]
    """store.log, and a digest of the bytes in the page files."""
    links: list[str]
    indexed: list[tuple[str, ...]]
    graph: tuple[int, list[tuple[str, list[OutLink]]]]
    """Pages of the link graph, and the links in it, in their order, of each page in store.log."""


def leftovers(directory: Path) -> Leftovers:
    """Of the crawl in this directory."""
    log = StoreLog(directory)
    pages = [
        (row.url, row.normalised, row.status, row.mime, row.title, hashlib.sha256(log.body(row)).hexdigest()) for row in log
    ]
    graph = _graph(directory, {row[0] for row in pages})
    return Leftovers(sorted(pages), sorted(lines(directory, "links")), sorted(_indexed(directory)), graph)


def _graph(directory: Path, urls: set[str]) -> tuple[int, list[tuple[str, list[OutLink]]]]:
    graph = open_graph(directory / "graph")
    if graph is None:
        return 0, []
    parse = URLNormalizer().parse
    return graph.pages, [(url, graph.out_links(parse(url).fingerprint)) for url in sorted(urls)]


def _indexed(directory: Path) -> list[tuple[str, ...]]:
    index = schema.open_index(directory / "index")
    index.reload()
    searcher = index.searcher()
    if not searcher.num_docs:
        return []
    hits = searcher.search(tantivy.Query.all_query(), limit=searcher.num_docs).hits
    names = (fields.URL, fields.MIME, fields.TITLE, fields.MAIN)
    rows = [tuple(str(searcher.doc(address).get_first(name)) for name in names) for _, address in hits]
    return rows + [(url, "alias") for url in aliases(directory)]
