"""Node: an `Agent` in a crawl. It gives it a clock, a disk, threads, and a crawl that waits for it.

Implements `larm.seams.Stateful` (what is for others is in the cut, with what was taken), `larm.seams.EndPolicy` (a crawl is
over when etcd has it), and is asked before each lease. The thread ``larm-etcd`` speaks with etcd and moves the fence, whatever
the crawl does; ``larm-agents`` does all else: what others ask, and their answers, wait for it (`larm.cluster.line`).

Locks: the gate, then the agent's. Under the agent's lock nothing is written to a disk, and no request is sent.
"""

import threading
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.cluster.agent import Agent
from larm.cluster.agent_client import AgentClient
from larm.cluster.agent_server import AgentServer
from larm.cluster.applicant import Mine
from larm.cluster.card import read_cards
from larm.cluster.copies import Copies
from larm.cluster.courier import Courier
from larm.cluster.credentials import Credentials
from larm.cluster.etcd_member import EtcdMember
from larm.cluster.handover import Handover, Hands
from larm.cluster.identity import Identity, write_identity
from larm.cluster.inbox import Inbox
from larm.cluster.keys import What
from larm.cluster.line import GARBAGE, Line
from larm.cluster.outboxes import Outboxes
from larm.cluster.owner_filter import OwnerFilter
from larm.cluster.pages import Pages
from larm.cluster.placement import PLACEMENTS
from larm.cluster.post import Post
from larm.cluster.search_again import Search
from larm.cluster.session import Session
from larm.cluster.terms import Doors, Rule
from larm.cluster.together import Together
from larm.cluster.transport import Asked, Origin, Refusal
from larm.engine.allowance import PageBudget
from larm.engine.moves import Moves
from larm.engine.parts import Frontier
from larm.engine.recrawl.revisit import Recrawl
from larm.errors import LarmError, StageError, UsageError
from larm.kit.threads.workers import Workers
from larm.seams import Filter

STEP = 0.1
"""Seconds between two looks at what is due."""
_SURE = 5.0
"""Seconds in which each look sees that this process hangs: after a suspension, the first ones see nothing but that."""
_GOODBYE = 10.0
"""Seconds in which the last words to etcd, and answers under way, have to end."""
_LOOK = 0.5
"""Seconds between two looks whether other agents have ended."""


class Wires(NamedTuple):
    """What leads out of the process."""

    session: Session
    listen: Callable[[Callable[[], Origin], Callable[[Asked], bytes | Refusal]], AgentServer]
    """Raises ConfigError."""
    credentials: Credentials | None
    member: EtcdMember | None
    """Of etcd, beside this agent."""


