"""Refresh: from the journal of links to a new snapshot, in steps of some milliseconds, so that its thread has time for others.

Three looks at the journal: which rows count, which nodes there are, which links. Nodes are numbered in the order of their
fingerprints. What grows with the links lies in temporary files; in memory are some 60 bytes for each node.
What is done with many numbers at a time is done by `larm.graph.columns`. Made by the graph storage, on its writer thread.

At its end, PageRank by power iteration: how likely somebody who follows links at random is on each page.
``rank = DAMPING * (what the pages that link here hand on + what dangling nodes spread evenly) + (1 - DAMPING) / nodes``: a node
without links (it has none, or was not fetched yet) hands its rank to all.
"""

import os
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from itertools import compress, count
from pathlib import Path
from typing import NamedTuple

from larm.errors import StorageError
from larm.graph import columns
from larm.graph.block import Block, damaged, read_block
from larm.graph.columns import Aliases, BlockLinks, Column, joined, zeros
from larm.graph.files import DAMPING, HOPS, LOCATION_BITS, PRECISE, TOP
from larm.graph.snapshot import Snapshot, SnapshotWriter
from larm.graph.tables import Anchors, Backlinks, Spool, Unique
from larm.kit.threads.progress import Progress


class LinkRows(NamedTuple):
    """Some of the links: those of some pages. uint32."""

    pages: Column
    """Numbers of nodes that have links."""
    counts: Column
    """How many each has."""
    targets: Column
    """Where they lead, page by page."""


class Iteration:
    """The ranks of some nodes, more precise with each sweep."""

    def __init__(self, nodes: int, links: Callable[[], Iterable[LinkRows]]) -> None:
        """All alike at first; a caller that knows better changes `rank`. ``links``: all there are, each time."""
        # constant after construction
        self._links = links
        # only one thread
        self.rank: Column = memoryview(array("d", (1 / max(nodes, 1),)) * nodes)
        """float64; their sum is 1."""
        self.moved = 1.0 if nodes else 0.0
        """How far the last sweep moved: the L1 distance. It falls by at least 15 % with each."""

    def sweep(self) -> Iterator[None]:
        """One step, in parts: 5 ms for a million links. Then there is a new `rank`."""
        gathered, handed = zeros("d", len(self.rank)), 0.0
        for part in self._links():
            handed += columns.hand_on(self.rank, *part, gathered)
            yield
        self.moved = columns.settle(gathered, handed, DAMPING, self.rank)
        self.rank = gathered
        yield


_PART = 1_000_000
"""Links that are handled at a time."""


class Living(NamedTuple):
    """A block, and what of it counts."""

    offset: int
    block: Block
    links: BlockLinks
    alive: bytes
    """For each row 1, if it counts."""


