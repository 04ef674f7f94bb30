"""Summaries: which peers have which words, as they have said (YOUS-15, 16). Under the lock of the registrar.

BitTable: a row for each bit of a filter, with a bit for each summary. A query with several words is a few rows and an AND,
however many peers there are. Of 10,000 peers it has 240 MB, as their summaries have.
"""

from collections.abc import Iterator, Sequence

from larm.peers.door import RefusedError
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.needs import Clause, Term
from larm.peers.yousearch.summary import FILTERS, LENGTH, marked, partition, positions

_GROWTH = 8
"""One part in so many more room is made where there is none; at least eight summaries."""


class BitTable:
    """The bits of all summaries, by slots: small numbers, which are used again."""

    def __init__(self) -> None:
        self._width = 0
        """Bytes of a row."""
        self._rows = [bytearray() for _ in range(FILTERS)]
        self._free: list[int] = []

    def add(self) -> int:
        """A slot for a summary, which has no bits yet."""
        if not self._free:
            self._widen()
        return self._free.pop()

    def put(self, slot: int, vectors: Sequence[bytes], *, changes: bool = False) -> None:
        """The bits of a slot are these, or differ where these are 1."""
        byte, mask = slot >> 3, 1 << (slot & 7)
        spread = [bytes(mask if value >> bit & 1 else 0 for bit in range(8)) for value in range(256)]
        kept = bytes(value if changes else value & ~mask for value in range(256))
        for rows, vector in zip(self._rows, vectors, strict=True):
            column = bytes(rows[byte :: self._width]).translate(kept)
            new = b"".join(map(spread.__getitem__, vector))
            rows[byte :: self._width] = (int.from_bytes(column) ^ int.from_bytes(new)).to_bytes(len(column))

    def remove(self, slot: int) -> None:
        """It is free again."""
        self.put(slot, [bytes(LENGTH // 8)] * FILTERS)
        self._free.append(slot)

    def having(self, term: str) -> int:
        """The slots whose summaries have it, as bits of a number; the lowest is slot 0."""
        found = -1
        for rows, at in zip(self._rows, positions(term), strict=True):
            found &= int.from_bytes(rows[at * self._width : (at + 1) * self._width], "little")
        return max(0, found)

    def _widen(self) -> None:
        more = max(1, self._width // _GROWTH)
        old, self._width = self._width, self._width + more
        room = bytes(more)
        for j, rows in enumerate(self._rows):
            wider = bytearray()
            for at in range(LENGTH):
                wider += rows[at * old : (at + 1) * old]
                wider += room
            self._rows[j] = wider
        self._free += range(8 * self._width - 1, 8 * old - 1, -1)


_MOST_SLOTS = 20_000
"""Of which one has 24 KB: half a gigabyte."""


class _Summary:
    """Of one peer."""

    def __init__(self) -> None:
        self.name = ""
        self.languages: tuple[str, ...] = ()
        self.slots: list[int] = []


class Summaries:
    """Of all peers, by their keys."""

    def __init__(self) -> None:
        self._table = BitTable()
        self._of: dict[str, _Summary] = {}
        self._owners: dict[int, tuple[str, int, int]] = {}
        """Of each slot: whose, which partition, of how many."""

    def __contains__(self, key: str) -> bool:
        return key in self._of

    def take(self, key: str, told: say.Announce, vectors: Sequence[Sequence[bytes]] | None) -> bool:
        """What a peer has told, unpacked to ``vectors``; False: it has to tell all of it. Raises RefusedError."""
        wire, known = told.summary, self._of.get(key, _Summary())
        if wire is None:
            return key in self._of and known.name == told.summary_name
        if vectors is None:
            return False
        if wire.changes and (known.name != told.before or len(known.slots) != len(vectors)):
            return False
        self._resize(key, known, len(vectors))
        for slot, part in zip(known.slots, vectors, strict=True):
            self._table.put(slot, part, changes=wire.changes)
        known.languages, known.name = wire.languages, told.summary_name
        self._of[key] = known
        return True

    def remove(self, key: str) -> None:
        """The peer is gone."""
        if (known := self._of.pop(key, None)) is not None:
            self._resize(key, known, 0)

    def having(self, clause: Clause) -> set[str]:
        """Peers that meet it in any way."""
        return set[str]().union(*(set.intersection(*map(self._having_term, way)) for way in clause if way))

    def _having_term(self, term: Term) -> set[str]:
        """Peers that have the word, or in one of their languages another form of it."""
        stems = dict(term.stems)
        found = {key for key in self._owning(term.word) if not any(each in stems for each in self._of[key].languages)}
        for language, stem in stems.items():
            found |= {key for key in self._owning(marked(language, stem)) if language in self._of[key].languages}
        return found

    def _owning(self, word: str) -> Iterator[str]:
        slots = self._table.having(word)
        while slots:
            slot = (slots & -slots).bit_length() - 1
            slots &= slots - 1
            key, number, count = self._owners.get(slot, ("", 0, 0))
            if key and (count == 1 or partition(word, count) == number):
                yield key

    def _resize(self, key: str, summary: _Summary, count: int) -> None:
        if len(self._owners) + count - len(summary.slots) > _MOST_SLOTS:
            raise RefusedError("there is no room for another peer", 503)
        while len(summary.slots) > count:
            slot = summary.slots.pop()
            self._table.remove(slot)
            del self._owners[slot]
        while len(summary.slots) < count:
            summary.slots.append(self._table.add())
        self._owners |= {slot: (key, number, count) for number, slot in enumerate(summary.slots)}
