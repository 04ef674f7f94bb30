"""Columns: what a refresh does with many numbers at a time, by numpy.

A column is a memoryview of numbers in the byte order of the machine, and can be written to a file as it is. Called by
`larm.graph.refresh`, `larm.graph.tables` and `larm.graph.refresh`, on their thread. Pure, but for the columns of which is said
that they are changed. Those that do not fit together, as no block has them, raise ValueError or IndexError. numpy needs a tenth
of the time to sort numbers of 16 bits, so they are made where they can be.
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from larm.graph.block import MOVED, PAGE, Block

Column: TypeAlias = memoryview
"""Numbers: uint64 ("Q"), uint32 ("I"), float64 ("d") or float32 ("f")."""
Aliases: TypeAlias = tuple[Column, Column]
"""Fingerprints of names that moved, sorted, and of where each leads; uint64."""

_Words = NDArray[np.uint64]
_Numbers = NDArray[np.uint32]


class BlockLinks(NamedTuple):
    """The links of a block of which is known that its columns fit together. ``alive``: a byte for each row, 1 if it counts."""

    kinds: NDArray[np.uint8]
    pages: _Words
    counts: _Numbers
    nodes: _Words
    targets: _Numbers
    anchors: _Numbers
    texts: int

    def goals(self) -> Column:
        """Where each row's page moved, uint64; 0 for those that did not."""
        goals, moved = np.zeros(len(self.kinds), np.uint64), self.kinds == MOVED
        first = np.cumsum(self.counts, dtype=np.int64) - self.counts
        goals[moved] = self.nodes[self.targets[first[moved]]]
        return goals.data

    def named(self, alive: bytes, aliases: Aliases) -> Column:
        """Fingerprints of the pages that count and of all that they link to, in any order; uint64."""
        living, nodes = _mask(alive), self.nodes
        if not living.all():
            nodes = nodes[_distinct(self.targets[np.repeat(living, self.counts)])]
        return np.concatenate((_alias(nodes, aliases), self.pages[living])).data

    def numbered(
        self, alive: bytes, aliases: Aliases, nodes: Column, texts: Column
    ) -> tuple[Column, Column, Column, Column, Column]:
        """As numbers of nodes, uint32: (pages, sources, counts, targets, backlinks).

        ``nodes``: all fingerprints, sorted; ``texts``: the numbers of the block's texts. ``pages``: those of the rows that
        count. ``sources``: those of them that have links, ``counts`` how many, ``targets`` where these lead, page by page,
        sorted, each once. ``backlinks``: target, source, text, target ... of each link to another page, in their order.
        """
        living, among = _mask(alive), np.asarray(nodes)
        if len(texts) != self.texts:
            raise ValueError("not the block's texts")
        used = np.repeat(living, self.counts)
        targets = _places(among, _alias(self.nodes, aliases))[self.targets[used]]
        numbers = _places(among, self.pages[living])
        places = np.repeat(np.arange(len(numbers), dtype=np.uint64), self.counts[living])
        sources = numbers[places]
        other = sources != targets  # that a page links to itself is no recommendation; who clicks at random clicks it, too
        anchors = np.asarray(texts)[self.anchors[used][other]]
        backlinks = np.stack((targets[other], sources[other], anchors), axis=1)
        links = np.sort(places << np.uint64(32) | targets)
        links = links[np.diff(links, prepend=links[:1] + np.uint64(1)) != 0]  # of several links to a page, one counts
        each = np.bincount((links >> np.uint64(32)).astype(np.int64), minlength=len(numbers)).astype(np.uint32)
        some = each > 0
        goals = (links & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        return numbers.data, numbers[some].data, each[some].data, goals.data, backlinks.ravel().data


def opened(block: Block) -> BlockLinks:
    """Raises ValueError where the block says what can't be, so that nobody reads what is not there."""
    links = BlockLinks(
        np.frombuffer(block.kinds, np.uint8),
        np.frombuffer(block.pages, "<u8"),
        np.frombuffer(block.counts, "<u4"),
        np.frombuffer(block.nodes, "<u8"),
        np.frombuffer(block.targets, "<u4"),
        np.frombuffer(block.anchors, "<u4"),
        block.texts.count(b"\n") + 1,
    )
    rows, count = len(links.kinds), int(links.counts.sum(dtype=np.uint64))
    if not rows == len(links.pages) == len(links.counts) == block.urls.count(b"\n") + 1:
        raise ValueError("its rows are incomplete")
    if not count == len(links.targets) == len(links.anchors):
        raise ValueError("its links are incomplete")
    if count and (links.targets.max() >= len(links.nodes) or links.anchors.max() >= links.texts):
        raise ValueError("a link leads out of it")
    if not links.counts[links.kinds == MOVED].all():
        raise ValueError("a page moved nowhere")
    return links


def last_rows(kinds: bytes, pages: bytes, goals: bytes) -> tuple[bytes, Column, Column]:
    """(1 for each row that is a page's last and has its links, names that moved in their order, their goals)."""
    kind, page, goal = np.frombuffer(kinds, np.uint8), np.frombuffer(pages, "<u8"), np.frombuffer(goals, np.uint64)
    if not len(kind) == len(page) == len(goal):
        raise ValueError("columns of different lengths")
    order = np.argsort(page, kind="stable")
    last = np.ones(len(page), bool)
    np.not_equal(page[order[1:]], page[order[:-1]], out=last[:-1])
    rows = order[last]
    moved = rows[kind[rows] == MOVED]
    alive = np.zeros(len(page), np.uint8)
    alive[rows[kind[rows] == PAGE]] = 1
    return alive.tobytes(), page[moved].astype(np.uint64).data, goal[moved].data


def resolved(moved: Column, goals: Column, hops: int) -> Aliases:
    """Where each name leads in the end, after so many hops; without those that lead to themselves."""
    names, found = np.asarray(moved), np.asarray(goals)
    for _ in range(hops):
        found = _alias(found, (names.data, found.data))
    other = names != found
    return names[other].data, found[other].data


def distinct(known: Column, more: Sequence[Column]) -> Column:
    """Sorted, each once; ``known`` is so already. uint64."""
    return _distinct(np.concatenate([np.asarray(each) for each in (known, *more)])).data


def places(among: Column, numbers: Column) -> Column:
    """The place of each number (uint64) in a sorted column, uint32; of what is not there, any."""
    return _places(np.asarray(among), np.asarray(numbers)).data


def zeros_at(column: Column, numbers: Column) -> list[int]:
    """Which of the numbers (uint32) are places of a zero in the column (uint64)."""
    found: list[int] = np.flatnonzero(np.asarray(column)[np.asarray(numbers)] == 0).tolist()
    return found


def dealt(backlinks: Column, width: int, buckets: int) -> list[Column]:
    """`BlockLinks.numbered`'s backlinks in buckets, each for the next ``width`` targets; in each in their order."""
    rows = np.asarray(backlinks).reshape(-1, 3)
    numbers = (rows[:, 0] // np.uint32(width)).astype(np.uint16)
    rows = rows[np.argsort(numbers, kind="stable")]
    ends = np.cumsum(np.bincount(numbers, minlength=buckets)).tolist()
    if len(ends) > buckets:
        raise ValueError("a target is in none of the buckets")
    return [rows[begin:end].ravel().data for begin, end in zip([0, *ends], ends, strict=False)]


def by_target(backlinks: bytes, first: int, starts: Column) -> Column:
    """Source, text, source ... of one bucket, by target, those of a target in their order.

    ``starts`` (uint64, changed): at 0 is how many were before; sets where those of the target ``first`` + 0, 1, 2 ...
    end at 1, 2, 3 ... Raises ValueError for other targets.
    """
    rows, ends = np.frombuffer(backlinks, np.uint32).reshape(-1, 3), np.asarray(starts)
    width = len(ends) - 1
    targets = rows[:, 0] - np.uint32(first)  # of one that is less it makes a very large one
    if len(targets) and targets.max() >= width:
        raise ValueError("a target is in another bucket")
    ends[1:] = ends[0] + np.cumsum(np.bincount(targets, minlength=width), dtype=np.uint64)
    small = targets.astype(np.uint16) if width <= 1 << 16 else targets
    return rows[np.argsort(small, kind="stable"), 1:].ravel().data


def marks(links: Column, starts: Column, hashes: Column) -> Column:
    """For each target a number (uint64) that is another one when the texts of its links are others.

    ``links`` and ``starts``: of one bucket, as `by_target` has them; ``hashes`` (uint64) of all texts, by number.
    """
    ends = np.asarray(starts).astype(np.int64)
    found = np.zeros(len(ends) - 1, np.uint64)
    targets = np.repeat(np.arange(len(found), dtype=np.uint64), np.diff(ends))
    pairs = _distinct(targets << np.uint64(32) | np.frombuffer(links, np.uint32)[1::2])
    owners = pairs >> np.uint64(32)
    firsts = np.flatnonzero(np.diff(owners, prepend=np.uint64(1 << 32)))
    if len(firsts):
        found[owners[firsts]] = np.bitwise_xor.reduceat(np.asarray(hashes)[pairs & np.uint64(0xFFFF_FFFF)], firsts)
    return found.data


def changed(before: Sequence[Column], now: Sequence[Column]) -> list[int]:
    """Fetched pages with other texts, by fingerprint. Nodes, their marks and their locations, 0 where they were not fetched."""
    (old, known), (new, marked) = (
        (np.asarray(nodes)[np.asarray(places) != 0], np.asarray(mark)[np.asarray(places) != 0])
        for nodes, mark, places in (before, now)
    )
    if not len(old):
        return [int(each) for each in new]
    places = np.minimum(np.searchsorted(old, new), len(old) - 1)
    others = new[(old[places] != new) | (known[places] != marked)]
    return sorted([*others.tolist(), *np.setdiff1d(old, new, assume_unique=True).tolist()])


def count(sources: Column, counts: Column, targets: Column, degrees: Column) -> None:
    """Add to each target's degree (uint32, changed) the links from other pages."""
    found, goals = np.asarray(degrees), np.asarray(targets)
    other = goals != np.repeat(np.asarray(sources), np.asarray(counts))
    found += np.bincount(goals[other], minlength=len(found)).astype(np.uint32)


def carry(rank: Column, nodes: Column, known: Column, ranks: Column) -> None:
    """Give those nodes that were ``known`` the rank they had (float32, times the nodes); then all together are 1.

    ``rank`` is changed, float64. Raises ValueError where there is not one for each.
    """
    found, among, before, had = np.asarray(rank), np.asarray(nodes), np.asarray(known), np.asarray(ranks)
    if not len(before) == len(had) or not len(found) == len(among):
        raise ValueError("not a rank for each node")
    if len(found):
        numbers = np.searchsorted(among, before).clip(max=len(found) - 1)
        same = among[numbers] == before
        found[numbers[same]] = had[same] / len(found)
        found /= found.sum()


def hand_on(rank: Column, sources: Column, counts: Column, targets: Column, gathered: Column) -> float:
    """Add to what each target has ``gathered`` (float64, changed) its share of the sources' ranks; how much that is."""
    found, many = np.asarray(gathered), np.asarray(counts)
    held = np.asarray(rank)[np.asarray(sources)]
    found += np.bincount(np.asarray(targets), np.repeat(held / many, many), len(found))
    return float(held.sum())


def settle(gathered: Column, handed: float, damping: float, rank: Column) -> float:
    """Make of what was ``gathered`` the new rank, in its place; how far it is from the last one, the L1 distance.

    ``handed`` is how much was; all nodes have as much of the rest.
    """
    found, nodes = np.asarray(gathered), len(gathered)
    found += (1.0 - handed) / nodes
    found *= damping
    found += (1.0 - damping) / nodes
    return float(np.abs(found - np.asarray(rank)).sum())


def by_rank(rank: Column, most: int) -> tuple[Column, Column]:
    """(the first nodes from the highest rank down, the place of each node in this order), uint32; equals by number."""
    order = np.argsort(-np.asarray(rank), kind="stable").astype(np.uint32)
    found = np.zeros(len(order), np.uint32)
    found[order] = np.arange(len(order), dtype=np.uint32)
    return order[:most].copy().data, found.data


def scaled(rank: Column) -> Column:
    """Ranks of which the average is 1, as float32."""
    return (np.asarray(rank) * len(rank)).astype(np.float32).data


def _mask(alive: bytes) -> NDArray[np.bool_]:
    return np.frombuffer(alive, np.bool_)


def _distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """``np.unique``, which however loads 5 ms of numpy first, and by its hash table takes twenty times as long for these."""
    numbers = np.sort(numbers)
    first = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers[first]


def _places(among: _Words, numbers: _Words) -> _Numbers:
    """In their order numbers are found in a third of the time, as each is near the last one."""
    found, order = np.empty(len(numbers), np.uint32), np.argsort(numbers)
    found[order] = np.searchsorted(among, numbers[order])
    return found


def _alias(fingerprints: _Words, aliases: Aliases) -> _Words:
    """The same, where a name that moved is replaced by where it leads."""
    moved, goals = np.asarray(aliases[0]), np.asarray(aliases[1])
    if not len(moved) or not len(fingerprints):
        return fingerprints
    found = np.searchsorted(moved, fingerprints).clip(max=len(moved) - 1)
    return np.where(moved[found] == fingerprints, goals[found], fingerprints)


def zeros(kind: str, count: int) -> Column:
    """A new column, as ``kind`` says (as in the module ``array``)."""
    return memoryview(array(kind, (0,)) * count)


def joined(kind: str, parts: Iterable[Column]) -> Column:
    """One after the other, as a new column."""
    return memoryview(array(kind, b"".join(parts)))
