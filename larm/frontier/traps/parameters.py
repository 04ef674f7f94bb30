"""HostParameters: what in addresses of a host changes the text of its pages, and what does not, as a session. Plain state.

Asked of parameters, and of segments of paths that have digits. Addresses that are the same but for what changes nothing are one
*family*: of the pages of a family, one is worth while. Of a segment, more is asked than of a parameter: it is nothing only if
the text is the same in every digit, for as many texts as it takes, since numbers of pictures and of versions stand there, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from larm.frontier.traps.bounded import entry
from larm.model.novelty import Novelty
from larm.model.url_shape import Parts, form_of, number_of, numbered, without

_FORMS, _PARAMETERS, _CLAIMS = 1024, 64, 8192
"""Of each so many are remembered, those that came last."""
_ALIKE = 3
"""Bits in which the simhashes of texts differ at most that are taken for one: but for a word or two, they are the same."""
_SAME, _OTHER = 8, 10
"""Times that addresses which differ in a parameter have had the same text; and how many of them for one time they had not."""
_LONGEST = 6
"""Parameters and segments; of more combinations nothing can be learned."""


class HostParameters:
    """One host's; the lock of the `HostBook` is held."""

    __slots__ = ("_forms", "_texts", "claims", "counts")

    def __init__(self) -> None:
        self.counts: dict[str, tuple[int, int]] = {}
        """By name: how often the text was the same without it, and how often it was another."""
        self.claims: dict[int, int] = {}
        """Families of which one was read, or is asked for now: a number for its address."""
        self._forms: dict[int, tuple[int, int, int]] = {}
        """Addresses that were read, without none, one or two of their parameters: the first one's number, simhash and text.

        Not kept across restarts."""
        self._texts: dict[str, set[int]] = {}
        """By name of a segment: the first texts that were the same without it; not kept, either."""

    def meaningless(self, parts: Parts) -> set[str]:
        """What, on this host, does not change the text."""
        if not self.counts:
            return set()
        names = (*numbered(parts), *parts.parameters)
        return {name for name in names if _means_nothing(*self.counts.get(name, (0, 0)))}

    def family(self, parts: Parts) -> int | None:
        """The form that it has in common with its family; None: it has none."""
        empty = self.meaningless(parts)
        return form_of(without(parts, empty)) if empty else None

    def first(self, access: str, family: int) -> bool:
        """Whether no other one of its family was asked for."""
        known = self.claims.get(family) or self._forms.get(family, (0, 0, 0))[0]
        return not known or known == number_of(access)

    def claim(self, access: str, parts: Parts) -> None:
        """One goes on; of its family, no other one need be asked for."""
        family = self.family(parts)
        if family is not None and self.first(access, family):
            entry(self.claims, family, lambda: number_of(access), _CLAIMS)

    @property
    def empty(self) -> list[str]:
        """All that mean nothing."""
        return [name for name, counts in self.counts.items() if _means_nothing(*counts)]

    def mean_something(self, names: Iterable[str]) -> None:
        """It was a mistake."""
        for name in names:
            self.counts[name] = (0, _SAME)

    def learn(self, read: Novelty, parts: Parts, *, segments: bool) -> list[str]:
        """Compare a page with those whose address is the same but for a parameter, or two. Returns what now means nothing.

        ``segments``: of the path's, too.
        """
        found: list[str] = []
        places = numbered(parts) if segments and read.text else {}
        names = sorted({*places, *parts.parameters} - read.spoken)
        if read.simhash and (self.counts or names) and len(names) <= _LONGEST:
            own = number_of(read.url.access)
            settled: set[str] = set()  # alone they differ; in a pair nothing would be learned of the other one
            for some in ((), *((name,) for name in names), *combinations(names, 2)):
                first, simhash, text = entry(
                    self._forms, form_of(without(parts, some)), lambda: (own, read.simhash, read.text), _FORMS
                )
                alike = (simhash ^ read.simhash).bit_count() <= _ALIKE
                if first == own or not settled.isdisjoint(some) or not (alike or len(some) == 1):
                    continue
                exact = not places.keys().isdisjoint(some)
                if alike and ((exact and read.text != text) or not self._says_as_much(read.simhash, some)):
                    continue
                settled.update(some)
                found += [name for name in some if self._count(name, same=alike)]
        self.claim(read.url.access, parts)
        return found

    def _says_as_much(self, text: int, some: Iterable[str]) -> bool:
        """Whether the text tells more of these than those before did, or enough did."""
        new = [known for name in some if len(known := self._texts.setdefault(name, set())) < _SAME]
        fresh = all(text not in each for each in new)
        for each in new:
            each.add(text)
        return fresh

    def _count(self, name: str, *, same: bool) -> bool:
        """Whether it has just turned out to mean nothing."""
        known = entry(self.counts, name, lambda: (0, 0), _PARAMETERS)
        before = _means_nothing(*known)
        now = self.counts[name] = (known[0] + same, known[1] + (not same))
        return _means_nothing(*now) and not before


def _means_nothing(same: int, other: int) -> bool:
    return same >= _SAME and other * _OTHER <= same
