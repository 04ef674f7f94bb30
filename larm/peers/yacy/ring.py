"""Ring: peers by their positions, and the owners of each position (YACY-25 to 27). Pure.

The references of a word are spread over 16 partitions by the hashes of their URLs, so that no peer has all references of a
common word; a search asks for all 16 positions. Only peers that take references and are old enough are on the ring, so a
position has as many owners as are wanted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from larm.peers.yacy.hashes import RING, order, position_of

EXPONENT = 4
PARTITIONS = 1 << EXPONENT
_SHIFT = 63 - EXPONENT
_ENDS = 2


def partition_of(url_hash: str) -> int:
    """Return the partition of a URL, 0 to 15, by the top bits of its position."""
    return position_of(url_hash) >> _SHIFT


def place_in(word_place: int, partition: int) -> int:
    """Return the position of a word's references whose URLs are in a partition (YACY-26)."""
    return word_place % (1 << _SHIFT) | partition << _SHIFT


def places_of(word: str) -> list[int]:
    """Return the positions of a word's hash, one for each partition."""
    place = position_of(word)
    return [place_in(place, partition) for partition in range(PARTITIONS)]


class Ring:
    """Peers in order; constant after construction. Equal hashes are one peer."""

    def __init__(self, hashes: Iterable[str]) -> None:
        self.hashes: Sequence[str] = sorted(set(hashes), key=order)

    def __len__(self) -> int:
        return len(self.hashes)

    def owners(self, place: int, number: int) -> Sequence[str]:
        """Return the first ``number`` peers clockwise from a position; fewer if the ring has fewer."""
        return self.owners_between(place, place, number)

    def owners_between(self, first: int, last: int, number: int) -> list[str]:
        """Return the owners of any position from ``first`` clockwise to ``last``, each once, in the order of the ring."""
        if not self.hashes:
            return []
        start, count = self._after(first), len(self.hashes)
        inside, width = 0, (last - first) % RING
        while inside < count and (position_of(self.hashes[(start + inside) % count]) - first) % RING < width:
            inside += 1
        return [self.hashes[(start + each) % count] for each in range(min(count, inside + number))]

    def around(self, name: str, number: int) -> set[str]:
        """Return the neighbours of a peer, ``number`` on each side."""
        at, count = self._after(position_of(name)), len(self.hashes)
        return {self.hashes[(at + step) % count] for step in range(-number, number + 1)} - {name} if count else set()

    def stretch(self, place: int, number: int) -> Sequence[str]:
        """Return the next ``number`` peers clockwise from a position; if these are all, the first one again at the end."""
        found = self.owners(place, number)
        return [*found, found[0]] if 0 < len(found) == len(self.hashes) else found

    def lacking(self, stretch: Sequence[str]) -> list[str]:
        """Return the peers between the first and the last of another peer's `stretch` that are not in it."""
        if len(stretch) < _ENDS:  # no peer is between
            return []
        known, first = set(stretch), position_of(stretch[0])
        width = (position_of(stretch[-1]) - first) % RING or RING
        start, count, found = self._after(first), len(self.hashes), list[str]()
        for step in range(count):
            name = self.hashes[(start + step) % count]
            if (position_of(name) - first) % RING >= width:
                break
            found += [] if name in known else [name]
        return found

    def changed(self, there: Mapping[str, bool]) -> Ring:
        """Return a ring with the peers whose value is True, and without those whose value is False."""
        hashes = [*self.hashes]
        for name, wanted in there.items():
            at = bisect_left(hashes, order(name), key=order)
            found = hashes[at : at + 1] == [name]
            if wanted and not found:
                hashes.insert(at, name)
            elif found and not wanted:
                del hashes[at]
        changed = Ring(())
        changed.hashes = hashes
        return changed

    def _after(self, place: int) -> int:
        return bisect_left(self.hashes, place, key=position_of)

    def __repr__(self) -> str:
        return f"<Ring of {len(self.hashes)} peers>"
