"""Refresh: from the journal of links to a new snapshot, in steps of some milliseconds, so that its thread has time for others.

Three looks at the journal: which rows count, which nodes there are, which links. Nodes are numbered in the order of their
fingerprints. What grows with the links lies in temporary files; in memory are 4 bytes for each link and some 60 for each node.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from larm.errors import StorageError
from larm.graph.block import MOVED, PAGE, Stored, read_block
from larm.graph.files import LOCATION_BITS
from larm.graph.ranks import LinkRows, change, start, sweep
from larm.graph.snapshot import Snapshot, SnapshotWriter
from larm.graph.tables import Anchors, Backlinks, Unique, distinct, places_of

_HOPS = 5
"""Redirects in a row; more are followed by nobody."""
_PART = 1_000_000
"""Links that are handled at a time."""
TOP = 1_000
"""Nodes that are listed by rank."""

Fingerprints = NDArray[np.uint64]


class Refresh:
    """One snapshot in the making. One thread."""

    def __init__(self, journal: Path, end: int, snapshot: Path) -> None:
        """From the first ``end`` bytes of the journal; ``snapshot`` is where the last one is, and the new one will be."""
        # constant after construction
        self._journal = journal
        self._end = end
        self._snapshot = snapshot
        # only the thread that runs `steps`
        self.precise = 1e-4
        """The iteration ends when a sweep moves less. The owner may raise it while it runs, where time is short."""
        self._alive: NDArray[np.bool_] = np.zeros(0, bool)
        self._aliases: tuple[Fingerprints, Fingerprints] = (np.zeros(0, np.uint64),) * 2
        self._nodes: Fingerprints = np.zeros(0, np.uint64)
        self._links: list[LinkRows] = []
        self._met = 0

    def steps(self) -> Generator[None, None, None]:
        """When the iterator ends, the snapshot is in its place. Closing it before undoes all. Raises StorageError."""
        with ExitStack() as undo:
            try:
                file = os.open(self._journal, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return
            undo.callback(os.close, file)
            writer = SnapshotWriter(self._snapshot)
            undo.callback(writer.close)
            anchors = Anchors()
            yield from self._which_rows(file)
            yield from self._which_nodes(file, anchors)
            backlinks = Backlinks(self._snapshot.parent, len(self._nodes), self._met)
            undo.callback(backlinks.close)
            yield from self._which_links(file, writer, anchors, backlinks)
            rank = yield from self._ranks()
            yield from self._write(writer, backlinks, rank)

    def _blocks(self, file: int) -> Iterator[Stored]:
        offset = 0
        while offset < self._end:
            stored = read_block(file, offset, self._end, self._journal)
            yield stored
            offset = stored.end

    def _which_rows(self, file: int) -> Iterator[None]:
        """The last row of each page counts; a page that moved is another name of its target."""
        kinds: list[NDArray[np.uint8]] = []
        pages: list[Fingerprints] = []
        goals: list[Fingerprints] = []
        for stored in self._blocks(file):
            block = stored.block
            kinds.append(np.frombuffer(block.kinds, np.uint8))
            pages.append(np.frombuffer(block.pages, "<u8"))
            first = _starts(np.frombuffer(block.counts, "<u4"))[kinds[-1] == MOVED]
            self._met += len(block.targets) // 4
            goals.append(np.frombuffer(block.nodes, "<u8")[np.frombuffer(block.targets, "<u4")[first]])
            yield
        kind, page = _joined(kinds, np.uint8), _joined(pages, np.uint64)
        order = np.argsort(page, kind="stable")
        last = np.ones(len(page), bool)
        np.not_equal(page[order[1:]], page[order[:-1]], out=last[:-1])
        counts = np.zeros(len(page), bool)
        counts[order[last]] = True
        self._alive = counts & (kind == PAGE)
        moved = counts[kind == MOVED]
        self._aliases = _resolved(page[kind == MOVED][moved], _joined(goals, np.uint64)[moved])

    def _which_nodes(self, file: int, anchors: Anchors) -> Iterator[None]:
        """All pages and all that they link to."""
        unique = Unique()
        for stored, alive in self._living(file):
            block = stored.block
            nodes = np.frombuffer(block.nodes, "<u8")
            if not alive.all():
                used = np.repeat(alive, np.frombuffer(block.counts, "<u4"))
                nodes = nodes[distinct(np.frombuffer(block.targets, "<u4")[used])]
            unique.add(_alias(nodes, self._aliases))
            unique.add(np.frombuffer(block.pages, "<u8")[alive])
            anchors.meet(block.texts)
            yield
        self._nodes = unique.all()
        anchors.known()

    def _which_links(self, file: int, writer: SnapshotWriter, anchors: Anchors, backlinks: Backlinks) -> Iterator[None]:
        """Number everything; the texts of anchors and the addresses of pages go into the snapshot on the way."""
        addresses = np.zeros(len(self._nodes), np.uint64)
        locations = np.zeros(len(self._nodes), np.uint64)
        written, waiting = 1, 0
        gathered: list[LinkRows] = []
        writer.begin("texts")
        for place, (stored, alive) in enumerate(self._living(file)):
            block, texts = stored.block, anchors.numbers(place)
            writer.write(anchors.new_texts(block.texts, texts))
            part, rows, numbers = self._numbered(stored, alive, texts, backlinks)
            locations[numbers] = (np.uint64(stored.offset) << np.uint64(LOCATION_BITS)) + rows.astype(np.uint64) + np.uint64(1)
            gathered.append(part)
            waiting += len(part.targets)
            if waiting >= _PART:
                self._links.append(_together(gathered))
                gathered, waiting = [], 0
            yield
        self._links.append(_together(gathered))
        writer.begin("urls")
        writer.write(b"\n")
        for stored, alive in self._living(file):
            urls = stored.block.urls.split(b"\n")
            rows = np.flatnonzero(alive)
            numbers = self._number(np.frombuffer(stored.block.pages, "<u8")[rows])
            kept = [urls[row] for row in rows.tolist()]
            addresses[numbers] = written + np.cumsum([0, *(len(url) + 1 for url in kept[:-1])])[: len(kept)]
            data = b"".join([url + b"\n" for url in kept])
            writer.write(data)
            written += len(data)
            yield
        writer.add("text_offsets", anchors.offsets().data)
        writer.add("url_offsets", addresses.data)
        writer.add("locations", locations.data)

    def _numbered(
        self, stored: Stored, alive: NDArray[np.bool_], texts: NDArray[np.uint32], backlinks: Backlinks
    ) -> tuple[LinkRows, NDArray[np.int64], NDArray[np.uint32]]:
        """A block's links as numbers of nodes; its rows that count, and their numbers."""
        block = stored.block
        counts = np.frombuffer(block.counts, "<u4")
        used = np.repeat(alive, counts)
        nodes = self._number(_alias(np.frombuffer(block.nodes, "<u8"), self._aliases))
        targets = nodes[np.frombuffer(block.targets, "<u4")[used]]
        rows = np.flatnonzero(alive)
        numbers = self._number(np.frombuffer(block.pages, "<u8")[rows])
        places = np.repeat(np.arange(len(rows), dtype=np.uint64), counts[rows])
        sources = numbers[places]
        other = sources != targets  # that a page links to itself is no recommendation; who clicks at random clicks it, too
        backlinks.add(targets[other], sources[other], texts[np.frombuffer(block.anchors, "<u4")[used][other]])
        links = np.sort(places << np.uint64(32) | targets)
        links = links[np.diff(links, prepend=links[:1] + np.uint64(1)) != 0]  # of several links to a page, one counts
        each = np.bincount((links >> np.uint64(32)).astype(np.int64), minlength=len(rows)).astype(np.uint32)
        some = each > 0
        goals = (links & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        return LinkRows(numbers[some], each[some], goals), rows, numbers

    def _ranks(self) -> Generator[None, None, NDArray[np.float64]]:
        """Power iteration, from where the last snapshot ended."""
        rank = self._known_ranks()
        moved = 1.0
        while moved > self.precise and len(rank):
            after = rank
            for found in sweep(rank, self._links):
                if found is not None:
                    after = found
                yield
            rank, moved = after, change(rank, after)
        return rank

    def _known_ranks(self) -> NDArray[np.float64]:
        rank = start(len(self._nodes))
        try:
            old = Snapshot(self._snapshot)
            nodes = np.frombuffer(old.array("nodes", "Q"), np.uint64)
            ranks = np.frombuffer(old.array("ranks", "f"), np.float32)
        except (FileNotFoundError, StorageError):  # there is none that can be used
            return rank
        places = np.searchsorted(self._nodes, nodes).clip(max=max(len(rank) - 1, 0))
        same = self._nodes[places] == nodes if len(rank) else np.zeros(len(nodes), bool)
        rank[places[same]] = ranks[same] / max(len(rank), 1)
        return rank / rank.sum() if len(rank) else rank

    def _write(self, writer: SnapshotWriter, backlinks: Backlinks, rank: NDArray[np.float64]) -> Iterator[None]:
        nodes = len(self._nodes)
        degrees = np.zeros(nodes, np.uint32)
        handing = 0
        for part in self._links:
            other = part.targets != np.repeat(part.pages, part.counts)
            degrees += np.bincount(part.targets[other], minlength=nodes).astype(np.uint32)
            handing += len(part.pages)
            yield
        links = sum(len(part.targets) for part in self._links)
        self._links.clear()  # what comes needs room
        order, places = places_of(rank)
        writer.begin("backlinks")
        for piece in backlinks.sorted():
            writer.write(piece)
            yield
        writer.add("backlink_offsets", backlinks.offsets().data)
        writer.add("nodes", self._nodes.data)
        writer.add("ranks", (rank * nodes).astype(np.float32).data)
        writer.add("places", places.data)
        writer.add("degrees", degrees.data)
        writer.add("top", order[:TOP].astype(np.uint32).data)
        writer.add("moved_from", self._aliases[0].data)
        writer.add("moved_to", self._aliases[1].data)
        yield
        pages = int(np.count_nonzero(self._alive))
        figures = {"pages": pages, "nodes": nodes, "links": links, "dangling": pages - handing, "journal": self._end}
        writer.finish(figures)

    def _living(self, file: int) -> Iterator[tuple[Stored, NDArray[np.bool_]]]:
        """Each block, and which of its rows count."""
        row = 0
        for stored in self._blocks(file):
            rows = len(stored.block.kinds)
            yield stored, self._alive[row : row + rows]
            row += rows

    def _number(self, fingerprints: Fingerprints) -> NDArray[np.uint32]:
        """Numbers of nodes; of others, any."""
        return np.searchsorted(self._nodes, fingerprints).astype(np.uint32)


def _starts(counts: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Where each row's links begin."""
    return np.cumsum(counts, dtype=np.int64) - counts


def _joined(parts: list[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *parts])


def _together(parts: list[LinkRows]) -> LinkRows:
    empty = np.zeros(0, np.uint32)
    columns = zip(*parts, strict=True) if parts else ((), (), ())
    return LinkRows(*(np.concatenate([empty, *column]) for column in columns))


def _resolved(moved: Fingerprints, goals: Fingerprints) -> tuple[Fingerprints, Fingerprints]:
    """Sorted names that moved, and where each leads in the end."""
    order = np.argsort(moved)
    table = moved[order], goals[order]
    for _ in range(_HOPS):
        table = table[0], _alias(table[1], table)
    other = table[0] != table[1]
    return table[0][other], table[1][other]


def _alias(fingerprints: Fingerprints, table: tuple[Fingerprints, Fingerprints]) -> Fingerprints:
    """The same, where a name that moved is replaced by where it leads."""
    moved, goals = table
    if not len(moved) or not len(fingerprints):
        return fingerprints
    places = np.searchsorted(moved, fingerprints).clip(max=len(moved) - 1)
    return np.where(moved[places] == fingerprints, goals[places], fingerprints)
