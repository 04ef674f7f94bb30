"""Courier: what this agent has for others, a queue for each, in acknowledged parcels. Pure; under the lock of its owner.

A row stays ours until the receiver has it in its journal: a parcel that gets no answer is sent again, with the same number, to
the same agent, and dropped there if it was taken before. At least once on the wire, once in the frontier.

Queues are filled by the owner of a row in our view. If the receiver sees that otherwise, it sends the row on; one that was
sent on `MOST_HOPS` times waits until its owner has released our epoch. Rows of our own whose host another agent may
still ask wait in a queue of ours.

How much goes out is up to the receiver: it grants so many parcels at a time, none while it has too much (`Answer.credit`).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import msgspec

from larm.cluster.view_state import ViewState

MOST_HOPS = 3
WINDOW = 4
"""Parcels on their way to an agent at a time, unless it grants fewer: one is enough for thousands of URLs a second."""
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 5.0
"""Seconds until a parcel without an answer is sent again; doubling."""
_FULL_WAIT = 1.0
"""Seconds without a parcel for an agent that has no room."""


class Row(msgspec.Struct, frozen=True, array_like=True):
    """Something for the agent that has a host."""

    host: str
    """By which the owner is known: a site, or a host."""
    item: Any
    hops: int = 0
    """How often it was sent on."""


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """The receiver's answer to a parcel."""

    taken: bool
    """It is in its journal, or was before."""
    credit: int = WINDOW
    """Parcels that it will take at a time from now on."""


class Parcel(msgspec.Struct, frozen=True):
    """Rows on their way to another agent."""

    to: str
    seq: int
    """Among those to this agent, from 1."""
    rows: Sequence[Row]
    low: int = 1
    """All before this one need not be remembered any more."""


class Queue(Protocol):
    """A FIFO of rows; `larm.kit.disk.caching_queue` has one of any length."""

    def put_many(self, items: Sequence[Row], /) -> None:
        """At the end."""

    def put_front(self, items: Sequence[Row], /) -> None:
        """Before all others."""

    def take(self, count: int, /) -> list[Row]:
        """At most so many."""

    def __len__(self) -> int: ...


