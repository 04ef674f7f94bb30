"""Agent: one of those that do a crawl together, as a state machine: what it is told goes in, what it says comes out.

It puts together the views (`Session`), what is for others (`Courier`), what was taken (`Inbox`), and agents that were lost. It
has no thread, no clock and no wire: `larm.cluster.node` drives it in a crawl, and simulations drive many of them. Every method
is called by its driver, under the agent's lock.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from larm.cluster.courier import WINDOW, Answer, Courier, Row
from larm.cluster.inbox import Inbox
from larm.cluster.rows import Wire
from larm.cluster.session import Session
from larm.model.message import LOST, UNKNOWN

_REROUTE = 1.0
"""Seconds between two looks whether hosts were opened: there may be 100,000 rows for those that are not."""
_NOT_HERE = (None, LOST, UNKNOWN)


class Gone(msgspec.Struct, frozen=True, array_like=True):
    """An agent that was lost: what waited at its hosts has to be found again."""

    name: str
    """Empty: it is not known which, so it could be any."""
    weights: Mapping[str, float]
    """Of a view that had it: it may not have handed over what it owned in an earlier one."""
    epoch: int
    """The first view without it."""


class Agent:
    """``idle``: nothing is left to do in this process, all that was received is carried out; ``busy``: see `Session.busy`."""

    def __init__(
        self,
        session: Session,
        courier: Courier,
        inbox: Inbox,
        idle: Callable[[], bool],
        busy: Callable[[], bool],
        *,
        epoch: int = 0,
        gone: Sequence[Gone] = (),
    ) -> None:
        """``epoch``, ``gone``: as `epoch` and `wanted` were when its process ended."""
        # constant after construction
        self.lock = threading.RLock()
        self.session = session
        self.state = session.state
        self.courier = courier
        self.inbox = inbox
        self._idle = idle
        self._busy = busy
        # guarded by self.lock
        self.begun = False
        """The run has begun: rows go to their owners."""
        self.epoch = epoch
        """Of the newest view that was looked at."""
        self.let_go = 0
        """The newest epoch of which nothing foreign is left here."""
        self.credit = WINDOW
        self._closed = True
        self._reroute_at = 0.0
        self._new = list(gone)
        self._found_again: list[Gone] = []
        self._in_cut: list[Gone] = []
        self.resting = False
        """As `is_idle` was last."""

    # -- rows

    def put(self, rows: Iterable[Row], now: float) -> list[Row]:
        """Queue rows for the owners of their hosts; return our own, once the run has begun.

        Before that only pages that are to be asked again come back: they go with their hosts, which are here.
        """
        if self.begun:
            return self.courier.put(rows, now)
        rows = list(rows)
        again = [row for row in rows if row.item.known not in _NOT_HERE]
        self.courier.keep([row for row in rows if row.item.known in _NOT_HERE], now)
        return again

    def knows(self, sender: str, boot: int, seq: int, epoch: int, now: float) -> Answer | None:
        """What to answer to a parcel without taking it; None: it is to be taken (`carry_out`), and then to be answered.

        ``epoch``: of the sender's view. One that is newer than ours has to be read first: its owner may be lost by then.
        """
        known = self.inbox.knows(sender, boot, seq)
        if known != "new":
            return Answer(taken=known == "taken", credit=self.credit)
        return Answer(taken=False, credit=0) if self.closed_to(epoch, now) else None

    def closed_to(self, epoch: int, now: float) -> bool:
        """Nothing that comes with this epoch may be taken now. An agent that leaves takes nothing, or it would go with it."""
        state = self.state
        busy = self._busy()  # else etcd may have it that this agent is idle, until a round has taken that back
        return not (busy and self.begun and epoch <= state.view.epoch and state.inside) or state.fenced(now)

    def carry_out(self, parcel: Wire, rows: Sequence[Row], now: float) -> list[Row]:
        """Take a parcel that is in the journal. Return our own rows; the rest goes on."""
        if not self.inbox.note(parcel.sender, parcel.boot, parcel.seq, parcel.low):
            return []
        return self.put([msgspec.structs.replace(row, hops=row.hops + 1) for row in rows], now)

    # -- the end

    def is_idle(self, *, spent: bool) -> bool:
        """Nothing is left to do. On the thread that brings rows: one may be on its way in it.

        ``spent``: nothing can be done, as all pages of ``--max-pages`` are fetched.
        """
        left = self.courier.waiting or self._new or self.must_release or not self.begun
        self.resting = not left and (spent or self._idle())
        return self.resting

    # -- views

    def reopened(self, now: float) -> list[Row]:
        """Rows that others had, or that waited here until their host could be asked by us."""
        if not self.begun or not self.state.view.members:
            return []
        self._look()
        if not self._closed or (now < self._reroute_at and not self.state.settled):
            return []
        self._closed, self._reroute_at = not self.state.settled, now + _REROUTE
        return self.courier.reroute(now)

    def orphaned(self) -> list[Gone]:
        """Agents that were lost since the last call: what waited at their hosts has to be found again, by all."""
        new, self._new = self._new, []
        self._found_again += new
        return new

    @property
    def wanted(self) -> tuple[Gone, ...]:
        """What has to be on the disk: no checkpoint knows of it yet."""
        return (*self._new, *self._found_again)

    def cut(self) -> None:
        """A checkpoint is made, of all that is behind the doors of this agent and of its queues."""
        self._in_cut = list(self._found_again)

    def cut_saved(self) -> None:
        """The cut is on the disk."""
        self._found_again = [gone for gone in self._found_again if gone not in self._in_cut]
        self._in_cut = []

    @property
    def must_release(self) -> bool:
        """There may be hosts in this process that are not ours any more."""
        return self.let_go < self.state.view.epoch

    def released(self, epoch: int) -> None:
        """All that is not ours in the view of this epoch was put among the rows for others."""
        self.let_go = epoch

    def _look(self) -> None:
        """Note agents that were lost since the last look. After missed views it could be any agent."""
        view, last = self.state.view, self.epoch
        if view.epoch == last:
            return
        self.epoch, self._closed, self._reroute_at = view.epoch, True, 0.0
        if last and last not in {each.epoch for each in view.past}:
            self._new.append(Gone("", {}, view.epoch))
            return
        for name, lost in view.lost.items():
            if lost.epoch > last and name != self.state.me:
                had = [past.weights for past in view.with_agent(name) if past.epoch < lost.epoch]
                self._new += [Gone(name, weights, lost.epoch) for weights in had] or [Gone("", {}, view.epoch)]
