"""Membership: who is in, who is alive, which hosts are ours, whether we may ask them now. Pure: times come in, beats go out.

It is told of every beat (`hear`) and of the time (`tick`), and says what to tell whom (`beat`). `unsaved` is True when its
state has to be on the disk before the next beat is sent. Used under one lock of who owns it (`larm.cluster.agent`), by the
simulation as by a crawl.

Two promises (``tests/cluster/test_simulation.py`` looks for a way around them):

- *One agent a host.* Whoever had a host in an earlier view has said that it let go of it (`Beat.released`), or was removed and
  has been without a majority for so long that it has fenced itself. Until then the new owner does not ask (`opened`).
- *No two next views.* A majority of a view decides the next one (`larm.cluster.votes`). An agent is removed where a majority
  has heard nothing of it for ``adopt_after``, and nobody who is alive still hears it. Any number may come and go in one step:
  who has accepted the next view stands by nobody in this one, so all who don't learn of it are fenced.

With two agents there is no majority without the other one. ``minority: continue`` has each go on alone then, and adopt the
other's hosts: while the two can't see each other both crawl everything. When they meet again, the one with the older view gives
way (of views of one epoch, that with fewer agents or of later names): it takes the other's view, as if it had been removed.
``minority: fence`` has both stop until they see each other.
"""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Literal

import msgspec

from larm.cluster.beat import MOST, Beat, Quiet, Stamp, View, Vote, Wish
from larm.cluster.contact import NEVER, Contact
from larm.cluster.placement import HashRing, Placement
from larm.cluster.votes import PATIENCE, Votes

_ALONE = 4
"""Leases, and a second, until one of two agents that has just started goes on alone: if it is a copy of one that is there, it
knows by then."""


class Rules(msgspec.Struct, frozen=True):
    """The same for all agents of a cluster."""

    lease: float = 3.0
    """Seconds without a beat until nothing is sent to an agent any more."""
    adopt_after: float = 60.0
    """Seconds until it is removed, and its hosts go to others; it stops by itself after half of that."""
    minority: Literal["fence", "continue"] = "continue"
    agents: int = 1
    """The crawl begins when so many are there."""


class Gone(msgspec.Struct, frozen=True, array_like=True):
    """An agent that was removed, and may have died."""

    name: str
    """Empty: it is not known who, so it could be any."""
    before: View
    """The last view that had it."""
    epoch: int
    """The first one without it."""


class Saved(msgspec.Struct, frozen=True):
    """What an agent must know after its process has died."""

    views: tuple[View, ...] = ()
    released: int = 0
    vote: Vote = Vote(0)
    begun: bool = False
    gone: tuple[Gone, ...] = ()
    """Of whom it was not found again what waited at their hosts, or no checkpoint knows it yet."""


