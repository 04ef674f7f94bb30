"""Columns: what a refresh does with many numbers at a time, said once and done by one of two.

``quick_columns.pyx`` does it in C, one number after the other. `larm.graph.numpy_columns` does the same for who has no
compiler; to load numpy takes 40 ms, in which the links of a small crawl are counted ten times over. Both give the same
integers, and ranks that differ by the rounding of sums at most (``tests/graph/test_columns.py``). Which one it is, is decided
once, here.

A column is a memoryview of numbers in the byte order of the machine, whoever made it: any of both takes what the other gave,
and it can be written to a file as it is. Called by `larm.graph.refresh`, `larm.graph.tables` and `larm.graph.ranks`, on their
thread. Pure, but for the columns of which is said that they are changed. Those that do not fit together, as no block has them,
raise ValueError, or with numpy IndexError; nothing else is ever read or written.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from larm.graph.block import Block

Column: TypeAlias = memoryview
"""Numbers: uint64 ("Q"), uint32 ("I"), float64 ("d") or float32 ("f")."""
Aliases: TypeAlias = tuple[Column, Column]
"""Fingerprints of names that moved, sorted, and of where each leads; uint64."""


class BlockLinks(Protocol):
    """The links of a block of which is known that its columns fit together. ``alive``: a byte for each row, 1 if it counts."""

    def goals(self) -> Column:
        """Where each row's page moved, uint64; 0 for those that did not."""

    def named(self, alive: bytes, aliases: Aliases) -> Column:
        """Fingerprints of the pages that count and of all that they link to, in any order; uint64."""

    def numbered(
        self, alive: bytes, aliases: Aliases, nodes: Column, texts: Column
    ) -> tuple[Column, Column, Column, Column, Column]:
        """As numbers of nodes, uint32: (pages, sources, counts, targets, backlinks).

        ``nodes``: all fingerprints, sorted; ``texts``: the numbers of the block's texts. ``pages``: those of the rows that
        count. ``sources``: those of them that have links, ``counts`` how many, ``targets`` where these lead, page by page,
        sorted, each once. ``backlinks``: target, source, text, target ... of each link to another page, in their order.
        """


class Columns(Protocol):
    """What a module has that does it."""

    def opened(self, block: Block) -> BlockLinks:
        """Raises ValueError where the block says what can't be, so that nobody reads what is not there."""

    def last_rows(self, kinds: bytes, pages: bytes, goals: bytes) -> tuple[bytes, Column, Column]:
        """(1 for each row that is a page's last and has its links, names that moved in their order, their goals)."""

    def resolved(self, moved: Column, goals: Column, hops: int) -> Aliases:
        """Where each name leads in the end, after so many hops; without those that lead to themselves."""

    def distinct(self, known: Column, more: Sequence[Column]) -> Column:
        """Sorted, each once; ``known`` is so already. uint64."""

    def places(self, among: Column, numbers: Column) -> Column:
        """The place of each number (uint64) in a sorted column, uint32; of what is not there, any."""

    def zeros_at(self, column: Column, numbers: Column) -> list[int]:
        """Which of the numbers (uint32) are places of a zero in the column (uint64)."""

    def dealt(self, backlinks: Column, width: int, buckets: int) -> list[Column]:
        """`BlockLinks.numbered`'s backlinks in buckets, each for the next ``width`` targets; in each in their order."""

    def by_target(self, backlinks: bytes, first: int, starts: Column) -> Column:
        """Source, text, source ... of one bucket, by target, those of a target in their order.

        ``starts`` (uint64, changed): at 0 is how many were before; sets where those of the target ``first`` + 0, 1, 2 ...
        end at 1, 2, 3 ... Raises ValueError for other targets.
        """

    def count(self, sources: Column, counts: Column, targets: Column, degrees: Column) -> None:
        """Add to each target's degree (uint32, changed) the links from other pages."""

    def carry(self, rank: Column, nodes: Column, known: Column, ranks: Column) -> None:
        """Give those nodes that were ``known`` the rank they had (float32, times the nodes); then all together are 1.

        ``rank`` is changed, float64. Raises ValueError where there is not one for each.
        """

    def hand_on(self, rank: Column, sources: Column, counts: Column, targets: Column, gathered: Column) -> float:
        """Add to what each target has ``gathered`` (float64, changed) its share of the sources' ranks; how much that is."""

    def settle(self, gathered: Column, handed: float, damping: float, rank: Column) -> float:
        """Make of what was ``gathered`` the new rank, in its place; how far it is from the last one, the L1 distance.

        ``handed`` is how much was; all nodes have as much of the rest.
        """

    def by_rank(self, rank: Column, most: int) -> tuple[Column, Column]:
        """(the first nodes from the highest rank down, the place of each node in this order), uint32; equals by number."""

    def scaled(self, rank: Column) -> Column:
        """Ranks of which the average is 1, as float32."""


def zeros(kind: str, count: int) -> Column:
    """A new column, as ``kind`` says (as in the module ``array``)."""
    return memoryview(array(kind, (0,)) * count)


def joined(kind: str, parts: Iterable[Column]) -> Column:
    """One after the other, as a new column."""
    return memoryview(array(kind, b"".join(parts)))


_found: Any
try:
    _found = import_module("larm.graph.quick_columns")
except ImportError:  # not compiled, or for another machine
    _found = import_module("larm.graph.numpy_columns")
columns: Columns = _found

if TYPE_CHECKING:
    from larm.graph import numpy_columns

    _same: Columns = numpy_columns
