"""GraphReader: who links where, and how important each page is, as of the last snapshot. Any thread; needs no numpy.

Pages are known by `larm.model.url.Url.fingerprint`. Opening maps a file; a look-up is a binary search in it. A reader does not
see what comes later: open another, if `fresh` says so.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from larm.errors import StorageError
from larm.graph.block import read_block
from larm.graph.files import JOURNAL, LOCATION_BITS, SNAPSHOT
from larm.graph.snapshot import Snapshot

_KNOWN = 100_000
"""Texts that are remembered: some 10 MB."""
_MANY = 5_000
"""Links that are looked at for one page: the home page of a large site has one from each of its pages."""


class OutLink(NamedTuple):
    """A link of a page."""

    fingerprint: int
    text: str


def open_graph(directory: Path) -> GraphReader | None:
    """The link graph in ``directory`` (``graph/`` of a crawl); None where there is none (yet). Raises StorageError."""
    try:
        return GraphReader(directory)
    except FileNotFoundError:
        return None


class _Texts(dict[int, str]):
    """Texts by their numbers: a page's are most often those of others, too."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self._line, self._places = snapshot.line, snapshot.array("text_offsets", "Q")

    def __missing__(self, number: int) -> str:
        text = self[number] = self._line("texts", self._places[number])
        return text


