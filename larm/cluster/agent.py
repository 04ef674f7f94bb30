"""Agent: one of those that do a crawl together, as a state machine: what it is told goes in, what it says comes out.

It puts together who is in (`Membership`), what is for others (`Courier`), what was taken (`Inbox`) and the end (`Ending`). It
has no thread, no clock and no wire: `larm.cluster.node` drives it in a crawl, and the simulation drives a hundred of them.
Every method is called under the agent's lock, by whoever drives it.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import msgspec

from larm.cluster.beat import Beat, Quiet
from larm.cluster.courier import WINDOW, Answer, Courier, Row
from larm.cluster.ending import Ending
from larm.cluster.inbox import Inbox
from larm.cluster.membership import Gone, Membership, Saved

BEAT = 1.0
"""Seconds between two beats to the same agent, at most a third of the lease."""

_STRANGERS = 5
"""Each so many beats are also for agents that are not in."""


class Received(msgspec.Struct, frozen=True, array_like=True):
    """A parcel as it stands in the receiver's journal."""

    sender: str
    boot: int
    seq: int
    low: int
    rows: tuple[Row, ...]


class Agent:
    """``idle``: nothing is left to do in this process, all that was received is carried out."""

    def __init__(
        self, membership: Membership, courier: Courier, inbox: Inbox, idle: Callable[[], bool], gone: Sequence[Gone] = ()
    ) -> None:
        """``gone``: of `Saved`."""
        # constant after construction
        self.lock = threading.RLock()
        self.membership = membership
        self.courier = courier
        self.inbox = inbox
        self._idle = idle
        self._every = min(BEAT, membership.rules.lease / 3)
        # guarded by self.lock
        self._ending = Ending()
        self._changes = 0
        self._was_idle = False
        self._next_beat = 0.0
        self._beats = 0
        self._view = membership.view
        self._closed = True
        self._looked = False
        self._gone = list(gone)
        self._found_again: list[Gone] = []
        self._in_cut: list[Gone] = []
        self.acquaintances: set[str] = set()
        """All whose address was ever known: a newcomer asks them to be let in."""
        self.credit = WINDOW

    # -- rows

    def put(self, rows: Iterable[Row], now: float) -> list[Row]:
        """Rows for whoever has their hosts; what is ours comes back, once the crawl has begun."""
        if not self.membership.begun:
            self.courier.keep(list(rows), now)
            return []
        return self.courier.put(rows, now)

    def knows(self, sender: str, boot: int, seq: int) -> Answer | None:
        """What to answer to a parcel without taking it; None: it is to be taken (`carry_out`), and then to be answered."""
        known = self.inbox.knows(sender, boot, seq)
        if known == "new":
            return None
        return Answer(taken=known == "taken", credit=self.credit)

    def carry_out(self, received: Received, now: float) -> list[Row]:
        """A parcel that is in the journal: what is ours of it comes back, the rest goes on."""
        self._changes += 1
        if not self.inbox.note(received.sender, received.boot, received.seq, len(received.rows), received.low):
            return []
        return self.put([msgspec.structs.replace(row, hops=row.hops + 1) for row in received.rows], now)

    # -- beats

    def tick(self, now: float) -> list[tuple[str, Beat]]:
        """Some times a second: the beats to send now, and to whom."""
        membership = self.membership
        if now < self._next_beat:
            if not membership.others():  # who is alone waits for nobody, and changes his mind when something comes
                membership.over = self._ending.look(membership, self.quiet(""), {}, now)
            return []
        self._next_beat = now + self._every
        membership.tick(now)
        self._look_at_views()
        told = {name: self.quiet(name) for name in membership.others()}
        if not membership.over or not told:
            membership.over = self._ending.look(membership, self.quiet(""), told, now)
        self._beats += 1
        whom = set(membership.others())
        if not membership.inside or self._beats % _STRANGERS == 0:  # two that went on alone have to meet again
            whom |= self.acquaintances - {membership.me}
        return [(name, membership.beat(name, now, told.get(name) or self.quiet(name))) for name in sorted(whom)]

    def hear(self, beat: Beat, now: float) -> Beat | None:
        """A beat, and what to answer; None: nothing."""
        was = self.membership.contact.fresh(beat.sender, now)
        over = self.membership.over
        if not self.membership.hear(beat, now):
            return None
        if self.membership.over and not over and not self._idle():
            self.membership.over = False  # it speaks of the run before: of this one we would know
        if not was:
            self.courier.heard(beat.sender)
        self._look_at_views()
        return self.membership.beat(beat.sender, now, self.quiet(beat.sender))

    def quiet(self, other: str) -> Quiet:
        """What we say to that agent of what we have left to do."""
        idle = self._idle() and not self.courier.waiting and not self._gone and not self.must_release
        if idle != self._was_idle:
            self._changes += not idle
            self._was_idle = idle
        beat = self.membership.contact.beats.get(other)
        boot = beat.stamp.boot if beat is not None else 0
        return Quiet(idle, self._changes, self.courier.sent(other), self.inbox.received(other, boot))

    # -- views

    def reopened(self, now: float) -> list[Row]:
        """After `tick` or `hear`: rows that others had, or that waited here until their host could be asked by us."""
        if not self.membership.begun:
            return []
        closed = self._closed
        self._closed = not self.membership.settled
        return self.courier.reroute(now) if closed else []

    def orphaned(self, now: float) -> list[Gone]:
        """Agents that have died, and whose hosts we may ask now, or will: what waited there has to be found again, by all."""
        ready: list[Gone] = []
        rest: list[Gone] = []
        for gone in self._gone:
            match self.membership.fate(gone.name, gone.epoch, now) if gone.name else "dead":
                case "handed over":
                    continue
                case "dead":
                    ready.append(gone)
                case _:
                    rest.append(gone)
        if len(rest) < len(self._gone):
            self.membership.unsaved = True
        self._gone = rest
        self._found_again += ready
        return ready

    @property
    def saved(self) -> Saved:
        """What has to be on the disk when `Membership.unsaved` says so."""
        return msgspec.structs.replace(self.membership.saved, gone=(*self._gone, *self._found_again))

    def cut(self) -> None:
        """A checkpoint is made, of all that is behind the doors of this agent and of its queues."""
        self._in_cut = list(self._found_again)

    def cut_saved(self) -> None:
        """It is on the disk."""
        if self._in_cut:
            self._found_again = [gone for gone in self._found_again if gone not in self._in_cut]
            self._in_cut = []
            self.membership.unsaved = True

    @property
    def must_release(self) -> bool:
        """There are hosts in this process that are not ours any more, or nobody has looked yet."""
        return not self._looked or self.membership.released < self.membership.view.epoch

    def released(self) -> None:
        """All that is not ours was put among the rows for others; said as soon as these have it."""
        self._looked = True
        if not self.courier.moves:
            self.membership.release(self.membership.view.epoch)

    def _look_at_views(self) -> None:
        membership, last = self.membership, self._view
        if membership.view.same(last):
            return
        known = [view for view in membership.views if view.epoch > last.epoch]
        if last.epoch and known and known[0].epoch > last.epoch + 1:  # did others come, get what we had, and die?
            self._gone.append(Gone("", last, known[0].epoch))
        for before, after in pairwise([last, *known]):
            names = [name for name in before.members if name not in after.members and name != membership.me]
            self._gone += [Gone(name, before, after.epoch) for name in names]
        self._view = membership.view
        self._closed = True
