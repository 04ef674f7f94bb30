"""Coverage: of how many of the crawl's pages the link graph and the texts of links are, and the sentence that says so.

Both are completed at the end of a run; while one runs, or where its end was left or killed, searches rank by less than all.
Called by ``larm stats`` and ``larm search``. Costs next to nothing where nothing is missing; else the rows of the journal are
read that came later.
"""

from pathlib import Path

import msgspec

from larm.errors import StorageError
from larm.graph.block import PAGE, last_kinds
from larm.graph.files import JOURNAL
from larm.graph.reader import open_graph
from larm.index.anchors import ANCHORS, mark_of

_GRAPH = "graph"


class Coverage(msgspec.Struct, frozen=True):
    """Numbers of pages."""

    pages: int
    """Whose links are known."""
    graph: int
    """Of these, those whose links, as they are now, are in the graph."""
    texts: int
    """The same of the index of the texts of links."""

    @property
    def complete(self) -> bool:
        """Nothing is missing."""
        return self.pages == self.graph == self.texts


def coverage_of(directory: Path) -> Coverage:
    """Of a crawl's directory; all 0 where there are no links. Raises StorageError."""
    journal = directory / _GRAPH / JOURNAL
    graph = open_graph(directory / _GRAPH)
    known = graph.generation if graph else 0
    later = last_kinds(journal, known)
    pages = graph.pages if graph else 0
    for page, kind in later.items():
        pages += (kind == PAGE) - (graph is not None and graph.is_page(page))
    missing = sum(kind == PAGE for kind in later.values())
    mark = mark_of(directory / ANCHORS)
    if mark == known:
        texts = pages - missing
    elif mark is None:
        texts = 0
    else:
        texts = pages - sum(kind == PAGE for kind in last_kinds(journal, mark).values())
    return Coverage(pages, pages - missing, texts)


def shortfall(directory: Path) -> str:
    """One sentence; empty where graph and texts are complete. What is damaged is said instead."""
    try:
        covered = coverage_of(directory)
    except StorageError as error:
        return str(error)
    if covered.complete:
        return ""
    texts, of = f"the texts of links are of {covered.texts:,}", f"of {covered.pages:,} pages"
    if covered.graph == covered.pages:
        what = f"{texts} {of}"
    elif covered.graph == covered.texts:
        what = f"the link graph and the texts of links are of {covered.graph:,} {of}"
    else:
        what = f"the link graph is of {covered.graph:,} and {texts} {of}"
    return f"{what}, so what matters most may not come first; 'larm crawl' completes them, at its end"
