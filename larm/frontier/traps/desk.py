"""TrapDesk: which addresses of a host are worth while, by what its pages were worth so far (LARM-122).

Knowledge flows in a circle. Where a page was read it is found out whether it says anything new
(`larm.index.duplicates.novelty`); the host's record learns of it. Links of a page that says nothing new are marked; the traps
filter, which sees only those that nobody had seen before, counts such a page against the patterns of its address. When a
pattern is closed, leases pass over its addresses, which are held back on disk, until the host has nothing else to do: then
`decide` asks for them in rounds.

All of it is part of the host's record, so it has the record's bounds and its place in checkpoints.

`screen` and `decide` run on the handler thread, `learn` and `hold_locked` on those that fetch and read, `resume_locked` and
`pull` on the main thread at the start, `explain` and `left` on any; records are guarded by the book's lock.
"""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from heapq import nlargest
from itertools import groupby

import msgspec

from larm.frontier.host import Host
from larm.frontier.hosts import HostBook
from larm.frontier.traps.host_traps import BEYOND, TOLD, HostTraps
from larm.frontier.traps.limits import TrapRules, odd
from larm.frontier.traps.records import PatternRecord, State
from larm.frontier.traps.rounds import next_step, reopen, resume, undecided
from larm.frontier.traps.session_filter import SessionFilter
from larm.kit.threads.tally import Tally
from larm.model.file_url import FILES
from larm.model.left import HostLeft
from larm.model.message import REDIRECT, URLMessage
from larm.model.novelty import Novelty
from larm.model.url_shape import Parts, number_of, parts_of
from larm.seams import Drop

_AGAIN = 256
"""Pages of a host after which it is asked again whether it can afford now to decide what was put off."""