class Refresh:
    """One snapshot in the making. One thread."""

    def __init__(self, journal: Path, end: int, snapshot: Path, progress: Progress | None = None) -> None:
        """From the first ``end`` bytes of the journal; ``snapshot`` is where the last one is, and the new one will be.

        ``progress`` is told of each step.
        """
        # constant after construction
        self._journal = journal
        self._end = end
        self._snapshot = snapshot
        self._progress = progress or Progress()
        # only the thread that runs `steps`
        self._alive = b""
        self._aliases: Aliases = (zeros("Q", 0),) * 2
        self._nodes = zeros("Q", 0)
        self._links = Spool(snapshot.parent)
        self._met = 0

    def steps(self) -> Generator[None, None, None]:
        """When the iterator ends, the snapshot is in its place. Closing it before undoes all. Raises StorageError."""
        with ExitStack() as undo:
            undo.callback(self._links.close)
            try:
                file = os.open(self._journal, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return
            undo.callback(os.close, file)
            writer = SnapshotWriter(self._snapshot)
            undo.callback(writer.close)
            anchors = Anchors(self._snapshot.parent)
            undo.callback(anchors.close)
            yield from self._which_rows(file)
            yield from self._which_nodes(file, anchors)
            backlinks = Backlinks(self._snapshot.parent, len(self._nodes), self._met)
            undo.callback(backlinks.close)
            yield from self._which_links(file, writer, anchors, backlinks)
            rank = yield from self._ranks()
            yield from self._write(writer, backlinks, rank, anchors.hashes())

    def _blocks(self, file: int) -> Iterator[tuple[int, Block, BlockLinks]]:
        """Each block, where it stands, and its links."""
        offset = 0
        while offset < self._end:
            self._progress.to(offset)
            stored = read_block(file, offset, self._end, self._journal)
            try:
                links = columns.opened(stored.block)
            except ValueError as error:
                raise damaged(self._journal, offset, error) from error
            yield offset, stored.block, links
            offset = stored.end

    def _living(self, file: int) -> Iterator[Living]:
        """Each block, and which of its rows count."""
        row = 0
        for offset, block, links in self._blocks(file):
            rows = len(block.kinds)
            yield Living(offset, block, links, self._alive[row : row + rows])
            row += rows

    def _which_rows(self, file: int) -> Iterator[None]:
        """The last row of each page counts; a page that moved is another name of its target."""
        self._progress.begin("link graph, 1 of 6 (which pages count)", self._end)
        kinds, pages, goals = [], [], []
        for _, block, links in self._blocks(file):
            kinds.append(block.kinds)
            pages.append(block.pages)
            goals.append(links.goals())
            self._met += len(block.targets) // 4
            yield
        self._alive, moved, targets = columns.last_rows(b"".join(kinds), b"".join(pages), b"".join(goals))
        self._aliases = columns.resolved(moved, targets, HOPS)

    def _which_nodes(self, file: int, anchors: Anchors) -> Iterator[None]:
        """All pages and all that they link to."""
        self._progress.begin("link graph, 2 of 6 (numbering the pages)", self._end)
        unique = Unique()
        for _, block, links, alive in self._living(file):
            unique.add(links.named(alive, self._aliases))
            anchors.meet(block.texts)
            yield
        self._nodes = unique.all()
        anchors.known()

    def _which_links(self, file: int, writer: SnapshotWriter, anchors: Anchors, backlinks: Backlinks) -> Iterator[None]:
        """Number everything; the texts of anchors and the addresses of pages go into the snapshot on the way."""
        self._progress.begin("link graph, 3 of 6 (numbering the links)", self._end)
        locations, pages = zeros("Q", len(self._nodes)), []
        gathered: list[LinkRows] = []
        waiting = 0
        writer.begin("texts")
        for (offset, block, links, alive), texts in zip(self._living(file), anchors.numbers(), strict=True):
            writer.write(anchors.new_texts(block.texts, texts))
            numbers, *rows, others = links.numbered(alive, self._aliases, self._nodes, texts)
            backlinks.add(others)
            for row, number in zip(compress(count(1), alive), numbers, strict=True):
                locations[number] = (offset << LOCATION_BITS) + row
            pages.append(numbers)
            gathered.append(LinkRows(*rows))
            waiting += len(gathered[-1].targets)
            if waiting >= _PART:
                self._links.add(*_together(gathered))
                gathered, waiting = [], 0
            yield
        self._links.add(*_together(gathered))
        self._progress.begin("link graph, 4 of 6 (addresses)", self._end)
        addresses, written = zeros("Q", len(self._nodes)), 1
        writer.begin("urls")
        writer.write(b"\n")
        for (_, block, _, alive), numbers in zip(self._living(file), pages, strict=True):
            urls = list(compress(block.urls.split(b"\n"), alive))
            for url, number in zip(urls, numbers, strict=True):
                addresses[number] = written
                written += len(url) + 1
            writer.write(b"\n".join([*urls, b""]))
            yield
        writer.add("text_offsets", anchors.offsets())
        writer.add("url_offsets", addresses)
        writer.add("locations", locations)

    def _ranks(self) -> Generator[None, None, Column]:
        """Power iteration, from where the last snapshot ended."""
        iteration = Iteration(len(self._nodes), self._rows)
        try:
            old = Snapshot(self._snapshot)
            columns.carry(iteration.rank, self._nodes, old.array("nodes", "Q"), old.array("ranks", "f"))
        except (FileNotFoundError, StorageError, ValueError):  # there is none that can be used
            pass
        for sweep in count(1):
            if iteration.moved <= PRECISE:
                break
            self._progress.begin(f"link graph, 5 of 6 (ranks, sweep {sweep})")
            yield from iteration.sweep()
        return iteration.rank

    def _write(self, writer: SnapshotWriter, backlinks: Backlinks, rank: Column, texts: Column) -> Iterator[None]:
        self._progress.begin("link graph, 6 of 6 (who links here)", len(backlinks))
        nodes = len(self._nodes)
        degrees, links, handing = zeros("I", nodes), 0, 0
        for part in self._rows():
            columns.count(*part, degrees)
            links, handing = links + len(part.targets), handing + len(part.pages)
            yield
        self._links.close()  # what comes needs room
        top, places = columns.by_rank(rank, TOP)
        writer.begin("backlinks")
        marks = []
        for number, (piece, starts) in enumerate(backlinks.sorted()):
            writer.write(piece)
            marks.append(columns.marks(piece, starts, texts))
            self._progress.to(number)
            yield
        writer.add("backlink_offsets", backlinks.offsets())
        writer.add("marks", joined("Q", marks))
        writer.add("nodes", self._nodes)
        writer.add("ranks", columns.scaled(rank))
        writer.add("places", places)
        writer.add("degrees", degrees)
        writer.add("top", top)
        writer.add("moved_from", self._aliases[0])
        writer.add("moved_to", self._aliases[1])
        yield
        pages = self._alive.count(1)
        figures = {"pages": pages, "nodes": nodes, "links": links, "dangling": pages - handing, "journal": self._end}
        writer.finish(figures)

    def _rows(self) -> Iterator[LinkRows]:
        """All links."""
        columns = iter(self._links)
        return map(LinkRows, columns, columns, columns)


def _together(parts: list[LinkRows]) -> LinkRows:
    pages, counts, targets = ([part[column] for part in parts] for column in range(3))
    return LinkRows(joined("I", pages), joined("I", counts), joined("I", targets))