class GraphReader:
    """One snapshot. All methods may raise StorageError, where it is damaged."""

    def __init__(self, directory: Path) -> None:
        """Raises FileNotFoundError where there is none, StorageError where it can't be read."""
        # constant after construction
        self._journal = directory / JOURNAL
        snapshot = self._snapshot = Snapshot(directory / SNAPSHOT)
        figures = snapshot.figures
        self.pages = figures.get("pages", 0)
        """Pages whose links are known."""
        self.nodes = figures.get("nodes", 0)
        """Pages, and what they link to."""
        self.links = figures.get("links", 0)
        """From page to page, each pair counted once."""
        self.dangling = figures.get("dangling", 0)
        """Pages without links."""
        self.generation = figures.get("journal", 0)
        """Rises with each snapshot that has something new."""

    def is_page(self, fingerprint: int) -> bool:
        """Its links are known."""
        node = self._node(fingerprint, moved=False)
        return node is not None and bool(self._snapshot.array("locations", "Q")[node])

    def rank(self, fingerprint: int) -> float:
        """PageRank times the number of nodes: 1.0 is an average one. 0.0 for one that is not known."""
        node = self._node(fingerprint)
        return 0.0 if node is None else float(self._snapshot.array("ranks", "f")[node])

    def in_degree(self, fingerprint: int) -> int:
        """Other pages that link to it."""
        return self.in_degrees([fingerprint])[0]

    def in_degrees(self, fingerprints: Iterable[int]) -> list[int]:
        """The same of many pages: of two hundred a tenth of the time."""
        array = self._snapshot.array
        moved, nodes, degrees = array("moved_from", "Q"), array("nodes", "Q"), array("degrees", "I")
        found = []
        for fingerprint in fingerprints:
            place = bisect_left(moved, fingerprint)
            named = place < len(moved) and moved[place] == fingerprint
            page = array("moved_to", "Q")[place] if named else fingerprint
            node = bisect_left(nodes, page)
            found.append(degrees[node] if node < len(nodes) and nodes[node] == page else 0)
        return found

    def all_texts(self, limit: int = 20, after: int = -1) -> Iterator[tuple[int, list[str]]]:
        """(fingerprint, texts of links to it) of every page that was fetched and is linked to with words; by fingerprint, from
        the next after ``after`` on. Of texts those of most pages, in any order; of a page with very many links, some are looked
        at. What all pages need is looked up once, which takes half the time of asking for the texts of each.
        """
        nodes = self._snapshot.array("nodes", "Q")
        places = range(bisect_right(nodes, after), len(nodes))
        for node, texts in zip(places, self._texts_of(places, limit), strict=True):
            if texts:
                yield nodes[node], texts

    def texts(self, fingerprint: int, limit: int = 20) -> list[str]:
        """Return the texts of links to a page that was fetched, those of most pages, in any order."""
        return next(iter(self._texts_of([self._node(fingerprint, moved=False)], limit)))

    def changed_texts(self, before: GraphReader, limit: int) -> Iterator[tuple[int, list[str]]]:
        """As `all_texts`, of those pages that had others ``before``, an earlier snapshot; [] for one that has none any more."""
        from larm.graph.columns import changed  # numpy: for who writes graphs

        columns = (("nodes", "Q"), ("marks", "Q"), ("locations", "Q"))
        old, new = ([each._snapshot.array(*column) for column in columns] for each in (before, self))
        found = changed(old, new)
        return zip(found, self._texts_of((self._node(page, moved=False) for page in found), limit), strict=True)

    def _texts_of(self, nodes: Iterable[int | None], limit: int) -> Iterator[list[str]]:
        """[] for a page that was not fetched."""
        array = self._snapshot.array
        fetched, offsets, known = array("locations", "Q"), array("backlink_offsets", "Q"), _Texts(self._snapshot)
        links = array("backlinks", "I")
        for node in nodes:
            if node is None or not fetched[node]:
                yield []
                continue
            first, end = offsets[node], min(offsets[node + 1], offsets[node] + _MANY)
            numbers = links[2 * first : 2 * end].tolist()[1::2]
            found = set(numbers)
            if len(found) > limit:
                found = {number for number, _ in Counter(numbers).most_common(limit + 1)}
            yield [text for number in found if (text := known[number])][:limit]
            if len(known) > _KNOWN:
                known.clear()

    def in_links(self, fingerprint: int, limit: int = 100) -> list[str]:
        """Access URLs of other pages that link to it, the most important first."""
        node = self._node(fingerprint)
        if node is None:
            return []
        places = self._snapshot.array("places", "I")
        pages = sorted(set(self._backlinks(node)[::2]), key=lambda page: places[page])
        return [self._url(page) for page in pages[:limit]]

    def out_links(self, fingerprint: int) -> list[OutLink]:
        """Links of a page that was fetched, in their order, as they were on the page."""
        node = self._node(fingerprint)
        location = 0 if node is None else self._snapshot.array("locations", "Q")[node]
        return self._row(location - 1) if location else []

    def address(self, fingerprint: int) -> str:
        """The access URL of a page that was fetched; empty for another one."""
        node = self._node(fingerprint)
        return "" if node is None else self._url(node)

    def top(self, limit: int = 10) -> list[tuple[str, float]]:
        """The most important pages that were fetched: address, rank."""
        ranks = self._snapshot.array("ranks", "f")
        found: list[tuple[str, float]] = []
        for node in self._snapshot.array("top", "I"):
            if len(found) >= limit:
                break
            if url := self._url(node):
                found.append((url, ranks[node]))
        return found

    def _node(self, fingerprint: int, *, moved: bool = True) -> int | None:
        """``moved``: it may be known by another name."""
        if moved:
            names = self._snapshot.array("moved_from", "Q")
            place = bisect_left(names, fingerprint)
            if place < len(names) and names[place] == fingerprint:
                fingerprint = self._snapshot.array("moved_to", "Q")[place]
        nodes = self._snapshot.array("nodes", "Q")
        node = bisect_left(nodes, fingerprint)
        return node if node < len(nodes) and nodes[node] == fingerprint else None

    def _backlinks(self, node: int) -> list[int]:
        """Source, text, source, text ..."""
        offsets = self._snapshot.array("backlink_offsets", "Q")
        first, end = offsets[node], min(offsets[node + 1], offsets[node] + _MANY)
        return self._snapshot.array("backlinks", "I")[2 * first : 2 * end].tolist()

    def _url(self, node: int) -> str:
        return self._line("urls", self._snapshot.array("url_offsets", "Q")[node])

    def _line(self, name: str, offset: int) -> str:
        return self._snapshot.line(name, offset)

    def _row(self, location: int) -> list[OutLink]:
        offset, row = location >> LOCATION_BITS, location & ((1 << LOCATION_BITS) - 1)
        try:
            file = os.open(self._journal, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise StorageError(f"{self._journal}: it is missing; the next run says what to do") from error
        try:
            block = read_block(file, offset, self.generation, self._journal).block
        finally:
            os.close(file)
        counts, nodes = memoryview(block.counts).cast("I"), memoryview(block.nodes).cast("Q")
        targets, anchors = memoryview(block.targets).cast("I"), memoryview(block.anchors).cast("I")
        texts = block.texts.decode("utf-8", "replace").split("\n")
        first = sum(counts[:row])
        return [OutLink(nodes[targets[each]], texts[anchors[each]]) for each in range(first, first + counts[row])]

    def __repr__(self) -> str:
        return f"<GraphReader {self.pages:,} pages, {self.links:,} links>"