class _Lane:
    """To one agent."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.waiting_since = 0.0
        self.credit = WINDOW
        self.out: dict[int, Parcel] = {}
        self.retry_at: dict[int, float] = {}
        """Of those that got no answer; of the others nothing is known yet."""
        self.wait = _FIRST_WAIT
        self.not_before = 0.0
        self.since = 0.0
        """Nothing was taken since then, though something is on its way."""
        self.seq = 0


class Courier:
    """Of one agent's process. ``queue``: makes one for an agent, by its name."""

    def __init__(self, state: ViewState, queue: Callable[[str], Queue], *, most: int = 500, linger: float = 2.0) -> None:
        """``most`` rows are a parcel; fewer wait ``linger`` seconds for more."""
        # constant after construction
        self._state = state
        self._queue = queue
        self._most = most
        self._linger = linger
        # only who owns it
        self._lanes: dict[str, _Lane] = {}
        self.waiting = 0
        """Rows that nobody has acknowledged."""

    # -- in

    def put(self, rows: Iterable[Row], now: float) -> list[Row]:
        """Rows for their owners; those that are ours, and may be asked for, come back at once."""
        ours: list[Row] = []
        by_owner: dict[str, list[Row]] = {}
        for row in rows:
            owner = self._state.owner(row.host)
            if owner == self._state.me and self._state.opened(row.host, now):
                ours.append(row)
            else:
                by_owner.setdefault(owner, []).append(row)
        for owner, some in by_owner.items():
            lane = self._lane(owner)
            if not len(lane.queue):
                lane.waiting_since = now
            lane.queue.put_many(some)
            self.waiting += len(some)
        return ours

    def keep(self, rows: Sequence[Row], now: float) -> None:
        """Rows that wait here until the crawl begins, whoever owns them then."""
        lane = self._lane(self._state.me)
        lane.waiting_since = now
        lane.queue.put_many(rows)
        self.waiting += len(rows)

    def restore(self, owner: str, rows: Sequence[Row]) -> None:
        """What was on its way when the state was saved: before all that waits."""
        self._lane(owner).queue.put_front(rows)
        self.waiting += len(rows)

    # -- out

    def due(self, now: float) -> list[Parcel]:
        """Parcels to send now. `answered` has to follow for each."""
        parcels: list[Parcel] = []
        for name, lane in self._lanes.items():
            if name == self._state.me or not self._heard(name, now):
                continue
            for seq in [seq for seq, at in lane.retry_at.items() if at <= now]:
                del lane.retry_at[seq]
                parcels.append(lane.out[seq])
            while len(lane.queue) and len(lane.out) < lane.credit and now >= lane.not_before:
                if len(lane.queue) < self._most and now - lane.waiting_since < self._linger:
                    break
                rows = lane.queue.take(self._most)
                if any(row.hops >= MOST_HOPS for row in rows) and not self._agrees(name):
                    lane.queue.put_front(rows)
                    break
                lane.since = lane.since if lane.out else now
                lane.seq += 1
                lane.out[lane.seq] = parcel = Parcel(name, lane.seq, rows, min(lane.out, default=lane.seq))
                lane.waiting_since = now
                parcels.append(parcel)
        return parcels

    def answered(self, parcel: Parcel, answer: Answer | None, now: float) -> bool:
        """What became of a parcel; None: there was no answer. True: now it is known that it was taken."""
        lane = self._lane(parcel.to)
        if parcel.seq not in lane.out:
            return False
        if answer is not None:
            lane.credit = max(1, min(answer.credit, WINDOW))
            if not answer.credit:  # the next one is the question whether there is room again
                lane.not_before = now + _FULL_WAIT
        if answer is not None and answer.taken:
            del lane.out[parcel.seq]
            lane.retry_at.pop(parcel.seq, None)
            lane.wait, lane.since = _FIRST_WAIT, now
            self.waiting -= len(parcel.rows)
            return True
        lane.retry_at[parcel.seq] = now + (lane.wait if answer is None else _FULL_WAIT)  # a refusal may end in the next round
        if answer is None:
            lane.wait = min(lane.wait * 2, _LONGEST_WAIT)
        return False

    def reroute(self, now: float) -> list[Row]:
        """Our view has changed, or a host was opened: each row to its owner again; our own come back.

        What is on its way to a member stays on its way: it may have been taken.
        """
        rows: list[Row] = []
        for name, lane in self._lanes.items():
            if name in self._state.view.members and name != self._state.me:
                continue
            rows += [row for parcel in lane.out.values() for row in parcel.rows]
            lane.out.clear()
            lane.retry_at.clear()
            while count := len(lane.queue):  # each time a block at most
                rows += lane.queue.take(count)
        self.waiting -= len(rows)
        return self.put(rows, now)

    # -- what is so

    def stuck(self, now: float, seconds: float) -> list[str]:
        """Agents that can be heard, and have taken nothing for so long of what they were sent: the end waits for them."""
        late = [name for name, lane in self._lanes.items() if lane.out and now - lane.since >= seconds]
        return [name for name in late if self._heard(name, now)]

    def waits_for(self) -> dict[str, int]:
        """Rows that nobody has acknowledged, by agent."""
        found = {name: len(lane.queue) + sum(len(p.rows) for p in lane.out.values()) for name, lane in self._lanes.items()}
        return {name: count for name, count in found.items() if count}

    def out(self) -> dict[str, list[Row]]:
        """What is on its way, by agent: for the checkpoint, beside the queues."""
        return {
            name: [row for each in lane.out.values() for row in each.rows] for name, lane in self._lanes.items() if lane.out
        }

    def _lane(self, name: str) -> _Lane:
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = _Lane(self._queue(name))
            self.waiting += len(lane.queue)
        return lane

    def _heard(self, name: str, now: float) -> bool:
        return name in self._state.agents and self._state.silent(name, now) < self._state.rules.lease

    def _agrees(self, name: str) -> bool:
        seen = self._state.agents.get(name)
        return seen is not None and seen.state.released >= self._state.view.epoch
