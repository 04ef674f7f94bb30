"""HostTraps: what is remembered of one host's addresses, to know where it leads round in circles. Plain state and pure rules.

Part of the host's record, and guarded like it. A page speaks against the patterns of its address only where it says nothing new
*and* brings an address of its host that was never seen before: a trap reproduces, a catalogue has leaves. Closing a pattern is
an order, not a verdict: what it holds back is asked for later, see `larm.frontier.traps.rounds`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

import msgspec

from larm.frontier.traps.limits import HostLimits, TrapRules
from larm.frontier.traps.parameters import Choices, HostParameters
from larm.frontier.traps.records import ENOUGH, PatternRecord, Round, State
from larm.kit.disk.caching_queue import CachingQueue, QueueState
from larm.model.left import HostLeft, PatternLeft
from larm.model.message import URLMessage
from larm.model.novelty import Novelty
from larm.model.url_shape import BREADTHS, Parts, Pattern, number_of, parts_of, patterns_of, without

MakeQueue = Callable[[int, QueueState[URLMessage] | None], CachingQueue[URLMessage]]
"""A queue on disk for what a record of this key holds back: a new one, or that of a state."""

_PATTERNS = 4096
"""Are remembered; of more, those that little is known of are forgotten."""
_LARGER = (1, 1, 2, 3, 6)
"""A pattern of each breadth is judged by so many times `TrapRules.stale_pages` pages ..."""
_SHARPER = (1.0, 1.0, 1.0, 0.8, 0.6)
"""... and of what is new among them only this part of what a narrow one may have keeps it open."""
_TRIES, _NEWCOMERS = ENOUGH, 100
"""Addresses of each unknown pattern that may pass where a broader one is closed; of all shapes on one host, and so many again
of folders and sets of parameters. Views have none: they are many, and what they are like is known when their shape is."""
WARM = 64
"""Pages of a host that an earlier run knew, of which nobody knows whether they are new: texts are not kept with it."""
_BARREN, _COPIES, _OUTWEIGHS = 20, 60, 10
"""Barren pages close a pattern, times `_LARGER`: that is no chance, but a kind. So do copies, but that takes more.
A page of use outweighs ten of them."""
_STRUCK = 64
"""Pages of late that have spoken against their patterns: the links of one may come in several batches."""
_WARY = 64
"""Pages of a host for which it is asked with care after one has spoken against its pattern."""
_ONCE = " (each once)"
"""Behind patterns of addresses that are the first of their families."""
TOLD = 20
"""Hosts of which people are told what is left, those with the most; and patterns of each."""
PARAMETER, BEYOND = len(BREADTHS), -1
"""Breadths of records that are no patterns."""


class HostTraps(msgspec.Struct, array_like=True, eq=False):
    """The traps of one host. Guarded by the lock of the `HostBook`."""

    records: dict[int, PatternRecord] = {}
    """By key; also of parameters that mean nothing, and of limits."""
    parameters: HostParameters = msgspec.field(default_factory=HostParameters)
    limits: HostLimits = msgspec.field(default_factory=HostLimits)
    choices: Choices = msgspec.field(default_factory=Choices)
    run: int = 0
    """The process that saved it."""
    rule: int = 0
    """`number_of` the settings by which verdicts were reached."""
    read: int = 0
    """Pages."""
    newcomers: int = 0
    over: int = 0
    """Addresses that were lost, as too many were held back already."""
    pulled: dict[int, None] = {}
    """Held back, but asked for meanwhile, as somebody named them a start URL."""
    # of the round that is under way
    current: int = 0
    """Key of its record; 0: there is none."""
    round: Round | None = None
    searched: int = 0
    """Pages that the host had had when it was first asked for what reproduces; 0: it never was."""
    failed: int = 0
    """Pages that rounds have cost of which more than half came back."""
    rounds: int = 0
    """Addresses that all rounds have cost."""
    counted: bool = False
    """The host has something to decide, and counts as a message of the crawl until that is done."""
    warm: int = WARM
    """Pages of this run, at most `WARM`, that count for nothing."""
    # not saved
    make_queue: Any = None
    """`MakeQueue`; None: of a row that was only decoded."""
    released: bool = False
    """In this run all that was held back is asked for."""
    active: bool = False
    """Something may have to be held back."""
    _struck: list[str] = []
    _wary: int = 0  # pages

    # -- before an address waits

    def strike(self, page: str, rules: TrapRules) -> list[str]:
        """A page (its access URL) that said nothing new has brought an address that nobody had seen; lines for the log."""
        if page in self._struck or self.warm < WARM:
            return []
        self._struck = [*self._struck[1 - _STRUCK :], page]
        self._wary = self.read + _WARY
        return self._judge_all(self._told(page, parts_of(page)), False, rules)

    # -- before an address is asked for, and for `larm why`

    def holder(self, access: str) -> tuple[int, PatternRecord] | None:
        """Whose closed record holds such an address back; None: it may be asked for."""
        parts = parts_of(access)
        family = self.parameters.family(parts)
        if family is not None and not self.parameters.first(access, family):
            repeated = self.parameters.idle(parts) or self.parameters.sessions
            if repeated:
                text = "*?" + "&".join(sorted(repeated))
                key = number_of("parameter " + text)
                record = self.records.get(key)
                return key, record or PatternRecord(text, PARAMETER)
        for pattern in self._asked(access, parts):
            record = self.records.get(pattern.key)
            if record is not None and (record.closed or record.proven):
                return (pattern.key, record) if record.closed else None
        return None

    @property
    def trapped(self) -> bool:
        """It has a trap."""
        return any(each.state is State.TRAP for each in self.records.values())

    @property
    def wary(self) -> bool:
        """It may be about to close a pattern: what is asked for before its pages are read may be for nothing."""
        return self.read < self._wary

    def lets_through(self, access: str, holder: PatternRecord) -> bool:
        """One that is held back: may it pass all the same, as little is known of what is special about it?"""
        if holder.breadth == PARAMETER or holder.state is State.TRAP:
            return False
        narrower = takewhile(lambda each: each.text != holder.text, self._asked(access, parts_of(access)))
        for place, pattern in enumerate(each for each in narrower if each.breadth):
            if self.newcomers >= (2 if place else 1) * _NEWCOMERS:  # shapes there are many, folders and parameters few
                continue
            own = self._record(pattern)
            if own.judged < ENOUGH and own.tried < _TRIES:
                own.tried += 1
                self.newcomers += 1
                return True
        return False

    def hold(self, key: int, record: PatternRecord, message: URLMessage) -> None:
        """Hold one back."""
        self.records[key] = record
        if record.breadth == PARAMETER and not record.closed:
            record.state = State.SAME if self.is_of_session(record) else State.CLOSED
        if record.parked is None:
            record.parked = self.make_queue(key, None)
        record.put(message)
        if self.round is None:
            record.native += 1
        elif record.state is State.CLOSED:
            self.round.brought += 1

    def is_of_session(self, record: PatternRecord) -> bool:
        """Whether all that its addresses have more than others are sessions, whatever their pages say."""
        return record.breadth == PARAMETER and set(record.text.removeprefix("*?").split("&")) <= {*self.parameters.sessions}

    def lose(self, record: PatternRecord) -> None:
        """As `hold`, but nothing is left of it: too many are held back already."""
        self.over += 1
        if self.round is not None and record.state is State.CLOSED:
            self.round.brought += 1

    def pull(self, fingerprint: int) -> bool:
        """Whether this one is held back; if so, it is not any more. Reads all that is."""
        found = self.holds(fingerprint)
        if found:
            self.pulled[fingerprint] = None
        return found

    def holds(self, fingerprint: int) -> bool:
        """Whether this one is held back. Reads all that is."""
        held = (each for record in self.records.values() if record.parked for each in record.parked)
        return fingerprint not in self.pulled and any(each.url.fingerprint == fingerprint for each in held)

    @property
    def held(self) -> int:
        """Addresses that are held back."""
        return sum([record.held for record in self.records.values()]) - len(self.pulled)

    # -- when a page was read

    def learn(self, read: Novelty, rules: TrapRules) -> list[str]:
        """Take in what a page was worth; returns lines for the log, where a pattern is closed or a parameter means nothing."""
        self.read += 1
        self.limits.count_page(self.read)
        parts = parts_of(read.url.access)
        self.choices.learn(parts)
        if self.round is not None and self.warm >= WARM:
            self.round.read += 1
            self.round.fresh += not read.stale
            self.round.pages += 1
            self.round.named += read.named
            self.round.useful += not (read.barren or read.copy)
        found = self.parameters.learn(read, parts, segments=bool(self.records))
        sessions = self.parameters.sessions
        lines = [f"parameter {each} {'is a session' if each in sessions else 'does not change the page'}" for each in found]
        if found:
            self.active = True
            self._sift()
        own = (
            self._told(read.url.access, parts) if read.barren or read.copy or self.records else []
        )  # good sites have no records
        if own:
            lines += self._judge_barren(read, own[:-1])
        if self.warm < WARM:
            self.warm += 1
        elif not read.stale and self.records:
            if read.referrer.startswith(parts.origin + "/"):  # a list of articles has no text of its own, but leads to some
                own += [
                    each for each in self._told(read.referrer, parts_of(read.referrer)) if each.breadth <= 1 and each not in own
                ]
            lines += self._judge_all(own, True, rules)
        return lines

    def _judge_barren(self, read: Novelty, patterns: Sequence[Pattern]) -> list[str]:
        """Close patterns of which page after page is of no use and leads nowhere: forms, histories, exports.

        Where there are parameters, copies of other pages are of no use, either, as of a topic for each of its posts.
        """
        lines = []
        for pattern in patterns:
            useless = read.barren or (read.copy and "?" in pattern.text)
            record = self._record(pattern) if useless else self.records.get(pattern.key)
            if record is None or record.closed or not (useless or record.barren):
                continue
            record.barren = record.barren + 1 if useless else max(0, record.barren - _OUTWEIGHS)
            if record.barren >= (_BARREN if read.barren else _COPIES) * _LARGER[pattern.breadth]:
                record.state, record.unindexed, record.copies, self.active = State.CLOSED, True, not read.barren, True
                said = "ask not to be indexed or are login forms" if read.barren else "are copies of others"
                last = f"nearly all of its last {record.barren} pages {said}, and led to nothing new"
                lines.append(f"closed for now: {pattern.text} ({BREADTHS[pattern.breadth]}): {last}")
        return lines

    def _sift(self) -> None:
        """Of some of what is held back it is known now that it is the first of its family."""
        for each in self.records.values():
            if each.state in {State.CLOSED, State.TRAP} and each.breadth != PARAMETER and not each.leaving:
                each.leaving, each.sifting = each.held, True

    def _judge_all(self, patterns: Iterable[Pattern], fresh: bool, rules: TrapRules) -> list[str]:
        return [line for pattern in patterns if (line := self._judge(pattern, fresh, rules))]

    def _judge(self, pattern: Pattern, fresh: bool, rules: TrapRules) -> str | None:
        record = self._record(pattern)
        if record.state is not State.OPEN:
            return None
        window = rules.stale_pages * _LARGER[pattern.breadth]
        record.add(fresh, window)
        if fresh or record.judged < window:
            return None
        if record.fresh > int(window * (1 - rules.stale_share) * _SHARPER[pattern.breadth] + 1e-6):
            return None
        record.state = State.CLOSED
        self.active = True
        return (
            f"closed for now: {pattern.text} ({BREADTHS[pattern.breadth]}): {window - record.fresh} of the last {window} pages "
            "said nothing new, and led to others"
        )

    def _record(self, pattern: Pattern) -> PatternRecord:
        record = self.records.get(pattern.key)
        if record is None:
            if len(self.records) >= _PATTERNS:
                self._forget_some()
            record = self.records[pattern.key] = PatternRecord(pattern.text, pattern.breadth)
        return record

    def _forget_some(self) -> None:
        idle = [key for key, each in self.records.items() if not each.closed and each.parked is None]
        for key in sorted(idle, key=lambda key: self.records[key].judged)[: _PATTERNS // 4]:
            del self.records[key]

    def _asked(self, access: str, parts: Parts) -> list[Pattern]:
        """The patterns that say whether an address may be asked for, those first that say most of it.

        The first one of a family stands for all of it: copies of what others say don't speak against it.
        """
        family = self.parameters.family(parts)
        if family is None or not self.parameters.first(access, family):
            return self._patterns(without(parts, self.parameters.idle(parts)))
        alone = self._patterns(without(parts, self.parameters.meaningless(parts)))
        return [Pattern(text, breadth, number_of(text)) for text, breadth in ((f"{e.text}{_ONCE}", e.breadth) for e in alone)]

    def _told(self, access: str, parts: Parts) -> list[Pattern]:
        """The patterns that hear of a page what it was worth."""
        if not self.parameters.empty:
            return self._patterns(parts)
        plain = self._patterns(without(parts, self.parameters.idle(parts)))
        asked = self._asked(access, parts)
        return plain if asked == plain else [*plain, *asked]

    def _patterns(self, parts: Parts) -> list[Pattern]:
        """Those first that say most of it."""
        chosen = self.choices.pattern(parts) if parts.parameters else None
        return [chosen, *patterns_of(parts)] if chosen else patterns_of(parts)

    # -- what people are told

    def left(self, host: str) -> HostLeft:
        """What this host holds back, by the patterns that are closed or hold most of it."""
        closed = [each for each in self.records.values() if each.closed or each.held]
        closed.sort(key=lambda each: each.held, reverse=True)
        patterns = tuple(PatternLeft(each.text, each.state.name.lower(), each.held) for each in closed[:TOLD])
        return HostLeft(host, self.held, self.over, patterns, tuple(sorted(self.parameters.empty)))

    # -- the checkpoint and the memory

    def queues(self) -> Iterator[CachingQueue[URLMessage]]:
        """All that have something on disk or in memory."""
        return (record.parked for record in self.records.values() if record.parked is not None)
