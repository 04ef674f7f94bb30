"""The session of one agent with etcd: polls, renewals, and the transactions that change what all agents share: the members, the
run and its end, the quota, commands.

The thread ``larm-etcd`` calls `Session.round`, `Session.stop` and what an operator wants. They block in HTTP, and hold no lock
then. Results are values that are replaced as a whole; `Session.busy` and `Session.order` are thread-safe.

Its rule: every transaction that writes compares all that it rests on, and this agent's own key. After an unknown outcome a
renewal comes first: it changes that key, so nothing that was sent before can come true later.
"""

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

import msgspec

from larm.cluster.etcd import Delete, Etcd, Found, Get, NoEtcd, Operation, Pair, Put, Same
from larm.cluster.keys import (
    MOST,
    MOST_PAST,
    AgentState,
    ClusterId,
    Command,
    Grant,
    Idle,
    Keys,
    Lost,
    Member,
    Quota,
    Run,
    SeenAgent,
    SeenCommand,
    View,
    What,
    pack,
    unpack,
)
from larm.cluster.placement import HashRing, Placement
from larm.cluster.view_state import Rules, ViewState
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
_JUMP = 1_000
"""Epochs that are left out when a cluster is founded again: more than a lost history can have had since a backup."""
_SLOWEST = 5.0
"""Seconds between two attempts at an etcd that does not answer."""
_OTHER = (
    "etcd has another cluster of this name: choose the right etcd with --etcd, another --cluster, or start over with --fresh"
)
_BACK = "etcd went back in time: run 'larm cluster found --again'"


_Value = TypeVar("_Value", bound=msgspec.Struct)
_Default = TypeVar("_Default")


class Applicant(NamedTuple):
    """What an agent joins with; constant for its process."""

    name: str
    boot: int
    """Random, or counted: no other process of this agent has it."""
    weight: float = 1.0
    settings: Mapping[str, str] = MappingProxyType({})
    """Digests of the settings that all agents share, without defaults."""
    wire: tuple[int, int] = (1, 1)
    """Wire versions that it speaks."""
    agents: int = 1
    """Members that a run needs to begin."""
    fresh: bool = False
    """The operator starts over: where no agent runs, the former cluster is forgotten."""
    continues: bool = False
    """The process that saved the session is dead: boot_id and inode are those saved, and the lock of the directory is ours."""


class Mine(NamedTuple):
    """The state of this agent's crawl, made after the last round."""

    idle: bool = False
    """Nothing is left to do here, or no page that was granted is left to do it."""
    spent: bool = False
    """It is the latter."""
    released: int = 0
    """Epoch of the view for which no foreign host is left here."""
    leaving: bool = False
    address: str = ""
    figures: bytes = b""
    limit: int = 0
    """``--max-pages`` of all agents; 0: none."""
    wants: bool = False
    """Pages are needed, and as good as none are left of those granted."""
    keep: int | None = None
    """Pages that this agent fetches at most; the rest of `Session.granted` is given back."""


class SavedSession(msgspec.Struct, frozen=True):
    """What an agent must know after its process has died."""

    cluster: str = ""
    """Empty: it was in none."""
    generation: int = 0
    epoch: int = 0
    member: bool = False
    """It was in the view of this epoch."""
    nonce: int = 0
    revision: int = 0
    """The highest revision seen. It may be saved late."""


class _Reading(NamedTuple):
    """The keys of a cluster at one revision."""

    revision: int = 0
    id: ClusterId | None = None
    view: View = View()
    run: Run = Run()
    quota: Quota = Quota(0, 0)
    grant: Grant = Grant()
    agents: Mapping[str, SeenAgent] = MappingProxyType({})
    idles: Mapping[str, Idle] = MappingProxyType({})
    modified: Mapping[str, int] = MappingProxyType({})

    def same(self, *keys: str) -> list[Same]:
        """Return compares that hold if these keys are unchanged since."""
        return [Same(key, self.modified.get(key, 0)) for key in keys]


