"""HostParameters: which parameters of addresses change the text of a host's pages, and `Choices`, those that name a view.

Asked of parameters, and of segments of paths that have digits. Addresses that are the same but for what changes nothing are one
*family*: of the pages of a family, one is worth while. Texts of one page differ from one request to the next, by counters and
quotations, so they need not be the same: they are of one page if they are nearer to each other by far than pages of this host
are as a rule. What changes so little may be a day of the weather all the same: the first one of a family is asked for whatever
is closed, but the others are held back for it only where the texts are the same, and a parameter is all that differs.

A *session* is found by links alone: pages that are the same but for it have one list of links, in which each time all values
are new ones (`larm.model.session_links`).

Plain state of one host's traps.
"""

import re
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import msgspec

from larm.frontier.traps.records import entry
from larm.index.duplicates.likeness import distance
from larm.model.novelty import Novelty
from larm.model.session_links import SessionLinks
from larm.model.url_shape import Parts, Pattern, chosen_pattern, form_of, generalised, number_of, numbered, without

_FORMS, _PARAMETERS, _CLAIMS, _LATE = 1024, 64, 8192, 15
"""Of each so many are remembered, those that came last."""
_ALIKE = 3
"""Bits in which the simhashes of texts differ at most that are the same but for a word or two."""
_NEARER, _FARTHER = 0.5, 0.75
"""Of the bits in which texts of a host differ as a rule: up to this it is one page, and beyond that another one."""
_SAME, _OTHER = 8, 10
"""Times that addresses which differ in a parameter were the same page; and how many of them for one time they were not."""
_LONGEST = 6
"""Parameters and segments; of more combinations nothing can be learned."""
_LISTS, _PROOFS = 64, 3
"""Lists of links that are remembered, those that came last; and how often one has to come with new values."""
_MOST_SESSIONS = 4
"""Of a host: a server has one, or two."""


class Count(NamedTuple):
    """Of one name: pages whose addresses differ in it alone, or in it and another one."""

    same: int = 0
    """Their texts were the same, but for a word or two."""
    other: int = 0
    """They were different ones."""
    near: int = 0
    """They were taken for one page."""

    @property
    def nothing(self) -> bool:
        """It does not make a page another one."""
        return self.same + self.near >= _SAME and self.other * _OTHER <= self.same + self.near

    @property
    def idle(self) -> bool:
        """Nor does it change the text."""
        return self.same >= _SAME and (self.other + self.near) * _OTHER <= self.same


_NOTHING = frozenset[str]()  # one for all hosts