class Node:
    """Of a crawl's process. ``known``: what `cut` gave for the last checkpoint."""

    name = "agents"

    def __init__(  # noqa: PLR0915  one line for each part
        self, rule: Rule, identity: Identity, path: Path, wires: Wires, doors: Doors, *, known: object = None
    ) -> None:
        """``path``: of the identity, which is on the disk. Raises ConfigError, StorageError."""
        # constant after construction
        self._rule = rule
        self._path = path
        self._doors = doors
        self._wires = wires
        self.goodbye = rule.rules.lease + 2 * _GOODBYE
        session = wires.session
        self._outboxes = Outboxes(doors.store, known)
        courier = Courier(session.state, self._outboxes.queue)
        self._outboxes.restore(courier)
        inbox = Inbox(self._outboxes.marks)
        self.agent = Agent(session, courier, inbox, self._idle, self._busy, epoch=identity.epoch, gone=identity.gone)
        self.owners = OwnerFilter(self.agent, doors.key, doors.shared.counters, doors.now)
        self._client = AgentClient(self._origin, doors.log, wires.credentials)
        self._line = Line(self._client, self._address_of, self._asked, rule.answer)
        self._server = wires.listen(self._origin, self._answer)
        self._pages = Pages()
        self.together = Together(self.agent, rule, doors, path.parent, self._tell)
        self._post = Post(self.agent, identity.boots, rule, doors, self._line, self._refuse)
        self.copies = Copies(self.agent, rule, doors, self._line, self._outboxes)
        self._search = Search(doors.links, doors.fetched, self.owners.key, PLACEMENTS[rule.own.placement], self._members)
        self._threads = Workers(self._thread_died)
        self._hurry = threading.Event()
        """A round with etcd is due."""
        # replaced before any other thread runs
        self._frontier: Frontier | None = None
        self._handover: Handover | None = None
        self._wake: Callable[[], object] = lambda: None
        self.recrawl: Recrawl | None = None
        self.hang: Callable[[float], str] = lambda _: ""
        """What makes no progress in this process for so many seconds: `larm.engine.watchdog`."""
        self.explain: Callable[[str], bytes] = lambda _: b""
        """What became of a URL, for another agent; raises ValueError."""
        self._returns = identity.inside
        """It had a part of the crawl in an earlier run."""
        # guarded by self._writing
        self._writing = threading.Lock()
        self._identity = identity
        # only larm-agents
        self._members_seen: frozenset[str] = frozenset()
        self._view_told = 0
        # replaced as a whole by larm-agents
        self._mine = Mine()
        # written by larm-agents and by the main thread, which see the same
        self._hangs_since: float | None = None
        self._gave_up = False
        # only larm-etcd
        self._trouble = ""
        self._wire = session.wire
        # written by larm-etcd
        self._run = 0
        """Number of the run that this process takes part in."""
        self.over = False
        """That run has ended."""
        self._left = False
        self._joined = False
        """This process was a member."""
        # written by the thread that saves
        self._checkpoints = 0
        # written by the main thread, or that of an order
        self._stopping = False
        self._leaving = False

    @property
    def me(self) -> str:
        """The name of this agent."""
        return self.agent.state.me

    def take(
        self, frontier: Frontier, wake: Callable[[], object], moves: Moves, budget: PageBudget, recrawl: Recrawl | None = None
    ) -> None:
        """Before any other thread runs."""
        self.recrawl = recrawl
        hands = Hands(
            owner=self.owners.owner,
            hosts=frontier.book.known,
            send=self._post.send_parts,
            checkpoints=lambda: self._checkpoints,
            hurry=self._doors.shared.ticker.hurry,
            now=self._doors.now,
            log=self._doors.log,
            patience=self._rule.hang_after,
        )
        self._handover = Handover(self.me, moves, hands)
        self._frontier = frontier
        self._wake = wake
        self._doors.steering.policy = self
        self._post.take(frontier, moves)
        self.copies.take(frontier, moves, revisits=recrawl is not None)
        self.together.take(frontier)
        self._pages.take(budget)

    def filters(self) -> dict[str, Filter]:
        """Those of the chain that a crawl has only where several agents do it."""
        return {"owner": self.owners} | ({"copies": self.copies} if self._rule.own.recover else {})

    # -- any thread

    def note(self) -> str:
        """What a person should know at the start."""
        rule = self._rule
        begins = f"; the crawl begins when {rule.own.agents} agents are there" if rule.own.agents > 1 else ""
        return f"agent {self.me} of the cluster {rule.cluster}, at {self._server.address}{begins}"

    def may_lease(self) -> bool:
        """Asked before each lease: the run goes on, and the fence has not passed."""
        return self.agent.begun and self._doors.fence.left() > 0

    def may_end(self) -> bool:
        """See `larm.seams.EndPolicy`."""
        return self.over or (self._wires.session.left and not self.agent.courier.waiting)

    def leave(self) -> None:
        """Hand everything over, then end. Raises UsageError if no agent can take it."""
        if not self.agent.state.others():
            raise UsageError("there is no other agent that could take over")
        if not self.agent.begun:
            raise UsageError("the crawl has not begun: end this agent as any crawl, with 'larm ctl stop'")
        self._leaving = True

    def gives_up(self) -> bool:
        """Return True if this process hangs. It renews no more then, so that other agents adopt its hosts.

        Looked at by ``larm-agents``, and by the main thread: a step of the gate that hangs holds up the one, and what holds up
        the other is seen by the first.
        """
        if self._gave_up:
            return True
        now, why = self._doors.now(), self.hang(self._rule.hang_after)
        if not why:
            self._hangs_since = None
            return False
        since = self._hangs_since = now if self._hangs_since is None else self._hangs_since
        if now - since >= _SURE:
            self._gave_up = True
            self._doors.log(f"it gives its place up: {why}")
            self._doors.fence.until = 0.0
            self._fail(StageError(f"this agent hangs, and gives its place up to the others: {why}; the same command returns"))
        return self._gave_up

    # -- the checkpoint

    def cut(self, *, last: bool) -> object:  # noqa: ARG002  the protocol has it
        """See `larm.seams.Stateful`."""
        with self.agent.lock:
            if not self._search.pending:  # else what a lost agent had is not found again yet
                self.agent.cut()
            return self._outboxes.cut(self.agent.courier, self.agent.inbox.cut())

    def saved(self) -> None:
        """See `larm.seams.Stateful`."""
        with self.agent.lock:
            self.agent.cut_saved()
        self._checkpoints += 1

    # -- larm-etcd

    def _speak(self) -> None:
        """The body of the thread: rounds until the crawl has ended."""
        session, now, member = self._wires.session, self._doors.now, self._wires.member
        while not (self._stopping or self._gave_up):
            if member is not None:
                member.step()
            session.round(self._mine, now)
            self._after_round()
            begins = member is not None and not session.state.view.epoch
            self._hurry.wait(STEP if begins else max(0.0, session.next_at - now()))
            self._hurry.clear()
        if not self._gave_up:
            if session.ordered:
                session.round(self._mine, now)
            session.stop(self._mine, now)
        if member is not None:
            self._wait_for_others(now() + self._rule.rules.lease)
            member.close()

    def _wait_for_others(self, until: float) -> None:
        """At the end of all: they have to hear of it by the etcd that runs here."""
        session, now = self._wires.session, self._doors.now
        all_end = self.over or session.command.what == "stop"
        while all_end and now() < until and session.look(now):
            if all(seen.state.stopped for name, seen in session.state.agents.items() if name != self.me):
                return
            self._hurry.clear()
            self._hurry.wait(_LOOK)

    def _after_round(self) -> None:
        """What follows: on the disk first, then in this process."""
        session, fence = self._wires.session, self._doors.fence
        self._write()
        if session.run.state != "over":
            self._run = session.run.number
        over = session.run.state == "over" and session.run.number == self._run
        self.over = self.over or (over and bool(session.complete or session.trouble))
        begun = self._run > 0 and session.run.state == "running" and session.state.inside
        if begun and not self.agent.begun:
            with self.agent.lock:
                self.agent.begun = True
            if self._rule.own.agents > 1:
                self._doors.note(f"{len(session.state.view.members)} agents are there: the crawl begins")
        rested = fence.left() <= 0
        if not self._gave_up:
            fence.until = session.state.fenced_at
        if session.wire != self._wire:
            self._wire = session.wire
            self._doors.log(f"the agents speak wire version {self._wire}")
        self.together.hear(read_cards({**session.lasts, **session.figures}))
        if self._pages.granted(session.granted) or (rested and fence.left() > 0):
            self._wake()
        if session.trouble != self._trouble:
            self._trouble = session.trouble
            if session.state.view.epoch or self._wires.member is None:  # else it begins only now, beside this agent
                self._doors.log(session.trouble or "etcd answers again: the crawl goes on")
                self._doors.note(session.trouble or "etcd answers: the crawl goes on")
        self._joined = self._joined or not session.state.fenced(self._doors.now())
        invalid = self._wires.credentials.invalid() if self._wires.credentials is not None else ""
        begins = session.halted and not self._joined  # the operator is at the terminal
        if invalid or begins:
            self._fail(UsageError(invalid or session.trouble))
        if session.left and not self._left:
            self._left = True
            self._doors.note("it has left: its hosts went to the other agents")
        if self.over and session.run.why:
            self._doors.shared.bell.ring(session.run.why)
        if self.may_end() and not self._stopping:
            self._doors.steering.ask_again()

    def _write(self) -> None:
        """What must be known after a kill, if it has changed."""
        session, agent = self._wires.session, self.agent
        with agent.lock:
            epoch, gone = agent.epoch, agent.wanted
        inside = self._identity.inside or session.state.inside
        with self._writing:
            now = msgspec.structs.replace(self._identity, epoch=epoch, gone=gone, inside=inside)
            if session.unsaved or now != self._identity:
                self._identity = msgspec.structs.replace(now, session=session.saved)
                write_identity(self._path, self._identity)
                session.unsaved = False

    # -- larm-agents

    def run(self) -> None:
        """The body of the thread, until `stop`."""
        self._client.start(self._threads)
        self._server.start(self._threads)
        self._threads.start("larm-etcd", self._speak)
        try:
            next_step = self._doors.now()
            while not self._stopping:
                left = next_step - self._doors.now()
                if left <= 0:  # first, or many events would keep the rest from being done
                    self._step(self._doors.now())
                    next_step = self._doors.now() + STEP
                else:
                    self._line.take(left)
        finally:
            self._hurry.set()
            self._server.close()
            self._client.close()
            self._threads.join(self._rule.rules.lease + _GOODBYE)
            self.together.save()

    def ending(self, reason: str) -> None:
        """The crawl begins to end, for this reason (`larm.engine.ending.Ending`). Any thread."""
        self.together.ending(reason)

    def stop(self) -> None:
        """Returns at once; any thread."""
        self._stopping = True
        self._hurry.set()

    def _origin(self) -> Origin:
        saved, state = self._wires.session.saved, self.agent.state
        return Origin(saved.cluster, saved.generation, state.view.epoch, state.me, saved.nonce, wire=self._wires.session.wire)

    def _address_of(self, name: str) -> str:
        seen = self.agent.state.agents.get(name)
        return seen.state.address if seen is not None else ""

    def _answer(self, asked: Asked) -> bytes | Refusal:
        """On a thread of the server, which may be kept busy by some questions."""
        if asked.kind != "why":
            return self._line.asked(asked)
        return self.explain(asked.body.decode())

    def _asked(self, asked: Asked) -> bytes | Refusal:
        try:
            match asked.kind:
                case "copies":
                    return self.copies.asked(asked)
                case "parcel":
                    found = self._post.asked_parcel(asked)
                case "parts":
                    found = self._post.asked_parts(asked)
                case _:
                    return Refusal("garbage", "no agent of this version answers that")
        except (*GARBAGE, UsageError) as error:
            self._doors.shared.counters.add("agents/refused", 1)  # the server logs it, once for each sender
            return Refusal("garbage", f"it can't be read: {error}"[:200])
        if self.agent.state.view.epoch < asked.origin.epoch or self._mine.idle:
            self._hurry.set()
        return found

    def _tell(self, what: What, why: str, changes: Mapping[str, str]) -> None:
        self._wires.session.order(what, why, changes)
        self._hurry.set()

    def _refuse(self, why: str) -> None:
        self._doors.shared.counters.add("agents/refused", 1)
        self._doors.log(f"refused {why[:300]}")

    def _step(self, now: float) -> None:
        gate, agent, state = self._doors.shared.gate, self.agent, self.agent.state
        if self.gives_up():
            return
        self.together.step(now, self._wires.session.command)
        self._tell_of_view()
        self._hand_over()
        if self._stopping:
            return
        with gate.step():
            with agent.lock:
                rows = agent.reopened(now)
                orphans = agent.orphaned()
                sends = agent.begun and not (state.inside and state.fenced(now))
                parcels = agent.courier.due(now) if sends else []
            self._post.deliver(rows)
            for gone in orphans:  # within the step, or a checkpoint would forget them before they are searched
                self._search.begin(gone, self._checkpoints + 2)
        for name in {gone.name for gone in orphans}:
            if name:
                self._doors.log(f"{name} is lost: its hosts go to others, and all look for links to them")
            else:
                self._doors.log("this agent has missed views: it sends all its links again to the owners of their hosts")
        if orphans:
            self._doors.shared.ticker.hurry()
        for parcel in parcels:
            self._post.send(parcel)
        self.copies.step(now)
        found = self._search.step(self._checkpoints)
        if found and self._frontier is not None:
            with gate.step():
                self._frontier.handler.put(found)
        self._say(now)

    def _say(self, now: float) -> None:
        """Have the next round tell etcd how this agent stands."""
        session, agent, last = self._wires.session, self.agent, self._mine
        spent = self._pages.exhausted and session.short
        with agent.lock:
            idle = agent.is_idle(spent=spent)
            released = 0 if agent.must_release else agent.let_go
        wants, keep = self._pages.wanted(now, work=self._doors.shared.tally.value > 0)
        self._mine = Mine(
            idle=idle,
            spent=idle and spent and wants,
            released=released,
            leaving=self._leaving,
            address=str(self._server.address),
            figures=_encode(self.together.card),
            limit=self._doors.steering.limits.now.crawl.max_pages or 0,
            wants=wants,
            keep=keep,
        )
        if (last.idle, last.released, last.leaving, last.wants, last.keep) != (idle, released, self._leaving, wants, keep):
            self._hurry.set()

    def _hand_over(self) -> None:
        """What is not ours any more goes to its owners; an agent that leaves has nothing then."""
        agent, state, handover = self.agent, self.agent.state, self._handover
        view = state.view
        if self._stopping or not view.epoch or handover is None:
            return
        if not agent.must_release:
            if state.settled:
                handover.open_arrived()
            return
        if not (state.inside or self._identity.inside):
            agent.released(view.epoch)
            return
        given_up = not (state.inside or self._leaving)
        if handover.step(view.epoch, given_up=given_up, begun=agent.begun or self._returns):
            searches = self._search.pending or self.copies.pending or self._doors.shared.tally.value
            if self._leaving and not state.inside and (agent.courier.waiting or searches):
                return  # an agent that leaves has URLs for others: if it dies with them, its hosts have to be crawled again
            agent.released(view.epoch)

    def _tell_of_view(self) -> None:
        state, view = self.agent.state, self.agent.state.view
        if view.epoch == self._view_told:
            return
        self._view_told = view.epoch
        members = frozenset(view.members)
        for name in self._members_seen - members:
            self.together.leave_alone(name, self.owners.owner)
        self._members_seen = members
        self.owners.forget()
        self._doors.log(f"view {view.epoch}: {', '.join(sorted(members))}")
        if not state.inside and self._identity.inside and not self._leaving:
            self._doors.log(
                f"this agent was lost to the others, after {state.rules.lease:g} s without a word:"
                " it hands in what it has, then it joins again"
            )

    def _fail(self, error: LarmError) -> None:
        if not self._stopping:
            self._doors.shared.bell.ring(error)

    def _thread_died(self, name: str, error: BaseException) -> None:
        self._doors.fence.until = 0.0
        self._gave_up = True
        self._doors.shared.bell.ring(error if isinstance(error, LarmError) else StageError(f"{name}: {error!r}"))

    def _members(self) -> Container[str]:
        return {*self.agent.state.view.members, self.me}

    def _busy(self) -> bool:
        """See `Session.busy`. No later round must claim what was so before this."""
        self._mine = self._mine._replace(idle=False)
        return self._wires.session.busy()

    def _idle(self) -> bool:
        steering = self._doors.steering
        if steering.paused or steering.limits.now.crawl.on_idle == "wait":
            return False
        if self.recrawl is not None and self.recrawl.goes_on:  # asked first, as a round is in the tally before this changes
            return False
        return not (self._doors.shared.tally.value or steering.pending or self._search.pending or self.copies.pending)


_encode = msgspec.msgpack.Encoder().encode
