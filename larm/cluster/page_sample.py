"""PageSample: a few of an agent's pages, chosen so that agents choose the same ones: those whose addresses have the smallest
hashes. What two agents have fetched both is in both samples, so the overlap of all can be told from them (UBI-22).

Read from ``store.log``, some lines at a time. On ``larm-agents``.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from larm.cluster.card import SAMPLE

_BYTES = 200_000
"""Of the log that are read at a time: some milliseconds."""


class PageSample:
    """``path``: of the log; it may not be there yet."""

    def __init__(self, path: Path) -> None:
        # constant after construction
        self._path = path
        # only larm-agents
        self._position = 0
        self._smallest: list[int] = []
        self.behind = True
        """There was more to read than the last call has read."""

    def read_on(self) -> None:
        """What was added since the last call, or some of it. A log that was cut is read on from its end."""
        try:
            with open(self._path, "rb") as log:
                size = log.seek(0, 2)
                self._position = min(self._position, size)
                log.seek(self._position)
                block = log.read(_BYTES)
        except OSError:
            return  # it is not there, or the storage will say what is wrong with it
        end = block.rfind(b"\n") + 1
        if not end and len(block) == _BYTES:
            end = _BYTES  # a line as long as that is none of ours
        self._position += end
        self.behind = self._position + len(block) - end < size and end > 0
        found = {*self._smallest, *(_hash(line.split(b"\t", 2)[1]) for line in block[:end].splitlines() if b"\t" in line)}
        self._smallest = sorted(found)[:SAMPLE]

    @property
    def smallest(self) -> tuple[int, ...]:
        """The hashes, in order."""
        return tuple(self._smallest)


def overlap(samples: Iterable[Sequence[int]]) -> float:
    """Pages that were fetched once too often, by all pages: (n - u) / u."""
    seen = list(samples)
    full = [sample[-1] for sample in seen if len(sample) >= SAMPLE]
    below = min(full, default=1 << 64)
    chosen = [each for sample in seen for each in sample if each <= below]
    return (len(chosen) - len(set(chosen))) / len(set(chosen)) if chosen else 0.0


def _hash(url: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(url, digest_size=8).digest(), "big")
