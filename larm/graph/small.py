"""write_small: the snapshot of a short journal, made in one go, without numpy, which takes longer to load.

Called by the graph storage on its writer thread. It makes the arrays that `larm.graph.refresh` makes of any journal, and holds
all links in memory.
"""

from array import array
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, suppress
from functools import reduce
from itertools import accumulate, chain
from operator import xor
from pathlib import Path
from typing import NamedTuple

import xxhash

from larm.errors import StorageError
from larm.graph.block import MOVED, PAGE, Stored, damaged, numbers, read_block
from larm.graph.files import DAMPING, HOPS, LOCATION_BITS, PRECISE, TOP
from larm.graph.snapshot import Snapshot, SnapshotWriter

SHORT = 400_000
"""Bytes of a journal, some 15,000 links: numpy loads in the time that these take here."""


class _Row(NamedTuple):
    kind: int
    location: int
    url: bytes
    links: list[tuple[int, int]]
    """Fingerprint of the target, hash of the text."""


def write_small(journal: Path, end: int, path: Path) -> None:
    """Put a snapshot of the first ``end`` bytes of the journal in the place of the last one. Raises StorageError."""
    rows: dict[int, _Row] = {}  # the last one of each address
    texts: dict[int, bytes] = {}  # by hash
    try:
        with journal.open("rb") as file:
            offset = 0
            while offset < end:
                stored = read_block(file.fileno(), offset, end, journal)
                for page, row in _rows(stored, texts, journal):
                    rows.pop(page, None)
                    rows[page] = row
                offset = stored.end
    except FileNotFoundError:
        return
    goals = {page: row.links[0][0] for page, row in rows.items() if row.kind == MOVED}
    for _ in range(HOPS):
        goals = {page: goals.get(goal, goal) for page, goal in goals.items()}
    goals = {page: goal for page, goal in sorted(goals.items()) if page != goal}
    pages = {page: row for page, row in rows.items() if row.kind == PAGE}
    named = {target for row in pages.values() for target, _ in row.links}
    nodes = sorted({*pages, *[goals.get(target, target) for target in named]})
    hashes = sorted(texts)
    node, text = ({key: number for number, key in enumerate(keys)} for keys in (nodes, hashes))
    node |= {name: node[goals[name]] for name in named & goals.keys()}
    targets: list[set[int]] = [set() for _ in nodes]
    backlinks: list[list[int]] = [[] for _ in nodes]
    for page, row in pages.items():
        source = node[page]
        for fingerprint, key in row.links:
            target = node[fingerprint]
            targets[source].add(target)
            if target != source:
                backlinks[target] += (source, text[key])
    marks = [reduce(xor, [hashes[key] for key in set(links[1::2])], 0) for links in backlinks]
    rank = _ranks(nodes, targets, path)
    order = sorted(range(len(nodes)), key=lambda number: -rank[number])
    addresses = dict(zip(pages, accumulate([len(row.url) + 1 for row in pages.values()], initial=1), strict=False))
    begins = dict(zip(texts, accumulate([len(line) + 1 for line in texts.values()], initial=1), strict=False))
    with closing(SnapshotWriter(path)) as writer:
        writer.add("texts", b"\n".join([b"", *texts.values(), b""]) if texts else b"")
        writer.add("urls", b"\n".join([b"", *[row.url for row in pages.values()], b""]))
        for name, kind, column in (
            ("text_offsets", "Q", map(begins.__getitem__, hashes)),
            ("url_offsets", "Q", [addresses.get(page, 0) for page in nodes]),
            ("locations", "Q", [pages[page].location if page in pages else 0 for page in nodes]),
            ("backlinks", "I", chain.from_iterable(backlinks)),
            ("backlink_offsets", "Q", accumulate([len(links) // 2 for links in backlinks], initial=0)),
            ("marks", "Q", marks),
            ("nodes", "Q", nodes),
            ("ranks", "f", [each * len(nodes) for each in rank]),
            ("places", "I", sorted(range(len(nodes)), key=order.__getitem__)),
            ("degrees", "I", [len(set(links[::2])) for links in backlinks]),
            ("top", "I", order[:TOP]),
            ("moved_from", "Q", goals),
            ("moved_to", "Q", goals.values()),
        ):
            writer.add(name, array(kind, column).tobytes())
        links, handing = sum(map(len, targets)), sum(map(bool, targets))
        writer.finish(
            {"pages": len(pages), "nodes": len(nodes), "links": links, "dangling": len(pages) - handing, "journal": end}
        )


def _rows(stored: Stored, texts: dict[int, bytes], journal: Path) -> Iterator[tuple[int, _Row]]:
    """Yield the rows of a block by their pages; put its texts beside those before it. Raises StorageError."""
    block, at = stored.block, 0
    lines = block.texts.split(b"\n")
    hashes = [xxhash.xxh3_64_intdigest(line) for line in lines]
    for key, line in zip(hashes, lines, strict=True):
        texts.setdefault(key, line)
    nodes, columns = numbers("Q", block.nodes), (numbers("I", block.targets), numbers("I", block.anchors))
    try:
        links = [(nodes[target], hashes[anchor]) for target, anchor in zip(*columns, strict=True)]
        rows = zip(block.kinds, numbers("Q", block.pages), block.urls.split(b"\n"), numbers("I", block.counts), strict=True)
        for row, (kind, page, url, count) in enumerate(rows, 1):
            if at + count > len(links) or (kind == MOVED and not count):
                raise ValueError("its links are incomplete")
            yield page, _Row(kind, (stored.offset << LOCATION_BITS) + row, url, links[at : at + count])
            at += count
    except (ValueError, IndexError) as error:
        raise damaged(journal, stored.offset, error) from error


def _ranks(nodes: Sequence[int], targets: Sequence[Collection[int]], path: Path) -> list[float]:
    """Return the PageRank of each node, as `larm.graph.refresh` explains it."""
    rank = [1.0] * len(nodes)
    with suppress(FileNotFoundError, StorageError, ValueError):  # there is none that can be used
        old = Snapshot(path)
        known = dict(zip(old.array("nodes", "Q"), old.array("ranks", "f"), strict=True))
        rank = [known.get(node, 1.0) for node in nodes]
    whole, moved = sum(rank), float(len(nodes))
    rank = [each / whole for each in rank]
    while moved > PRECISE:
        gathered = [0.0] * len(nodes)
        for held, some in zip(rank, targets, strict=True):
            share = held / len(some) if some else 0.0
            for target in some:
                gathered[target] += share
        rest = (1.0 - DAMPING * sum(gathered)) / len(nodes)
        gathered = [DAMPING * each + rest for each in gathered]
        moved = sum([abs(each - before) for each, before in zip(gathered, rank, strict=True)])
        rank = gathered
    return rank