class TrapDesk:
    """The filter of traps (LARM-122), on the host records: addresses that no real site needs, and those that went on without
    anything new; but start URLs, files and revisits pass.

    It stands behind all filters that drop: a page speaks against the pattern of its address by links that nobody had seen, and
    that may be asked for."""

    name = "traps"
    log_name = "TrapsFilter"

    def __init__(
        self,
        book: HostBook,
        rules: TrapRules,
        tally: Tally,
        log: Callable[[Sequence[str]], None] = lambda _: None,
        count: Callable[[str, int], None] = lambda _name, _n: None,
        *,
        starts: AbstractSet[str] = frozenset(),
        release: bool = False,
        sessions: SessionFilter | None = None,
    ) -> None:
        """``log`` takes lines for the filter's log; ``count`` is that of the crawl. ``starts``: hosts of start URLs.

        ``release``: all that earlier runs held back is asked for. ``sessions``: learns which parameters are such.
        """
        # constant after construction
        self._book = book
        self._rules = rules
        self._tally = tally
        self._log = log
        self._count = count
        self._starts = starts
        self._release = release
        self._sessions = sessions
        self._rule_number = number_of(repr((rules.stale_pages, rules.stale_share))) if rules.repetition else 0
        # guarded by book.lock
        self._held: dict[str, int] = {}  # by host: addresses that are held back, where there are any, or too many were
        self._held_back = 0  # their sum
        self._growing: set[str] = set()  # start hosts

    # -- the handler thread

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        passing: list[URLMessage] = []
        beyond: list[URLMessage] = []
        said: list[str] = []
        self._book.warm(message.url.host for message in batch)
        with self._book.lock:
            for key, group in groupby(batch, lambda message: message.url.host):
                if key == FILES:  # a disk has an end
                    passing += group
                    continue
                host = self._book.get_locked(key)
                traps = self._traps_locked(host)
                for message in group:
                    if exempt(message) or message.released:
                        passing.append(message)
                        continue
                    parts = parts_of(message.url.access)
                    if message.stale and self._rules.repetition and message.referrer.startswith(parts.origin + "/"):
                        said += [f"{key}\t{line}" for line in traps.strike(message.referrer, self._rules)]
                    limit = self._beyond(traps, message, parts)
                    if limit is None:
                        traps.limits.admit(message, parts, self._rules)
                        passing.append(message)
                    else:
                        beyond.append(message)
                        self._hold_locked(host, traps, *_limit_record(traps, limit), message)
                self._book.changed_locked(host)
        self._say(said)
        if beyond:
            drop(beyond, "trap")
        return passing

    def decide(self, key: str) -> Iterator[list[URLMessage]]:
        """What goes on of what a host holds back, now that it has nothing else to do. It must enter the robots filter next."""
        while True:
            with self._book.lock:
                host = self._book.find_locked(key)
                traps = host.traps if host is not None else None
                if host is None or traps is None or not host.undecided:
                    return
                step = next_step(traps)
                traps.counted = not step.over
                self._held_locked(host, traps)
                self._book.changed_locked(host)
            self._say([f"{key}\t{line}" for line in step.lines])
            if step.go:
                self._count("traps/released", len(step.go))
                self._tally.rise(len(step.go))
                yield step.go
            if step.over:
                self._tally.fall()
                return

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        with self._book.lock:
            host = self._book.find_locked(message.url.host)
            traps = host.traps if host is not None else None
            if traps is None or exempt(message, start=False):
                return None
            parts = parts_of(message.url.access)
            limit = self._beyond(traps, message, parts)
            found = traps.holder(message.url.access) if self._rules.repetition else None
            held = traps.holds(message.url.fingerprint)
        if limit is not None:
            why = f"beyond {limit}"
        elif found is not None:
            why = found[1].why
        else:
            return None
        return f"held back: {why}" if held else f"a new address like it is held back: {why}"

    # -- the threads that fetch and read

    def learn(self, read: Sequence[Novelty]) -> None:
        """Pages that were read, and what they were worth; in a step of the gate."""
        said: list[str] = []
        self._book.warm(each.url.host for each in read)
        with self._book.lock:
            for key, group in groupby(read, lambda each: each.url.host):
                if key == FILES:  # many copies of a licence are no trap
                    continue
                host = self._book.get_locked(key)
                traps = self._traps_locked(host)
                for each in group:
                    said += [f"{key}\t{line}" for line in traps.learn(each, self._rules)]
                    if traps.read % _AGAIN == 0 and not (traps.counted or host.dormant) and undecided(traps):
                        self._count_locked(traps)
                self._growing_locked(host, traps)
                self._know_sessions(key, traps)
                self._book.changed_locked(host)
        self._say(said)

    def sessions_of(self, key: str) -> Sequence[str]:
        """Return the parameters that are sessions of this host; none where repetition is not asked for."""
        with self._book.lock:
            host = self._book.find_locked(key) if self._rule_number else None
            return host.traps.parameters.sessions if host is not None and host.traps is not None else ()

    def without_sessions(self, messages: Sequence[URLMessage]) -> Sequence[URLMessage]:
        """The same messages as `SessionFilter` lets them pass."""
        return self._sessions.peek(messages) if self._sessions is not None else messages

    def looks_locked(self, host: Host) -> bool:
        """See `larm.frontier.guard.Guard`."""
        return host.traps is not None and host.traps.active and not host.robots_tasks

    def hold_locked(self, host: Host, message: URLMessage) -> bool:
        """One that is next is held back; False: it goes on. See `larm.frontier.guard.Guard`."""
        traps = host.traps
        if traps is None or not traps.active or not self._rule_number or message.released or exempt(message):
            return False
        access = message.url.access
        found = traps.holder(access)
        traps.parameters.claim(access, parts_of(access))
        if found is None or traps.lets_through(access, found[1]):
            return False
        if message.link_type == REDIRECT and found[1].state is State.SAME:
            return False  # a server that wants a session redirects to where there is one
        self._hold_locked(host, traps, *found, message)
        return True

    def held(self, messages: Sequence[URLMessage]) -> None:
        """These were; called without the lock."""
        self._count("traps/filtered", len(messages))
        self._log([message.url.access for message in messages])

    # -- at the start

    def resume_locked(self, host: Host) -> None:
        """The record of an earlier run: what it holds back by rules that are others now is free."""
        traps = host.traps
        if traps is None:
            return
        start = traps.limits.start
        traps.limits.start |= host.key in self._starts
        changed = resume(traps, self._rules, self._rule_number, release=self._release)
        self._held_locked(host, traps)
        self._growing_locked(host, traps)
        self._know_sessions(host.key, traps)
        if changed or traps.limits.start != start:  # what is changed stays in memory, and all hosts come here
            self._book.changed_locked(host)

    def left_locked(self, host: Host) -> None:
        """A host goes to another crawl."""
        self._held_back -= self._held.pop(host.key, 0)
        self._growing.discard(host.key)

    def special_locked(self) -> list[str]:
        """See `larm.frontier.guard.Guard`."""
        return sorted(self._held.keys() | self._growing | (self._sessions.names.keys() if self._sessions else set()))

    def pull(self, starts: Sequence[URLMessage]) -> list[URLMessage]:
        """Those of the start URLs that are held back: they go on at once. Before any other thread runs."""
        found: list[URLMessage] = []
        with self._book.lock:
            for message in starts:
                host = self._book.find_locked(message.url.host)
                if host is not None and host.traps is not None and host.traps.pull(message.url.fingerprint):
                    self._held_locked(host, host.traps)
                    self._book.changed_locked(host)
                    found.append(msgspec.structs.replace(message, released=True))
        return found

    # -- steering

    def holders(self, host: str = "") -> list[str]:
        """Hosts that hold something back; of one, that one."""
        with self._book.lock:
            return [host] if host else list(self._held)

    def held_by(self, host: str, pattern: str) -> int:
        """How many addresses a host holds back by a pattern, of which the text is given."""
        with self._book.lock:
            found = self._book.find_locked(host)
            records = found.traps.records.values() if found is not None and found.traps is not None else ()
            return sum(record.held for record in records if record.text == pattern)

    def reopen_locked(self, host: Host, pattern: str) -> None:
        """All that is held back by it is asked for, and it begins anew; in `HostChanges.alter`."""
        if host.traps is not None:
            reopen(host.traps, pattern)

    # -- what people are told

    def left(self) -> list[HostLeft]:
        """What is held back, of those hosts that hold back most of it."""
        with self._book.lock:
            held = dict(self._held)
        keys = nlargest(TOLD, held, key=held.__getitem__)
        self._book.warm(keys)
        with self._book.lock:
            hosts = [host for key in keys if (host := self._book.find_locked(key)) is not None]
            return [host.traps.left(host.key) for host in hosts if host.traps is not None]

    @property
    def held_back(self) -> int:
        """Addresses that are held back at all hosts together."""
        return self._held_back

    @property
    def growing(self) -> list[str]:
        """Start hosts that have brought very many pages, and grow as fast as ever."""
        with self._book.lock:
            return sorted(self._growing)

    # -- under the lock

    def _traps_locked(self, host: Host) -> HostTraps:
        if host.traps is None:
            traps = host.traps = self._book.records.traps(host.key)
            traps.limits.start, traps.rule = host.key in self._starts, self._rule_number
        return host.traps

    def _beyond(self, traps: HostTraps, message: URLMessage, parts: Parts) -> str | None:
        if not self._rules.limits:
            return None
        return odd(message, parts, self._rules) or traps.limits.beyond(parts, self._rules)

    def _hold_locked(self, host: Host, traps: HostTraps, key: int, record: PatternRecord, message: URLMessage) -> None:
        held = self._held.get(host.key, 0)
        if held >= self._rules.held:
            traps.lose(record)
            self._held.setdefault(host.key, held)
            self._count("traps/over", 1)
            return
        self._held[host.key] = held + 1
        self._held_back += 1
        traps.hold(key, record, message)
        self._book.put_locked(1)
        if not traps.counted and record.state is State.CLOSED and traps.read >= record.postponed:
            self._count_locked(traps)  # a lease was asked for, so the host is not given up

    def _count_locked(self, traps: HostTraps) -> None:
        traps.counted = True
        self._tally.rise()

    def _held_locked(self, host: Host, traps: HostTraps) -> None:
        held = traps.held
        self._held_back += held - self._held.get(host.key, 0)
        if held or traps.over:
            self._held[host.key] = held
        else:
            self._held.pop(host.key, None)

    def _know_sessions(self, key: str, traps: HostTraps) -> None:
        if traps.parameters.sessions and self._sessions is not None and self._rule_number:
            self._sessions.know(key, traps.parameters.sessions)

    def _growing_locked(self, host: Host, traps: HostTraps) -> None:
        if traps.limits.grows and traps.limits.start:
            self._growing.add(host.key)
        elif self._growing:
            self._growing.discard(host.key)

    def _say(self, lines: Sequence[str]) -> None:
        if not lines:
            return
        self._count("traps/closed", sum("\tclosed for now: " in line for line in lines))
        self._count("traps/opened_again", sum("\topen again: " in line for line in lines))
        self._count("traps/found", sum("\ta trap: " in line for line in lines))
        self._count("traps/parameters", sum("\tparameter " in line for line in lines))
        self._log([f"# {line}" for line in lines])


def exempt(message: URLMessage, *, start: bool = True) -> bool:
    """What was stored before is asked for again, start URLs are what a person wants, and a disk has an end."""
    return (
        message.known is not None
        or message.url.host == FILES
        or (start and message.depth == 0 and message.link_type != REDIRECT)
    )


def _limit_record(traps: HostTraps, limit: str) -> tuple[int, PatternRecord]:
    key = number_of("limit " + limit)
    record = traps.records.get(key)
    if record is None:
        record = PatternRecord(limit, BEYOND)
        record.state = State.LIMIT
    return key, record
