"""What a crawl leaves, without what may differ between two good crawls: the order of pages and which link was first."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import tantivy

from larm.graph.reader import OutLink, open_graph
from larm.index import fields, schema
from larm.model.url import URLNormalizer
from larm.storage.reader import StoreLog
from tests.stories.crawls import aliases, lines


class Leftovers(NamedTuple):
    """Sorted, so that pages that are there twice show."""

    pages: list[tuple[object, ...]]
    """store.log, and a digest of the bytes in the page files."""
    links: list[str]
    indexed: list[tuple[str, ...]]
    graph: list[tuple[str, list[OutLink]]]
    """Each page of the link graph, with its links in their order."""


def leftovers(directory: Path) -> Leftovers:
    """Of the crawl in this directory."""
    log = StoreLog(directory)
    pages = [
        (row.url, row.normalised, row.status, row.mime, row.title, hashlib.sha256(log.body(row)).hexdigest()) for row in log
    ]
    return Leftovers(sorted(pages), sorted(lines(directory, "links")), sorted(_indexed(directory)), _graph(directory))


def _graph(directory: Path) -> list[tuple[str, list[OutLink]]]:
    graph = open_graph(directory / "graph")
    if graph is None:
        return []
    parse = URLNormalizer().parse
    found = [(url, graph.out_links(parse(url).fingerprint)) for url, _ in graph.top(1000)]
    assert len(found) == graph.pages
    return sorted(found)


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
