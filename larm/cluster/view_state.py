"""The membership as one agent knows it: its fence, the views, and the hosts that it may ask. Pure: values and times come in.

The thread ``larm-etcd`` calls `confirm`, `fence` and `see`. All other methods are thread-safe and must not block: they read one
value that is replaced as a whole. Times are seconds of CLOCK_BOOTTIME.

Its rule: no host is asked by two agents. An agent leases until `fenced_at`: the lease counts from when it **sent** the last
renewal that etcd confirmed. A new owner asks a host after each earlier owner has released it. Where an owner is lost, it asks
after a lease, the longest request and `GUARD` have passed since it first saw the owner's last renewal. No step uses the expiry
of etcd's leases.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from larm.cluster.keys import PastView, SeenAgent, View
from larm.cluster.placement import HashRing, Placement

GUARD = 2.0
"""Seconds that cover clocks of different rate: enough for a lease and request of 900 s together at an error of 0.1 %."""
NEVER = float("-inf")
_REMEMBERED = 100_000
"""Hosts known to be open in an unsettled view: some 10 MB."""


class Rules(NamedTuple):
    """Durations, the same for all agents of a cluster."""

    lease: float = 20.0
    """Seconds until an agent without a confirmed renewal stops."""
    request: float = 30.0
    """Seconds of the longest request."""

    @property
    def adoption(self) -> float:
        """Seconds from a lost agent's last renewal until its hosts may be asked."""
        return self.lease + self.request + GUARD


class _Record(NamedTuple):
    """An agent's key as seen so far."""

    there: bool
    revision: int
    """Of its last renewal; without the key, of the poll that first missed it. No renewal is later."""
    first: float
    """Our clock when this was first seen."""
    released: int
    stopped: bool = False


class _Known(NamedTuple):
    """A poll's result."""

    view: View
    modified: int
    """Revision of the view's key: an agent whose key vanished writes both again."""
    agents: Mapping[str, SeenAgent]
    records: Mapping[str, _Record]
    views: tuple[tuple[int, Placement], ...]
    """Epochs and placements, the oldest first; without those of views that have no members."""
    closed_from: float
    """When this `View.closed` was first seen."""
    open: dict[str, None]
    """Hosts that `opened` found open in this view; single operations on a dictionary."""


