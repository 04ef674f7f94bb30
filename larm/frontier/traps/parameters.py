"""HostParameters: which parameters change the text of a host's pages, and which do not. Plain state of its record."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from larm.frontier.traps.bounded import entry
from larm.model.novelty import Novelty
from larm.model.url_shape import Parts, form_without

_FORMS, _PARAMETERS, _CLAIMS = 256, 64, 4096
"""Of each so many are remembered, those that came last."""
_ALIKE = 3
"""Bits in which the simhashes of texts differ at most that are taken for one: but for a word or two, they are the same."""
_SAME, _OTHER = 8, 10
"""Times that addresses which differ in a parameter have had the same text; and how many of them for one time they had not."""
_LONGEST = 6
"""Parameters; of more combinations nothing can be learned."""


class HostParameters:
    """One host's; the lock of the `HostBook` is held."""

    __slots__ = ("_forms", "claims", "counts")

    def __init__(self) -> None:
        self.counts: dict[str, tuple[int, int]] = {}
        """By name: how often the text was the same without it, and how often it was another."""
        self.claims: dict[int, int] = {}
        """Addresses that were read, without the parameters that mean nothing: whose it was."""
        self._forms: dict[int, tuple[int, int]] = {}
        """Addresses that were read, without none, one or two of their parameters: the first one, and the simhash of its text.

        Not kept across restarts."""

    def meaningless(self, parts: Parts) -> set[str]:
        """Parameters that, on this host, do not change the text."""
        if not self.counts or not parts.parameters:
            return set()
        return {name for name in parts.parameters if _means_nothing(*self.counts.get(name, (0, 0)))}

    def repeated(self, parts: Parts, fingerprint: int) -> set[str]:
        """Those because of which an address has been read already, as another one; empty: it has not been."""
        empty = self.meaningless(parts)
        if not empty:
            return empty
        holder = self.claims.get(form_without(parts, empty))
        return set() if holder is None or holder == fingerprint else empty

    @property
    def empty(self) -> list[str]:
        """All that mean nothing."""
        return [name for name, counts in self.counts.items() if _means_nothing(*counts)]

    def mean_something(self, names: Iterable[str]) -> None:
        """It was a mistake."""
        for name in names:
            self.counts[name] = (0, _SAME)

    def learn(self, read: Novelty, parts: Parts) -> list[str]:
        """Compare a page with those whose address is the same but for a parameter, or two. Returns what now means nothing."""
        found: list[str] = []
        if read.simhash and (self.counts or parts.parameters) and len(parts.parameters) <= _LONGEST:
            names = sorted(parts.parameters.keys() - read.spoken)
            settled: set[str] = set()  # alone they differ; in a pair nothing would be learned of the other one
            for some in ((), *((name,) for name in names), *combinations(names, 2)):
                first, simhash = entry(
                    self._forms, form_without(parts, some), lambda: (read.url.fingerprint, read.simhash), _FORMS
                )
                alike = (simhash ^ read.simhash).bit_count() <= _ALIKE
                if first != read.url.fingerprint and settled.isdisjoint(some) and (alike or len(some) == 1):
                    settled.update(some)
                    found += [name for name in some if self._count(name, same=alike)]
        empty = self.meaningless(parts)
        if empty:
            form = form_without(parts, empty)
            if form not in self.claims:
                entry(self.claims, form, lambda: read.url.fingerprint, _CLAIMS)
        return found

    def _count(self, name: str, *, same: bool) -> bool:
        """Whether it has just turned out to mean nothing."""
        known = entry(self.counts, name, lambda: (0, 0), _PARAMETERS)
        before = _means_nothing(*known)
        now = self.counts[name] = (known[0] + same, known[1] + (not same))
        return _means_nothing(*now) and not before


def _means_nothing(same: int, other: int) -> bool:
    return same >= _SAME and other * _OTHER <= same
