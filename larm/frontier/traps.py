"""HostTraps: what is remembered of one host's addresses, to know where it leads round in circles. Plain state and pure rules.

Part of the host's record, and guarded like it. All of it is bounded: some 50 KB for a host that is one great trap, nothing for
one whose addresses have neither numbers nor parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from larm.config import TrapsFilter as Settings
from larm.frontier.choices import Choices
from larm.frontier.trap_records import ENOUGH, PathRecord, PatternRecord, SavedPattern, SavedTraps, decode_traps, encode_traps
from larm.model.told import Told
from larm.model.url_shape import BREADTHS, Parts, Pattern, difference, form_without, number_of, parts_of, patterns_of

_PATTERNS, _VIEWS, _PATHS, _FORMS, _PARAMETERS, _CLAIMS = 256, 128, 128, 256, 64, 4096
"""Of each so many are remembered, those that came last."""
_LARGER = (1, 1, 2, 5, 12)
"""A pattern of each breadth is judged by so many times ``filters.traps.pages`` pages ..."""
_SHARPER = (1.0, 1.0, 0.6, 0.4, 0.2)
"""... and of what is new among them only this part of what a narrow one may have keeps it open."""
_FIRST_PROBE = 16
_SAME, _OTHER = 8, 10
"""Times that addresses which differ in a parameter have had the same text; and how many of them for one time they had not."""
_PROBES = 256
_TRIES, _NEWCOMERS = 3, 200
"""Addresses of each unknown pattern that may pass where a broader one is closed; of all shapes on one host, and so many again
of folders and sets of parameters. Views have none: they are many, and what they are like is known when their shape is."""


class HostTraps:
    """One host's; the lock of the `HostBook` is held."""

    __slots__ = (
        "_row",
        "active",
        "choices",
        "claims",
        "forms",
        "newcomers",
        "parameters",
        "paths",
        "patterns",
        "probes",
        "urls",
        "views",
    )

    def __init__(self) -> None:
        self.urls = 0
        """That were let in."""
        self.patterns: dict[int, PatternRecord] = {}
        self.views: dict[int, PatternRecord] = {}
        """Patterns that are views. Apart, for many choices have more combinations than all else has patterns."""
        self.paths: dict[int, PathRecord] = {}
        self.parameters: dict[str, tuple[int, int]] = {}
        """By name: how often the text was the same without it, and how often it was another."""
        self.forms: dict[int, int] = {}
        """Addresses that were worth while, without one of their parameters: whose it was."""
        self.claims: dict[int, int] = {}
        """Addresses that were read, without the parameters that mean nothing: whose it was."""
        self.probes: list[int] = []
        """Addresses of closed patterns that may pass."""
        self.newcomers = 0
        self.choices = Choices()
        self.active = False
        """Something is closed, or a parameter means nothing."""
        self._row: bytes | None = b""

    # -- before an address waits

    def refuse(self, parts: Parts, settings: Settings) -> str | None:
        """Why the host has had enough of such addresses; None: it may come in, if it is new."""
        if self.urls >= settings.pages:
            return f"the host has had {settings.pages} URLs (filters.traps.pages)"
        path = self.paths.get(number_of(parts.path)) if parts.parameters else None
        if path is not None:
            if path.variants >= settings.variants:
                return f"{parts.path} has had {path.variants} queries (filters.traps.variants)"
            if len(path.sets) >= settings.parameter_sets and _names(parts) not in path.sets:
                return f"{parts.path} has had {len(path.sets)} sets of parameters (filters.traps.parameter_sets)"
        return self.closed(parts) if self.active else None

    def admit(self, parts: Parts, settings: Settings) -> None:
        """Count an address that comes in."""
        self.urls += 1
        self._row = None
        if parts.parameters:
            path = _get(self.paths, number_of(parts.path), PathRecord, _PATHS)
            path.variants += 1
            names = _names(parts)
            if names not in path.sets and len(path.sets) < settings.parameter_sets:
                path.sets = [*path.sets, names]

    def probe(self, parts: Parts, fingerprint: int) -> bool:
        """One that was dropped for a closed pattern: may it pass all the same, to see whether things have changed?

        The 16th, the 32nd, the 64th and so on: an endless trap gets few, a large site that has become new soon one. And a few
        of each pattern of which little is known yet.
        """
        record = self._closed_record(parts)
        if record is None:
            return False
        self._row = None
        record.dropped += 1
        due = record.dropped >= _FIRST_PROBE and record.dropped.bit_count() == 1
        narrower = takewhile(lambda each: each.text != record.text, self._patterns(parts))
        for place, pattern in enumerate(each for each in narrower if each.breadth):
            if due or self.newcomers >= (2 if place else 1) * _NEWCOMERS:  # shapes there are many, folders and parameters few
                continue
            own = _get(self.patterns, pattern.key, PatternRecord, _PATTERNS, pattern.text)
            due = own.judged < ENOUGH and own.tried < _TRIES
            own.tried += due
            self.newcomers += due
        if due:
            self.probes = [*self.probes[1 - _PROBES :], fingerprint]
        return due

    # -- before an address is asked for, and for `larm why`

    def closed(self, parts: Parts, fingerprint: int = 0) -> str | None:
        """Why it isn't worth while; None: it is. ``fingerprint``: of the address, for those that waited meanwhile."""
        if fingerprint in self.probes:
            return None
        empty = self.meaningless(parts)
        if empty:
            holder = self.claims.get(form_without(parts, empty))
            if holder is not None and holder != fingerprint:
                return f"read already; {', '.join(sorted(empty))} does not change the text"
        record = self._closed_record(parts)
        if record is None:
            return None
        return f"pattern {record.text} is closed: it went on and on without anything new"

    def meaningless(self, parts: Parts) -> set[str]:
        """Parameters that, on this host, do not change the text."""
        if not self.parameters or not parts.parameters:
            return set()
        return {name for name in parts.parameters if _means_nothing(*self.parameters.get(name, (0, 0)))}

    # -- when it was read

    def learn(self, told: Told, settings: Settings) -> list[str]:
        """Take in what a page was worth; returns lines for the log, where something was closed or opened again."""
        self._row = None
        parts = parts_of(told.url.access)
        self.choices.learn(parts)
        own = self._patterns(parts)
        lines = [line for pattern in own if (line := self._judge(pattern, not told.stale, settings))]
        if not told.stale and told.referrer:
            page = parts_of(told.referrer)
            if page.origin == parts.origin:  # a list of articles has no text of its own, but leads to some
                others = [pattern for pattern in self._patterns(page) if pattern not in own]
                lines += [line for pattern in others if (line := self._judge(pattern, True, settings))]
        if parts.parameters or told.first:
            lines += self._compare(told, parts)
        self.active = self.active or bool(lines)
        return lines

    def _judge(self, pattern: Pattern, fresh: bool, settings: Settings) -> str | None:
        if fresh and not self.patterns:  # good sites have no records
            return None
        records, most = (self.patterns, _PATTERNS) if pattern.breadth else (self.views, _VIEWS)
        record = _get(records, pattern.key, PatternRecord, most, pattern.text)
        window = settings.stale_pages * _LARGER[pattern.breadth]
        record.add(fresh, window)
        if not record.closed and record.judged < window:
            return None
        few = int(window * (1 - settings.stale_share) * _SHARPER[pattern.breadth] + 1e-6)
        if record.closed:
            if record.fresh <= few:
                return None
            record.closed, record.dropped = False, 0
            return f"opened again: {pattern.text}: {record.fresh} of its pages were worth while"
        if record.fresh > few:
            return None
        record.closed = True
        return (
            f"closed: {pattern.text} ({BREADTHS[pattern.breadth]}): "
            f"{window - record.fresh} of the last {window} pages said nothing new"
        )

    def _compare(self, told: Told, parts: Parts) -> list[str]:
        """Which parameters change the text, and which don't."""
        lines = []
        if told.first:
            first = parts_of(told.first)
            if (first.origin, first.path) == (parts.origin, parts.path):
                differing = difference(first.parameters, parts.parameters)
                if len(differing) <= 3:
                    lines += [line for name in differing if (line := self._count(name, same=True))]
        elif len(parts.parameters) <= 8:
            for name in parts.parameters:
                form = form_without(parts, [name])
                if self.forms.get(form, told.url.fingerprint) != told.url.fingerprint:
                    self._count(name, same=False)
                _get(self.forms, form, int, _FORMS)
                self.forms[form] = told.url.fingerprint
        empty = self.meaningless(parts)
        if empty:
            form = form_without(parts, empty)
            if form not in self.claims:
                _get(self.claims, form, lambda: told.url.fingerprint, _CLAIMS)
        return lines

    def _count(self, name: str, *, same: bool) -> str | None:
        known = _get(self.parameters, name, lambda: (0, 0), _PARAMETERS)
        before = _means_nothing(*known)
        now = self.parameters[name] = (known[0] + same, known[1] + (not same))
        return f"parameter {name} does not change the text" if _means_nothing(*now) and not before else None

    def _patterns(self, parts: Parts) -> list[Pattern]:
        """Those first that say most of it."""
        chosen = self.choices.pattern(parts) if parts.parameters else None
        return [chosen, *patterns_of(parts)] if chosen else patterns_of(parts)

    def _closed_record(self, parts: Parts) -> PatternRecord | None:
        """What decides is the first pattern of which enough is known."""
        for pattern in self._patterns(parts):
            record = (self.patterns if pattern.breadth else self.views).get(pattern.key)
            if record is not None and (record.closed or record.proven):
                return record if record.closed else None
        return None

    # -- the checkpoint

    def row(self) -> bytes:
        """All of it, for the host's row."""
        if self._row is None:
            saved = SavedTraps(
                self.urls,
                {key: record.saved() for key, record in self.patterns.items()},
                dict(self.paths),
                dict(self.parameters),
                dict(self.forms),
                dict(self.claims),
                self.probes,
                self.newcomers,
                dict(self.choices.values),
                {key: record.saved() for key, record in self.views.items()},
            )
            self._row = encode_traps(saved)
        return self._row

    @classmethod
    def of(cls, row: bytes) -> HostTraps:
        """From its row. Raises msgspec.DecodeError, ValidationError or UnicodeDecodeError on damage."""
        made = cls()
        if row:
            saved = decode_traps(row)
            made.urls = saved.urls
            made.patterns, made.paths = _records(saved.patterns), saved.paths
            made.parameters, made.forms = saved.parameters, saved.forms
            made.claims, made.probes = saved.claims, saved.probes
            made.newcomers = saved.newcomers
            made.choices, made.views = Choices(saved.choices), _records(saved.views)
            closed = any(record.closed for record in (*made.patterns.values(), *made.views.values()))
            made.active = closed or any(_means_nothing(*each) for each in made.parameters.values())
            made._row = row
        return made


def _records(saved: dict[int, SavedPattern]) -> dict[int, PatternRecord]:
    return {key: PatternRecord.of(each) for key, each in saved.items()}


def _means_nothing(same: int, other: int) -> bool:
    return same >= _SAME and other * _OTHER <= same


def _names(parts: Parts) -> int:
    return number_of("&".join(sorted(parts.parameters)))


def _get(table: dict[Any, Any], key: Any, make: Any, most: int, *of: Any) -> Any:
    """The entry of a bounded table, made ``of`` that where it is missing; it is now the one that was used last."""
    found = table.pop(key, None)
    if found is None:
        found = make(*of)
        if len(table) >= most:
            del table[next(iter(table))]
    table[key] = found
    return found


def closed_lines(traps: HostTraps) -> Sequence[str]:
    """What is closed, for `larm why`."""
    empty = [name for name, counts in traps.parameters.items() if _means_nothing(*counts)]
    records = (*traps.views.values(), *traps.patterns.values())
    lines = [f"{record.text} ({record.dropped} dropped)" for record in records if record.closed]
    return [*lines, *(f"parameter {name} means nothing" for name in empty)]