class HostParameters(msgspec.Struct, array_like=True, eq=False):
    """The parameters of one host. Guarded by the lock of the `HostBook`."""

    counts: dict[str, Count] = {}
    """By name."""
    claims: dict[int, int] = {}
    """Families of which one was read, waits or is held back: a number for its address."""
    sessions: list[str] = []
    """Parameters that identify a visitor, and never a page."""
    # not saved
    _forms: dict[int, tuple[int, int]] = {}
    """Addresses that were read, without none, one or two of their parameters: the first one's number and simhash."""
    _texts: dict[str, set[int]] = {}
    """By name: the first texts of which the page was the same without it."""
    _lists: dict[tuple[int, str], SessionLinks] = {}
    """By the form of a page without a parameter, and its name: the links that had it."""
    _proofs: dict[str, int] = {}
    _late: list[int] = []
    """Simhashes of the last pages; an empty deque takes 760 bytes, a fifth of a host's record."""
    _empty: frozenset[str] | None = None

    @property
    def empty(self) -> frozenset[str]:
        """All names of parameters and segments that do not make a page another one. Most hosts have none."""
        if self._empty is None:
            names = [*self.sessions, *(name for name, count in self.counts.items() if count.nothing)]
            self._empty = frozenset(names) if names else _NOTHING
        return self._empty

    def meaningless(self, parts: Parts) -> frozenset[str]:
        """What of this address does not make a page another one."""
        return self.empty.intersection((*numbered(parts), *parts.parameters)) if self.empty else self.empty

    def idle(self, parts: Parts) -> set[str]:
        """Parameters that do not change the text, either."""
        return {name for name in self.empty.intersection(parts.parameters) if name in self.sessions or self.counts[name].idle}

    def family(self, parts: Parts) -> int | None:
        """The form that it has in common with its family; None: it has none.

        Where there are sessions, an address without one is of the family of those with one.
        """
        empty = self.meaningless(parts)
        return form_of(without(parts, empty)) if empty or self.sessions else None

    def first(self, access: str, family: int) -> bool:
        """Whether no other one of its family was asked for."""
        known = self.claims.get(family) or self._forms.get(family, (0, 0))[0]
        return not known or known == number_of(access)

    def claim(self, access: str, parts: Parts) -> None:
        """One is asked for, now or later; of its family, no other one need be."""
        family = self.family(parts)
        if family is not None and self.first(access, family):
            entry(self.claims, family, lambda: number_of(access), _CLAIMS)

    def mean_something(self, names: Iterable[str]) -> None:
        """It was a mistake."""
        for name in names:
            self.counts[name] = Count(0, _SAME)
        self._empty = None

    def learn(self, read: Novelty, parts: Parts, *, segments: bool) -> list[str]:
        """Compare a page with those whose address is the same but for a parameter, or two. Returns what now means nothing.

        ``segments``: of the path's, too.
        """
        found = [each.name for each in read.sessions if self._is_session(each, parts)]
        empty = self.meaningless(parts)
        names = sorted({*(numbered(parts) if segments else ()), *parts.parameters} - read.spoken - empty)
        if read.simhash and (self.counts or names) and len(names) <= _LONGEST:
            own = number_of(read.url.access), read.simhash
            usual = -1  # not known yet: most pages are compared with no other one
            first, _ = entry(self._forms, form_of(without(parts, empty)), lambda: own, _FORMS)
            pairs = [(name,) for name in names] + list(combinations(names, 2))
            settled: set[str] = set()  # alone they differ; in a pair nothing would be learned of the other one
            for some in pairs if first == own[0] else [tuple(empty)]:
                first, simhash = entry(self._forms, form_of(without(parts, {*some, *empty})), lambda: own, _FORMS)
                if first == own[0] or not settled.isdisjoint(some):
                    continue
                far = distance(simhash, read.simhash)
                if usual < 0:
                    late = sorted([distance(each, read.simhash) for each in self._late])
                    usual = late[(len(late) - 1) // 2] if late else 0  # the lower median
                alike = far <= max(_ALIKE, _NEARER * usual)
                if (alike and self._says_as_much(simhash, some)) or (far > max(_ALIKE, _FARTHER * usual) and len(some) == 1):
                    settled.update(some)
                    made = Count(other=1) if not alike else Count(same=1) if far <= _ALIKE else Count(near=1)
                    found += [name for name in some if self._count(name, made)]
        if read.simhash:
            self._late = [*self._late[1 - _LATE :], read.simhash]
        self.claim(read.url.access, parts)
        return found

    def _is_session(self, links: SessionLinks, parts: Parts) -> bool:
        """Return True if it has just turned out to be one."""
        if links.name in self.sessions or len(self.sessions) >= _MOST_SESSIONS:
            return False
        key = form_of(without(parts, {links.name, *self.idle(parts)})), links.name
        other = entry(self._lists, key, lambda: links, _LISTS)
        if other is links:
            return False
        self._lists[key] = links
        self._proofs[links.name] = self._proofs.get(links.name, 0) + 1 if links.is_fresh_beside(other) else 0
        if self._proofs[links.name] < _PROOFS:
            return False
        self.sessions = [*self.sessions, links.name]
        self.counts.pop(links.name, None)
        self._empty = None
        return True

    def _says_as_much(self, text: int, some: Iterable[str]) -> bool:
        """Whether the text tells more of these than those before did, or enough did."""
        new = [known for name in some if len(known := self._texts.setdefault(name, set())) < _SAME]
        fresh = all(text not in each for each in new)
        for each in new:
            each.add(text)
        return fresh

    def _count(self, name: str, more: Count) -> bool:
        """Whether it has just turned out to mean nothing."""
        known = entry(self.counts, name, Count, _PARAMETERS)
        now = self.counts[name] = Count(*(one + other for one, other in zip(known, more, strict=True)))
        self._empty = None
        return now.nothing and not known.nothing


_MOST_VALUES = 32
"""A choice has at most so many: programs have some 25 views, sites some more sections."""
_MOST_NAMES = 64
"""Are remembered, those that came last."""
_LONGEST_VALUE = 32
"""Characters of a value."""
_WORD, _DIGIT = re.compile(r"[^\W\d_]"), re.compile("[0-9]")


class Choices(msgspec.Struct, array_like=True, eq=False):
    """Parameters of one host that say which view of a thing is wanted, such as ``action=edit``.

    Many sites have one path for everything. Of ``/wiki?action`` the pages may be new and their histories not. A choice has few
    values, and these are words; a parameter counts as one until it has had too many values.
    """

    values: dict[str, list[int]] = {}
    """By name: 16 bits for each value; one more than are allowed if it is no choice."""

    def learn(self, parts: Parts) -> None:
        """An address that was read."""
        for name, word in _words(parts).items():
            key = generalised(name)
            known = self.values.pop(key, [])
            if len(known) <= _MOST_VALUES and (number := number_of(word) & 0xFFFF) not in known:
                known = [*known, number]
            if len(self.values) >= _MOST_NAMES:
                del self.values[next(iter(self.values))]
            self.values[key] = known

    def pattern(self, parts: Parts) -> Pattern | None:
        """What has the same choices, and all else as the address; None: it has no choices."""
        found = _words(parts).items()
        words = {name: word for name, word in found if len(self.values.get(generalised(name), ())) <= _MOST_VALUES}
        return chosen_pattern(parts, words) if words else None


def _words(parts: Parts) -> dict[str, str]:
    """Values that may be choices. What has digits is none: of numbers, dates and identifiers there is always one more."""
    found = parts.parameters.items()
    return {
        name: value
        for name, value in found
        if len(value) <= _LONGEST_VALUE and _WORD.search(value) and not _DIGIT.search(value)
    }