class Session:
    """Of one agent. ``saved``: as it was on the disk."""

    def __init__(  # noqa: PLR0915
        self,
        etcd: Etcd,
        keys: Keys,
        applicant: Applicant,
        saved: SavedSession,
        *,
        rules: Rules,
        placement: Callable[[Mapping[str, float]], Placement] = HashRing,
        random: Callable[[], int] = lambda: secrets.randbits(62),
    ) -> None:
        # constant after construction
        self._etcd = etcd
        self._keys = keys
        self._own = applicant
        self._mine: Final = {each: f"{top}{applicant.name}" for each, top in vars(keys).items() if top.endswith("/")}
        self._random = random
        self._now: Callable[[], float] = float  # replaced by each public method
        self.state = ViewState(applicant.name, rules, placement)
        # replaced as a whole by larm-etcd
        self.run = Run()
        self.command: SeenCommand | None = None
        """The newest command of this run."""
        self.trouble = ""
        """What is wrong, for the operator; empty: nothing."""
        self.halted = False
        """Only the operator can help; this agent sends no requests until then."""
        self.left = False
        """It has left as planned: nothing is its own any more."""
        self.granted = 0
        """Pages of ``--max-pages`` that this agent may fetch, in all its runs."""
        self.short = False
        """Pages are wanted, and none are left."""
        self.figures: dict[str, bytes] = {}
        self.lasts: dict[str, bytes] = {}
        """Figures of the agents that run, and those at the end of each agent's last run, by name."""
        self.next_at = 0.0
        """When the next round is due, unless something has changed here."""
        # written by larm-etcd; the caller resets it when ``saved`` is on the disk
        self.unsaved = not saved.nonce
        """``saved`` must be on the disk before the next round."""
        # only larm-etcd
        self._saved = saved if saved.nonce else msgspec.structs.replace(saved, nonce=random())
        self._reading = _Reading()
        self._lease = 0
        self._sent = self.state.fenced_at
        """When the last confirmed renewal was sent."""
        self._released = 0
        self._seen_epoch = 0
        """Epoch of the view that the caller knows."""
        self._written: AgentState | None = None
        """Our key as this process wrote it."""
        self._doubt = False
        """The outcome of a transaction is unknown."""
        self._failures = 0
        self._went_back = False
        self._other = 0
        """Revision at which another process of our name renewed, when it was first seen."""
        self._began: tuple[int, float] = (0, 0.0)
        """Number of the run that gathers, and since when."""
        self._figures_at = self._calm_from = self.state.fenced_at
        # guarded by self._lock
        self._lock = threading.Lock()
        self.told_idle = False
        """etcd may have our claim to be idle."""
        self._last_read = 0
        """Number of the run whose last figures were read: those that came with the claims."""
        self._busy = False
        """`busy` was called since the last round began."""
        self._orders: list[tuple[What, str, int]] = []

    # -- any thread

    @property
    def saved(self) -> SavedSession:
        """What has to be on the disk."""
        return self._saved

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

    def order(self, what: What, why: str = "") -> None:
        """Give a command to all agents, with one of the next rounds."""
        with self._lock:
            self._orders.append((what, why, self._random()))

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
        away = not self.state.inside and self._own.name not in self._reading.agents and not self._leaves
        self.left = mine.leaving and away and not self._failures

    def look(self, now: Callable[[], float]) -> bool:
        """Poll without taking part, for an operator's command. Return False if etcd did not answer."""
        self._now = now
        return self._do((), ())

    def stop(self, mine: Mine, now: Callable[[], float]) -> bool:
        """Say that this agent stops in good order: no request is in flight. Its last figures stay."""
        self._now = now
        last = [Put(self._mine["lasts"], mine.figures)] if mine.figures and self._written is not None else []
        state = self._ours(mine)
        if state is None or self.halted:
            return self._do((), last)
        state = msgspec.structs.replace(state, stopped=True)
        done = self._do(self._reading.same(self._mine["agents"]), (self._put_state(state), *last))
        self.state.fence()
        return done

    def remove(self, name: str, now: Callable[[], float]) -> str:
        """Remove an agent that will not come back. Return why not; empty: it is done.

        The caller has polled for half a lease before.
        """
        self._now = now
        if name not in self._reading.view.members:
            return f"{name} is not a member of this cluster: 'larm cluster status' names its members"
        if self._alive(name, now()):
            return f"{name} is running: stop it there, or have it leave with 'larm cluster leave'"
        if len(self._reading.view.members) == 1:
            return f"{name} is the only member: start its agent, or another one, first"
        return "" if self._lose([name], ()) else self.trouble or "others changed the membership just now: try again"

    def found_again(self, saved: SavedSession, now: Callable[[], float]) -> str:
        """Found a cluster again in an etcd that was restored or is new. Return why not; empty: it is done.

        ``saved``: of one of its agents. This session is none of them, and has polled for half a lease before.
        """
        self._now = now
        reading, keys, identity = self._reading, self._keys, self._reading.id
        if not saved.cluster:
            return "this directory was in no cluster: run it in the directory of an agent"
        if identity is not None and identity.cluster != saved.cluster:
            return _OTHER
        running = ", ".join(sorted(name for name in reading.agents if self._alive(name, now())))
        if running:
            return f"{running} is running with this etcd: nothing has to be founded again"
        generation, wire = (identity.generation, identity.wire) if identity is not None else (0, self._own.wire[0])
        identity = ClusterId(saved.cluster, max(saved.generation, generation) + 1, dict(self._own.settings), wire)
        view = View(max(saved.epoch, reading.view.epoch) + _JUMP, closed=True)
        writes = [
            Put(keys.id, pack(identity)),
            Put(keys.view, pack(view)),
            Put(keys.run, pack(Run(reading.run.number + 1, first=1))),
        ]
        deletes = [Delete(keys.agents, prefix=True), Delete(keys.idles, prefix=True)]
        done = self._do(reading.same(keys.id, keys.view, keys.run), [*writes, *deletes])
        return "" if done else self.trouble or "the cluster changed just now: try again"

    # -- transactions

    def _do(self, compares: Sequence[Same], puts: Sequence[Operation], *more: Get) -> bool:
        """Carry out ``puts`` if the compares hold; read all keys in any case. Return True if they were carried out."""
        keys = self._keys
        single = (keys.id, keys.view, keys.run, keys.command, keys.quota, self._mine["grants"])
        gets = (*(Get(key) for key in single), Get(keys.agents, prefix=True), Get(keys.idles, prefix=True), *more)
        t0 = self._now()
        found = self._etcd.txn(compares, (*puts, *gets), gets)
        if isinstance(found, NoEtcd):
            self._doubt = self._doubt or (bool(puts) and not found.known)
            self._fail(found, self._now())
            return False
        self._failures = 0
        try:
            good = self._take(found, self._now())
        except msgspec.DecodeError as error:
            self._halt(f"a key of the cluster in etcd can't be read, perhaps of a newer larm: {error}")
            return False
        renewed = found.ok and any(isinstance(each, Put) and each.key == self._mine["agents"] for each in puts)
        if good and renewed:
            self._sent, self._doubt = t0, False
            self.state.confirm(t0)
        self._note_idle()
        return good and found.ok

    def _fail(self, answer: NoEtcd, at: float) -> None:
        self._failures += 1
        stops = "crawling is stopped until it does" if self.state.fenced(at) else "crawling goes on for now"
        self.trouble = f"etcd does not answer: {stops} ({answer.reason})"
        if answer.lease_gone:
            self._lease = 0

    def _halt(self, why: str) -> bool:
        self.trouble, self.halted = why, True
        self.state.fence()
        return False

    def _take(self, found: Found, at: float) -> bool:
        """Return True if this is the cluster that this agent knows, later than at the last poll."""
        reading = self._read(found)
        self._reading, saved = reading, self._saved
        if reading.id is None:
            self.trouble = ""
            return self._halt(_BACK) if saved.cluster else True
        if saved.cluster not in ("", reading.id.cluster):
            return self._halt(_OTHER)
        if reading.id.generation > saved.generation or not saved.cluster:
            if saved.cluster:
                saved = SavedSession(nonce=self._random())
                self._released, self._written, self._went_back = 0, None, False
                self.state.fence()
            saved = msgspec.structs.replace(saved, cluster=reading.id.cluster, generation=reading.id.generation)
        view, me = reading.view, reading.view.members.get(self._own.name)
        other = saved.member and view.epoch == saved.epoch and (me is None or me.nonce != saved.nonce)
        older = reading.revision < saved.revision or view.epoch < saved.epoch or reading.id.generation < saved.generation
        self._went_back = self._went_back or other or older
        if self._went_back:
            return self._halt(_BACK)
        self.state.see(view, reading.modified.get(self._keys.view, 0), reading.agents, reading.revision, at)
        member = me is not None and me.nonce == saved.nonce
        saved = msgspec.structs.replace(saved, epoch=view.epoch, member=member, revision=reading.revision)
        self.unsaved |= msgspec.structs.replace(saved, revision=0) != msgspec.structs.replace(self._saved, revision=0)
        self._saved = saved
        self.run, self.trouble, self.halted = reading.run, "", False
        if reading.run.state == "gathering" and self._began[0] != reading.run.number:
            self._began = (reading.run.number, at)
        if not self._doubt:
            self.granted = reading.grant.pages
        return True

    def _read(self, found: Found) -> _Reading:
        keys, pairs = self._keys, {pair.key: pair for some in found.pairs for pair in some}

        def one(key: str, kind: type[_Value], default: _Default) -> _Value | _Default:
            return unpack(pairs[key].value, kind) if key in pairs else default

        def below(top: str) -> dict[str, Pair]:
            return {key[len(top) :]: pair for key, pair in pairs.items() if key.startswith(top)}

        run, command = one(keys.run, Run, Run()), one(keys.command, Command, None)
        current = command is not None and command.run == run.number
        self.command = SeenCommand(command, pairs[keys.command].modified) if command is not None and current else None
        figures = {name: pair.value for name, pair in below(keys.figures).items()}
        if figures:
            self.figures, self.lasts = figures, {name: pair.value for name, pair in below(keys.lasts).items()}
        return _Reading(
            found.revision,
            one(keys.id, ClusterId, None),
            one(keys.view, View, View()),
            run,
            one(keys.quota, Quota, Quota(0, 0)),
            one(self._mine["grants"], Grant, Grant()),
            {name: SeenAgent(unpack(pair.value, AgentState), pair.modified) for name, pair in below(keys.agents).items()},
            {name: unpack(pair.value, Idle) for name, pair in below(keys.idles).items()},
            {key: pair.modified for key, pair in pairs.items()},
        )

    def _note_idle(self) -> None:
        """Take from etcd if our claim to be idle stands there."""
        claim = self._reading.idles.get(self._own.name, Idle(0)).epoch
        with self._lock:
            if not self._doubt:
                self.told_idle = bool(claim) and claim == self._reading.view.epoch

    # -- our own key

    def _poll(self, mine: Mine) -> bool:
        """Read all keys, with a renewal where it is due. Return True if etcd answered."""

        def due() -> AgentState | None:
            state = self._ours(mine) if self._written is not None else None
            old = self._doubt or state != self._written or self._now() - self._sent >= self.state.rules.lease / 4
            return state if old else None

        state = due()
        if state is None or self.halted or self._failures:  # after a failure: first read if etcd went back
            self._do((), ())
            state = due()
            if self._own.name not in self._reading.agents:
                self._doubt = False
        return not self._failures and (state is None or self.halted or self._renew(state))

    def _renew(self, state: AgentState) -> bool:
        if not self._keep():
            return False
        puts: list[Operation] = [self._put_state(state)]
        if self._written is None:  # the process before may have claimed to be idle
            puts.append(Delete(self._mine["idles"]))
        if self._do(self._reading.same(self._mine["agents"]), puts):
            self._written = state
        return not self._failures

    def _ours(self, mine: Mine) -> AgentState | None:
        """Return our key as it should be; None: there is none that is ours."""
        seen = self._reading.agents.get(self._own.name)
        if seen is None or seen.state.nonce != self._saved.nonce:
            return None
        first = self._written is None
        if seen.state.boot != self._own.boot and not (first and self._own.continues):
            return None
        if first:
            self._released = max(self._released, seen.state.released)
        return self._state(mine, self._released)

    def _state(self, mine: Mine, released: int) -> AgentState:
        own = self._own
        return AgentState(self._saved.nonce, own.boot, mine.address, own.wire, released, False, mine.leaving)

    def _put_state(self, state: AgentState) -> Put:
        return Put(self._mine["agents"], pack(state), self._lease)

    def _keep(self) -> bool:
        """Keep our lease, or get one. Return False if etcd did not answer."""
        kept = self._etcd.keep(self._lease) if self._lease else False
        if kept is False:
            granted = self._etcd.grant(round(3 * self.state.rules.lease))
            if not isinstance(granted, NoEtcd):
                self._lease = granted
                return True
            kept = granted
        if isinstance(kept, NoEtcd):
            self._fail(kept, self._now())
            return False
        return True

    # -- changes

    def _change(self, mine: Mine) -> bool:
        """Make the first change that is due. Return False if none is."""
        reading = self._reading
        if self.unsaved:
            return False
        if reading.id is None:
            return self._found(mine)
        if self._written is None or not self.state.inside:
            return self._enter(mine)
        if reading.agents.get(self._own.name) is None:
            return self._revive(mine)
        if self._ours(mine) is None:
            return self._halt(f"another process is the agent {self._own.name}: use another directory, or end that process")
        return (
            self._claim_idle(mine)
            or self._change_view(mine)
            or self._change_run()
            or self._share_pages(mine)
            or self._command()
            or self._report(mine)
        )

    def _guarded(self, puts: Sequence[Operation], *keys: str) -> bool:
        """Carry out ``puts`` if these keys and our own are unchanged. Return True in any case: something was sent."""
        self._do(self._reading.same(self._mine["agents"], *keys), puts)
        return True

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
        if not inside and (self._leaves or self._own.name in reading.agents):
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
        view, name = self._reading.view, self._own.name
        return name not in view.members and name not in view.lost and any(name in past.weights for past in view.past)

    def _resume(self, mine: Mine) -> bool:
        """Go on with the session of the process before. Another process's is waited for."""
        view, name, ours = self._reading.view, self._own.name, self._ours(mine)
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
                return self._lose(silent, self._reading.same(self._mine["agents"])) or True
        if not self.state.settled and self.state.may_settle(at):
            return self._guarded((Put(self._keys.view, pack(View(view.epoch, view.members))),), self._keys.view)
        if mine.leaving and others and self.state.settled and all(self._alive(name, at) for name in others):
            rest = {name: member for name, member in view.members.items() if name != self._own.name}
            puts = (Put(self._keys.view, pack(view.then(rest))), Delete(self._keys.idles, prefix=True))
            return self._guarded(puts, self._keys.view)
        return False

    def _alive(self, name: str, at: float) -> bool:
        seen = self._reading.agents.get(name)
        return seen is not None and not seen.state.stopped and self.state.silent(name, at) < self.state.rules.lease / 2

    def _lose(self, names: Sequence[str], compares: Sequence[Same]) -> bool:
        """Remove these agents, if none has renewed since. Return True if that was done."""
        view, keys = self._reading.view, self._keys
        gone = {name: Lost(view.epoch + 1, self.state.no_renewal_after(name)) for name in names}
        rest = {name: member for name, member in view.members.items() if name not in gone}
        theirs = [f"{keys.agents}{name}" for name in names]
        deletes = [Delete(keys.idles, prefix=True), *(Delete(key) for key in theirs)]
        puts: list[Operation] = [Put(keys.view, pack(view.then(rest, gone))), *deletes]
        return self._do((*compares, *self._reading.same(keys.view, *theirs)), puts)

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
            what, why, number = self._orders[0]
        command = Command(self.run.number, self._own.name, what, why, number)
        compares = self._reading.same(self._mine["agents"], self._keys.command)
        there = self.command is not None and self.command.command == command
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