class ViewState:
    """The membership as the agent ``me`` knows it."""

    def __init__(self, me: str, rules: Rules, placement: Callable[[Mapping[str, float]], Placement] = HashRing) -> None:
        # constant after construction
        self.me = me
        self.rules = rules
        self._placement = placement
        # replaced as a whole by larm-etcd
        self._known = _Known(View(), 0, {}, {}, (), 0.0, {})
        self.fenced_at = NEVER
        """When this agent must stop if no more renewals are confirmed."""
        self._steady = self._last = NEVER

    # -- larm-etcd

    def confirm(self, t0: float) -> None:
        """Note that etcd confirmed a renewal that was sent at ``t0``, read before it was sent."""
        self.fenced_at = max(self.fenced_at, t0 + self.rules.lease)

    def fence(self) -> None:
        """Stop at once, until a later renewal is confirmed."""
        self.fenced_at = NEVER

    def see(self, view: View, modified: int, agents: Mapping[str, SeenAgent], revision: int, now: float) -> None:
        """Take the result of a poll: the view with the revision that wrote it, and the agents' keys.

        ``revision``: of etcd; ``now``: read after the answer came.
        """
        if now - self._last > self.rules.lease / 3:  # no polls, or this process was stopped: others may have been, too
            self._steady = now
        self._last = now
        before = self._known
        same = view == before.view
        past = [PastView(view.epoch, {name: member.weight for name, member in view.members.items()})]
        names = {*agents, *view.lost, *(name for each in (*view.past, *past) for name in each.weights)}
        rewritten = modified != before.modified
        records = {
            name: _seen(agents[name], before.records.get(name), now)
            if name in agents
            else _missed(name, view, before.records.get(name), _Record(False, revision, now, 0), rewritten=rewritten)
            for name in names
        }
        closed_from = before.closed_from if before.view.closed else now
        views = before.views if same else tuple(self._placements((*view.past, *past)))
        self._known = _Known(view, modified, agents, records, views, closed_from, before.open if same else {})

    def _placements(self, views: tuple[PastView, ...]) -> Iterator[tuple[int, Placement]]:
        weights = {each.epoch: each.weights for each in self._known.view.past}
        weights[self.view.epoch] = {name: member.weight for name, member in self.view.members.items()}
        known = dict(self._known.views)
        for each in views:
            if each.weights:
                kept = known.get(each.epoch) if weights.get(each.epoch) == each.weights else None
                yield each.epoch, kept or self._placement(each.weights)

    # -- any thread

    @property
    def view(self) -> View:
        """The newest view; of epoch 0: none is known."""
        return self._known.view

    @property
    def agents(self) -> Mapping[str, SeenAgent]:
        """The agents' keys by their names."""
        return self._known.agents

    @property
    def inside(self) -> bool:
        """True if this agent is a member."""
        return self.me in self._known.view.members

    @property
    def settled(self) -> bool:
        """True if each host is open to its owner."""
        return not (self._known.view.past or self._known.view.closed)

    def others(self) -> list[str]:
        """Return the other members."""
        return [name for name in self._known.view.members if name != self.me]

    def fenced(self, now: float) -> bool:
        """Return True if this agent must send no request, and neither send nor take a batch."""
        return now >= self.fenced_at

    def owner(self, host: str) -> str:
        """Return the owner of a host in the newest view; empty: it has no members."""
        known = self._known
        return known.views[-1][1].owner(host) if known.view.members else ""

    def order(self, host: str, count: int | None = None) -> list[str]:
        """Return the owner of a host, and those that would follow it."""
        known = self._known
        return known.views[-1][1].order(host, count) if known.view.members else []

    def opened(self, host: str, now: float) -> bool:
        """Return True if no earlier owner of the host may still ask it."""
        known = self._known
        if known.view.closed:
            return False
        if not known.view.past or host in known.open:
            return True
        for (_, before), (epoch, after) in pairwise(known.views):
            had = before.owner(host)
            if had != after.owner(host) and not self._let_go(known, had, epoch, now):
                return False
        if len(known.open) < _REMEMBERED:
            known.open[host] = None
        return True

    def _let_go(self, known: _Known, name: str, epoch: int, now: float) -> bool:
        record = known.records[name]
        if record.released >= epoch:
            return True
        if name not in known.view.lost or name in known.view.members:
            return False
        return record.stopped or now >= record.first + self.rules.adoption

    def silent(self, name: str, now: float) -> float:
        """Return the seconds since this agent first saw the other's present renewal, while its own polls succeeded."""
        record = self._known.records.get(name)
        if record is None:
            return 0.0
        return max(0.0, min(now, self._last) - max(record.first, self._steady))

    def released(self, name: str) -> int:
        """Return the newest epoch that an agent has released, as far as is known."""
        record = self._known.records.get(name)
        return record.released if record is not None else 0

    def no_renewal_after(self, name: str) -> int:
        """Return the revision of an agent's last renewal, or the one from which on its key is absent."""
        return self._known.records[name].revision

    def may_settle(self, now: float) -> bool:
        """Return True if the past views can be forgotten: each host is open to its owner."""
        known = self._known
        view = known.view
        if view.closed and now < known.closed_from + self.rules.adoption:
            return False
        names = {*view.members, *(name for past in view.past for name in past.weights)}
        return all(self._let_go(known, name, view.epoch, now) for name in names)


def _seen(seen: SeenAgent, old: _Record | None, now: float) -> _Record:
    if old is not None and old.there and old.revision == seen.modified:
        return old
    return _Record(True, seen.modified, now, seen.state.released, seen.state.stopped)


def _missed(name: str, view: View, old: _Record | None, new: _Record, *, rewritten: bool) -> _Record:
    """Return the record of an absent key: the old one if no renewal can be later."""
    if old is None:
        return new
    if name in view.lost and name not in view.members:
        current = old.revision >= view.lost[name].revision
    else:
        current = not old.there and not rewritten
    return old if current else new._replace(released=old.released)
