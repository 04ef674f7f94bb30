"""The session of one agent with etcd: the transactions that change what all agents share: the members, the run and its end, the
quota, commands. `Poller` reads, `OwnKey` renews.

The thread ``larm-etcd`` calls `Session.round` and `OwnKey.stop`. They block in HTTP, and hold no lock then. Results are values
that are replaced as a whole; `Session.busy` and `Session.order` are thread-safe.

Its rule: every transaction that writes compares all that it rests on, and this agent's own key.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from larm.cluster.applicant import Applicant, Mine, SavedSession
from larm.cluster.etcd import Delete, Etcd, Get, Operation, Put, Same
from larm.cluster.keys import (
    MOST,
    MOST_PAST,
    NO_CHANGES,
    AgentState,
    ClusterId,
    Grant,
    Idle,
    Keys,
    Member,
    Quota,
    Run,
    View,
    What,
    pack,
)
from larm.cluster.own_key import OwnKey
from larm.engine.allowance import PAGES_SPENT

GATHER = 300.0
"""Seconds that a run waits for the members of the last view."""
FIGURES = 10.0
"""Seconds between two reports of figures."""
CALM = 2.0
"""Seconds without work until an agent claims to be idle. A refused batch comes again within them."""
_MANY = 30
"""Agents from which on each polls less often than once a second: etcd gets some 30 requests a second then."""
_STEPS = 6
"""Transactions of one round at most."""
_SLOWEST = 5.0
"""Seconds between two attempts at an etcd that does not answer."""


class Session(OwnKey):
    """Of one agent. ``saved``: as it was on the disk."""

    def __init__(self, etcd: Etcd, keys: Keys, applicant: Applicant, saved: SavedSession, **options: Any) -> None:
        """``options``: see `Poller`."""
        super().__init__(etcd, keys, applicant, saved, **options)
        # replaced as a whole by larm-etcd
        self.left = False
        """It has left as planned: nothing is its own any more."""
        self.granted = 0
        """Pages of ``--max-pages`` that this agent may fetch, in all its runs."""
        self.short = False
        """Pages are wanted, and none are left."""
        self.next_at = 0.0
        """When the next round is due, unless something has changed here."""
        # only larm-etcd
        self._seen_epoch = 0
        """Epoch of the view that the caller knows."""
        self._other = 0
        """Revision at which another process of our name renewed, when it was first seen."""
        self._figures_at = self._calm_from = self.state.fenced_at
        # guarded by self._lock
        self._lock = threading.Lock()
        self.told_idle = False
        """etcd may have our claim to be idle."""
        self._last_read = 0
        """Number of the run whose last figures were read: those that came with the claims."""
        self._busy = False
        """`busy` was called since the last round began."""
        self._orders: list[tuple[What, str, int, Mapping[str, str]]] = []

    # -- any thread

    @property
    def complete(self) -> bool:
        """True if the run is over, and `figures` has what each agent said last."""
        return self._last_read == self.run.number

    @property
    def wire(self) -> int:
        """The wire version that the cluster speaks."""
        identity = self._reading.id
        return identity.wire if identity is not None else self._own.wire[0]

    @property
    def ordered(self) -> bool:
        """True if a command waits for a round."""
        return bool(self._orders)

    def busy(self) -> bool:
        """Note that something is to do. Return True if it may begin, or a batch be confirmed; else ask again a second later."""
        with self._lock:
            self._busy = True
            return not self.told_idle

    def order(self, what: What, why: str = "", changes: Mapping[str, str] = NO_CHANGES) -> None:
        """Give a command to all agents, with one of the next rounds. ``changes``: settings, as they were written."""
        with self._lock:
            self._orders.append((what, why, self._random(), changes))

    # -- larm-etcd

    def round(self, mine: Mine, now: Callable[[], float]) -> None:
        """Poll, renew where it is due, and make the changes that are due. ``now``: CLOCK_BOOTTIME."""
        self._now, self._seen_epoch = now, self.state.view.epoch
        self._released = max(self._released, min(mine.released, self._seen_epoch))
        with self._lock:
            busy, self._busy = self._busy, False
        if busy or not mine.idle:
            mine, self._calm_from = mine._replace(idle=False), now() + CALM
        if self._poll(mine):
            for _ in range(_STEPS):
                if self.halted or not self._change(mine) or self._failures:
                    break
                mine = mine._replace(wants=False)  # one grant a round
        rest = min(max(1.0, len(self._reading.agents) / _MANY), self.state.rules.lease / 5)
        self.next_at = now() + (
            0.0 if self.unsaved else min(max(rest, float(self._failures)), _SLOWEST, self.state.rules.lease / 4)
        )
        away = not self.state.inside and self._name not in self._reading.agents and not self._leaves
        self.left = mine.leaving and away and not self._failures

    # -- changes

    def _do(self, compares: Sequence[Same], puts: Sequence[Operation], *more: Get) -> bool:
        """See `OwnKey`. Also take from etcd what it has of this agent: its grant, and whether it claims to be idle."""
        doubt = self._doubt
        done = super()._do(compares, puts, *more)
        if self._failures or self.halted:
            return done
        if not doubt:
            self.granted = self._reading.grant.pages
        claim = self._reading.idles.get(self._name, Idle(0)).epoch
        with self._lock:
            if not self._doubt:
                self.told_idle = bool(claim) and claim == self._reading.view.epoch
        return done

    def _change(self, mine: Mine) -> bool:
        """Make the first change that is due. Return False if none is."""
        reading = self._reading
        if self.unsaved:
            return False
        if reading.id is None:
            return self._found(mine)
        if self._written is None or not self.state.inside:
            return self._enter(mine)
        if reading.agents.get(self._name) is None:
            return self._revive(mine)
        if self._ours(mine) is None:
            return self._halt(f"another process is the agent {self._name}: use another directory, or end that process")
        return (
            self._claim_idle(mine)
            or self._change_view(mine)
            or self._change_run()
            or self._share_pages(mine)
            or self._command()
            or self._report(mine)
        )

    def _found(self, mine: Mine) -> bool:
        own, keys = self._own, self._keys
        identity = ClusterId(f"{self._random():016x}", 1, dict(own.settings), own.wire[1])
        view = View(1, {own.name: Member(own.weight, self._saved.nonce)})
        puts = (Put(keys.id, pack(identity)), Put(keys.run, pack(Run(1))))
        return self._put_view(view, self._state(mine, 1), puts)

    def _put_view(self, view: View, state: AgentState, puts: Sequence[Operation]) -> bool:
        """Write a view that has us, and our key under a new session. Return True."""
        keys = self._keys
        if self._keep():
            compares = self._reading.same(keys.id, keys.view, self._mine["agents"])
            puts = (Put(keys.view, pack(view)), self._put_state(state), Delete(keys.idles, prefix=True), *puts)
            if self._do(compares, puts):
                self._written, self._released = state, state.released
        return True

    def _enter(self, mine: Mine) -> bool:
        """Join, or go on with the session of the process before. One that left keeps its key until its hosts are settled."""
        reading, inside = self._reading, self.state.inside
        if reading.id is None or self._begin_run():
            return True
        if not inside and (self._leaves or self._name in reading.agents):
            return self._leave(mine)
        unfit = "" if mine.leaving and not inside else self._unfit(reading.id)
        if unfit:
            return self._halt(unfit)
        return self._resume(mine) if inside else not mine.leaving and self._join(mine)

    def _leave(self, mine: Mine) -> bool:
        """Go on as an agent that has left: hand over, then delete our key. Come back if it should not leave any more."""
        ours, first, view, own = self._ours(mine), self._written is None, self._reading.view, self._own
        if own.name not in self._reading.agents:
            return not first and self._revive(mine)
        if ours is not None and not mine.leaving and len(view.past) < MOST_PAST:
            members = {**view.members, own.name: Member(own.weight, self._saved.nonce)}
            return self._put_view(view.then(members), ours, ())
        if ours is not None and first:
            return self._renew(ours)
        return ours is not None and self.state.settled and self._guarded((Delete(self._mine["agents"]),))

    @property
    def _leaves(self) -> bool:
        """True if this agent has left the view, and others wait for its release."""
        view, name = self._reading.view, self._name
        return name not in view.members and name not in view.lost and any(name in past.weights for past in view.past)

    def _resume(self, mine: Mine) -> bool:
        """Go on with the session of the process before. Another process's is waited for."""
        view, name, ours = self._reading.view, self._name, self._ours(mine)
        if ours is not None:
            return self._renew(ours)
        member = view.members[name]
        if member.nonce == self._saved.nonce and self._own.continues and name not in self._reading.agents:
            return self._revive(mine)
        revision = self._reading.modified.get(self._mine["agents"], 0)
        self._other = self._other or revision
        if revision not in {0, self._other}:
            copied = "this directory was copied from one in use; --fresh makes a new agent of it"
            return self._halt(f"another process is the agent {name}: {copied}")
        self.trouble = f"another process was the agent {name}: this one goes on when it has been silent for long enough"
        if self.state.silent(name, self._now()) < self.state.rules.adoption:
            return False
        members = {**view.members, name: Member(member.weight, self._saved.nonce)}
        return self._put_view(view.then(members), self._state(mine, 0), ())

    def _join(self, mine: Mine) -> bool:
        reading, own = self._reading, self._own
        view = reading.view
        if self._written is not None:  # it was lost: it joins as a new member
            self._written = None
            self._saved, self.unsaved = msgspec.structs.replace(self._saved, nonce=self._random(), member=False), True
            self._released = 0
        clear = view.closed or mine.released >= self._seen_epoch == view.epoch
        if self.unsaved or not clear or len(view.past) >= MOST_PAST or own.name in reading.agents:
            return False
        joined = view.then({**view.members, own.name: Member(own.weight, self._saved.nonce)})
        return self._put_view(joined, self._state(mine, 0 if view.closed else joined.epoch), ())

    def _unfit(self, identity: ClusterId) -> str:
        """Return why this agent can't take part."""
        own = self._own
        differing = sorted(n for n in {*identity.settings, *own.settings} if identity.settings.get(n) != own.settings.get(n))
        if differing:
            return f"other agents have other settings: {', '.join(differing)}; give all agents the same, and start again"
        if not own.wire[0] <= identity.wire <= own.wire[1]:
            speaks = f"this larm speaks {own.wire[0]} to {own.wire[1]}"
            return f"the agents speak version {identity.wire}, and {speaks}: install a version that is next to theirs"
        if len(self._reading.view.members) >= MOST and own.name not in self._reading.view.members:
            return f"the cluster has {MOST} agents: no more can join"
        return ""

    def _begin_run(self) -> bool:
        """Begin the next run if this process is the first one. It brings the settings of the run."""
        reading, own, keys = self._reading, self._own, self._keys
        others = any(name != own.name and not seen.state.stopped for name, seen in reading.agents.items())
        if self._written is not None or others or reading.id is None:
            return False
        if own.fresh and not self._saved.member:
            self._saved = SavedSession(nonce=self._saved.nonce)
            self._do(reading.same(keys.id, keys.run), [Delete(keys.top, prefix=True)])
            return True
        gathers = reading.run.state == "gathering" and reading.run.number > 0
        wire = min(max(reading.id.wire, own.wire[0]), own.wire[1])
        identity = msgspec.structs.replace(reading.id, settings=dict(own.settings), wire=wire)
        if gathers and identity == reading.id:
            return False
        run = reading.run if gathers else Run(reading.run.number + 1, first=reading.run.first)
        puts: list[Operation] = [Put(keys.id, pack(identity)), Put(keys.run, pack(run)), Delete(keys.idles, prefix=True)]
        if reading.run.state == "over" and not reading.run.why:  # a revisit begins to count from nothing
            puts += [Delete(keys.quota), Delete(keys.grants, prefix=True)]
        self._do(reading.same(keys.id, keys.run), puts)
        return True

    def _revive(self, mine: Mine) -> bool:
        """Write our key again, which vanished though this agent was not removed."""
        return self._put_view(self._reading.view, self._state(mine, self._released), ())

    def _claim_idle(self, mine: Mine) -> bool:
        at, epoch = self._now(), self._reading.view.epoch
        wanted = mine.idle and at >= self._calm_from and not self.state.fenced(at) and epoch == self._seen_epoch
        wanted = wanted and self.run.state == "running" and self.state.settled
        wanted = wanted and (mine.keep is None or self.granted <= mine.keep)
        with self._lock:
            wanted = wanted and not self._busy
            if wanted == self.told_idle:
                return False
            self.told_idle = True  # until a later poll shows that it is not so
        puts = [Put(self._mine["idles"], pack(Idle(epoch if wanted else 0, mine.spent)))]
        puts += [Put(self._mine["figures"], mine.figures, self._lease)] if wanted and mine.figures else []
        return self._guarded(puts, self._mine["idles"], self._keys.view, self._keys.run)

    def _change_view(self, mine: Mine) -> bool:
        """Remove silent agents, forget settled views, or leave."""
        view, at, lease = self._reading.view, self._now(), self.state.rules.lease
        others = self.state.others()
        if (self.run.state == "running" or not self.run.first) and not mine.leaving:  # before the first run none has a host
            leavers = {name for past in view.past for name in past.weights} - view.members.keys() - view.lost.keys()
            leavers = {name for name in leavers if self.state.released(name) < view.epoch}
            silent = [name for name in (*others, *sorted(leavers)) if self.state.silent(name, at) >= lease]
            if silent:
                self._lose(silent, self._reading.same(self._mine["agents"]))
                return True
        if not self.state.settled and self.state.may_settle(at):
            return self._guarded((Put(self._keys.view, pack(View(view.epoch, view.members))),), self._keys.view)
        if mine.leaving and others and self.state.settled and all(self._alive(name, at) for name in others):
            rest = {name: member for name, member in view.members.items() if name != self._name}
            puts = (Put(self._keys.view, pack(view.then(rest))), Delete(self._keys.idles, prefix=True))
            return self._guarded(puts, self._keys.view)
        return False

    def _change_run(self) -> bool:
        """Begin to crawl, end the crawl, or raise the wire version."""
        reading, keys, run = self._reading, self._keys, self.run
        members, epoch = reading.view.members, reading.view.epoch
        states = [reading.agents[name].state for name in members if name in reading.agents]
        there = len(states) == len(members) and not any(state.stopped for state in states)
        if run.state == "gathering":
            enough = run.number > 1 or len(members) >= self._own.agents
            if enough and (there or self._now() - self._began[1] >= GATHER):
                begun = Run(run.number, "running", first=run.first or epoch)
                return self._guarded((Put(keys.run, pack(begun)),), keys.run, keys.view)
            return False
        claims = [reading.idles.get(name, Idle(0)) for name in members]
        spent = any(claim.spent for claim in claims)
        idle = all(claim.epoch == epoch for claim in claims) and not (spent and reading.quota.left > 0)
        if run.state == "running" and self.state.settled and idle:
            over = Run(run.number, "over", PAGES_SPENT if spent else "", run.first)
            compared = [keys.run, keys.view, keys.quota, *(f"{keys.idles}{name}" for name in members)]
            return self._guarded((Put(keys.run, pack(over)),), *compared)
        highest = min((state.wire[1] for state in states), default=0)
        if reading.id is not None and there and self.state.settled and highest > reading.id.wire:
            identity = msgspec.structs.replace(reading.id, wire=highest)
            return self._guarded((Put(keys.id, pack(identity)),), keys.id, keys.view)
        return False

    def _share_pages(self, mine: Mine) -> bool:
        """Take pages of ``--max-pages``, or give them back."""
        quota, pages, members = self._reading.quota, self._reading.grant.pages, len(self._reading.view.members)
        left = quota.left + mine.limit - quota.limit
        if mine.wants:
            self.short = left <= 0
        part = 0
        if mine.keep is not None and pages > mine.keep:
            part = mine.keep - pages
            self.granted = mine.keep
        elif mine.wants and mine.keep is None and left > 0 and not self.told_idle:
            part = left if members == 1 else max(1, left // (2 * members))
        if not mine.limit or (not part and quota.limit == mine.limit):
            return False
        grant, key = Grant(pages + part), self._mine["grants"]
        puts = (Put(self._keys.quota, pack(Quota(mine.limit, left - part))), Put(key, pack(grant)))
        return self._guarded(puts, self._keys.quota, key)

    def _command(self) -> bool:
        with self._lock:
            if not self._orders:
                return False
            order = self._orders[0]
        last, command = self.command, self.command.then(self._name, *order)
        compares = self._reading.same(self._mine["agents"], self._keys.command)
        there = (command.number, command.changes) == (last.number, last.changes)
        if there or self._do(compares, (Put(self._keys.command, pack(command)),)):
            with self._lock:
                del self._orders[0]
        return True

    def _report(self, mine: Mine) -> bool:
        over, since = self.run.state == "over", self._now() - self._figures_at
        strangers = not self.figures.keys() >= self._reading.view.members.keys()
        due = since >= (1.0 if strangers else FIGURES) or (over and not self.complete)
        if not mine.figures or not due:
            return False
        self._figures_at = self._now()
        gets = Get(self._keys.figures, prefix=True), Get(self._keys.lasts, prefix=True)
        puts = [Put(self._mine["figures"], mine.figures, self._lease)]
        done = self._do(self._reading.same(self._mine["agents"]), puts, *gets)
        self._last_read = self.run.number if over and done else 0
        return True