class Membership:
    """Of the agent ``me``, whose process has the number ``boot``."""

    def __init__(
        self,
        me: str,
        boot: int,
        weight: float,
        rules: Rules,
        *,
        saved: Saved,
        now: float,
        founder: bool = False,
        placement: Callable[[Mapping[str, float]], Placement] = HashRing,
    ) -> None:
        """``founder``: where it has no part in a cluster yet, it makes one of its own instead of waiting to be let in."""
        # constant after construction
        self.me = me
        self.rules = rules
        self._born = now
        self._weight = weight
        self._placement = placement
        # only who owns it
        self.contact = Contact(me, boot, rules.lease, rules.adopt_after)
        self.released = saved.released
        self.begun = saved.begun
        self.leaving = False
        self.over = False
        self.unsaved = False
        self._met = False
        """A majority was heard since this process began."""
        self._unmet_since = now
        """It has been looked for since then: before the crawl begins nobody has to be there."""
        self.view = View(0, {})
        """The newest that is known; epoch 0: none."""
        self._views: list[View] = []
        self._placements: dict[int, Placement] = {}
        self._learned: dict[int, float] = {}
        self._lost: set[str] = set()
        """Members that were not heard for ``adopt_after``, when it was looked last."""
        self._moved: dict[str, bool] = {}
        """Hosts of which it is known that nobody else may ask them; a memory of `opened`."""
        self._votes = Votes(me, View(0, {}))
        self._wanted: float | None = None
        """Since when there is something to decide."""
        for view in saved.views:
            self._learn(view, now)
        if not self._views and founder:
            self._learn(View(1, {me: weight}), now)
            self.released = 1
        if self._views:
            self._votes = Votes(me, self.view, saved.vote)
        self._note_begin()

    # -- what is so

    @property
    def views(self) -> tuple[View, ...]:
        """From the oldest that matters."""
        return tuple(self._views)

    @property
    def inside(self) -> bool:
        """We have a part of the crawl."""
        return self.me in self.view.members

    @property
    def settled(self) -> bool:
        """All agents have let go of what is not theirs in this view."""
        return len(self._views) == 1

    @property
    def saved(self) -> Saved:
        """What has to be on the disk."""
        return Saved(self.views, self.released, self._votes.vote, self.begun)

    def others(self) -> list[str]:
        """All other members."""
        return [name for name in self.view.members if name != self.me]

    def owner(self, host: str) -> str:
        """Who has this host in our view. Raises KeyError where we have none."""
        return self._placements[self.view.epoch].owner(host)

    def order(self, host: str, count: int) -> list[str]:
        """Who has it, and who would have it next."""
        return self._placements[self.view.epoch].order(host, count)

    def fenced(self, now: float) -> bool:
        """We must not ask anybody for anything."""
        return now >= self.fenced_at(now)

    def fenced_at(self, now: float) -> float:
        """The time from which on that is so, if nothing more is heard."""
        if not self.inside:
            return -NEVER
        if len(self.view.members) == 2 and self.rules.minority == "continue":
            alone = self.contact.echoed(self.others()[0]) == -NEVER
            return NEVER if not alone or now >= self._born + _ALONE * self.rules.lease + 1 else -NEVER
        return self.contact.fenced_at(self.view, now)

    def deserted(self, now: float, after: float) -> bool:
        """We have come back to a crawl that had begun, and in ``after`` seconds no majority of it was to be heard.

        The others have ended without us, perhaps. Who has met them in this process waits: they may be cut off only.
        """
        return self.begun and not self._met and now - self._unmet_since >= after

    def opened(self, host: str, now: float) -> bool:
        """Whether nobody else who had this host may still ask it."""
        if self.settled or self._moved.get(host):
            return True
        for before, after in zip(self._views, self._views[1:], strict=False):
            had = self._placements[before.epoch].owner(host)
            if self._placements[after.epoch].owner(host) != had and not self._let_go(had, after.epoch, now):
                return False
        self._moved[host] = True
        return True

    # -- what comes in

    def hear(self, beat: Beat, now: float) -> bool:
        """A beat, asked for or not. False: it is refused; nothing is to be answered then."""
        if not self.contact.hear(beat, now):
            return False
        self._lost.discard(beat.sender)
        beat = self.contact.beats[beat.sender]
        for view in beat.views:
            self._see_view(view, now)
        if beat.begun and not self.begun:
            self.begun = self.unsaved = True
        if beat.view.same(self.view):
            self._votes.hear(beat.sender, beat.vote, beat.bid)
            if beat.over:
                self.over = True
        self._decide(now)
        return True

    def tick(self, now: float) -> None:
        """About once a second."""
        self._met = self._met or self._majority_heard(now)
        if not self.begun:
            self._unmet_since = now
        self._settle(now)
        self._lost = {name for name in self.others() if self.contact.lost(name, now)}
        if self.inside:
            self._wish(now)
        self._decide(now)

    def release(self, epoch: int) -> None:
        """We have stopped asking what is not ours since this epoch, and handed it over."""
        if epoch > self.released:
            self.released = epoch
            self.unsaved = True

    def beat(self, other: str, now: float, quiet: Quiet) -> Beat:
        """What to tell that agent now."""
        seen = self.contact.beats.get(other)
        stands_by = seen is not None and seen.view.same(self.view) and not self._votes.accepted
        wish: Wish = "leave" if self.inside and self.leaving else "" if self.inside or self.leaving else "join"
        return Beat(
            sender=self.me,
            stamp=Stamp(self.contact.boot, now),
            echo=self.contact.stamp_of(other) if stands_by else None,
            views=self.views,
            released=self.released,
            lost=tuple(self._lost),
            vote=self._votes.vote,
            bid=self._votes.bid,
            weight=self._weight,
            wish=wish,
            quiet=quiet,
            begun=self.begun,
            over=self.over,
        )

    # -- views

    def _see_view(self, view: View, now: float) -> None:
        mine = self.view
        if view.epoch > mine.epoch:
            if len(self._views) < MOST:  # else somebody makes them up; these have to be settled first
                self._learn(view, now)
        elif view.epoch == mine.epoch and not view.same(mine):
            self._disagree(view, now)

    def _disagree(self, view: View, now: float) -> None:
        """Two agents went on alone, each without the other; some may have joined them since."""
        if _rank(view) < _rank(self.view):
            self._views.clear()
            self._placements.clear()
            self.released = view.epoch - 1
            self._learn(view, now)

    def _learn(self, view: View, now: float) -> None:
        if self._views and view.epoch > self.view.epoch + 1:  # we were away for so long that nobody knows what was between
            self._views.clear()
            self._placements.clear()
        self._placements[view.epoch] = self._placement(view.members)
        self._views.append(view)
        self.view = view
        self._lost.clear()
        self._learned[view.epoch] = now
        self._moved.clear()
        self._votes = Votes(self.me, view)
        self._wanted = None
        self.unsaved = True
        for name in view.members:
            if name != self.me:
                self.contact.waiting_since(name, now)
        self._note_begin()

    def _note_begin(self) -> None:
        if not self.begun and len(self.view.members) >= self.rules.agents:
            self.begun = self.unsaved = True

    def _let_go(self, other: str, epoch: int, now: float) -> bool:
        """That agent asks no more, since this epoch, what it had before."""
        if other == self.me:
            return self.released >= epoch
        return self.fate(other, epoch, now) != "not known"

    def fate(self, other: str, epoch: int, now: float) -> Literal["handed over", "dead", "not known"]:
        """What became of the hosts that another agent had before this epoch, and has not since."""
        beat = self.contact.beats.get(other)
        one_way = beat is not None and (beat.view in self._views or other not in beat.view.members)
        if beat is not None and beat.released >= epoch and one_way:  # else it has gone on alone
            return "handed over"
        if other in self.view.members:
            return "not known"
        gone = next((view.epoch for view in self._views if view.epoch >= epoch and other not in view.members), self.view.epoch)
        wait = self.rules.adopt_after / 2
        fenced = now - self._learned[gone] >= wait and self.contact.silent(other, now) >= wait
        return "dead" if fenced else "not known"

    def _settle(self, now: float) -> None:
        """Forget views before which nobody has anything any more."""
        while len(self._views) > 1:
            before, after = self._views[0], self._views[1]
            if not all(self._let_go(name, after.epoch, now) for name in before.members):
                return
            del self._views[0], self._placements[before.epoch]
            self._learned.pop(before.epoch)
            self.unsaved = True

    # -- decisions

    def _majority_heard(self, now: float) -> bool:
        heard = [name for name in self.others() if name in self.contact.beats and self.contact.fresh(name, now)]
        return not self.fenced(now) or len(heard) + self.inside >= self.view.majority

    def _decide(self, now: float) -> None:
        view = self._votes.decided()
        if view is not None and view.epoch == self.view.epoch + 1:
            self._learn(view, now)

    def _wish(self, now: float) -> None:
        """Bid for what should change, if it is our turn."""
        value = self._votes.half_way() or self._change(now)  # half-way: who bid for it may be gone
        if value is None:
            self._wanted = None
            return
        if self._wanted is None:
            self._wanted = now
        alive = [name for name in sorted(self.view.members) if name == self.me or self.contact.fresh(name, now)]
        if len(alive) < self.view.majority:
            if len(self.view.members) == 2 and self.rules.minority == "continue" and self.me in value.members:
                self._learn(value, now)
            return
        place = alive.index(self.me)
        if now - self._wanted >= PATIENCE * place:  # those before us may see it otherwise, or can't be heard
            self._votes.propose(value, place, now)

    def _change(self, now: float) -> View | None:
        """All that are lost are removed at once, however many; else, with what is settled, all that leave and all that join."""
        members, beats = self.view.members, self.contact.beats
        change = {name for name in self._lost if self._agreed_lost(name, now)}
        come: dict[str, float] = {}
        if not change and self.settled:
            change = {name for name in self.others() if name in beats and beats[name].wish == "leave"}
            change |= {self.me} if self.leaving else set()
            change -= {max(members)} if change >= members.keys() else set()  # somebody has to have it all
            come = {name: beat.weight for name, beat in sorted(beats.items()) if self._comes(beat, now)}
            come = dict(islice(come.items(), MOST - len(members)))
        rest = {name: weight for name, weight in members.items() if name not in change} | come
        return View(self.view.epoch + 1, rest) if rest and rest != members else None

    def _comes(self, beat: Beat, now: float) -> bool:
        wishes = beat.wish == "join" and beat.sender not in self.view.members and self.contact.fresh(beat.sender, now)
        return wishes and beat.released >= beat.epoch

    def _agreed_lost(self, name: str, now: float) -> bool:
        """A majority has lost it, and nobody who is alive still hears it."""
        if not self.contact.lost(name, now):
            return False
        alive = [other for other in self.others() if other != name and self.contact.fresh(other, now)]
        alone = len(self.view.members) == 2 and self.rules.minority == "continue"
        if len(alive) + 1 < self.view.majority and not alone:
            return False
        beats = [self.contact.beats.get(other) for other in alive]
        return all(beat is not None and name in beat.lost for beat in beats)


def _rank(view: View) -> tuple[int, list[str]]:
    """Of two views of one epoch the smaller one holds: that with more agents, or of the earlier names."""
    return -len(view.members), sorted(view.members)
