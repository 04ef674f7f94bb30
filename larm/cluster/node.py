"""Node: an `Agent` in a crawl. It gives it a clock, a disk and a thread, and a crawl that waits for it.

Implements `larm.seams.Stateful` (what is for others is in the cut, with what was taken), `larm.seams.EndPolicy` (a crawl is
over when all agents have found that it is), and is asked before each lease. The thread ``larm-agents`` does all of the talking:
what the bus has to say waits for it (`larm.cluster.line`). All others only look.

Locks: the gate, then the agent's. Nothing is written to a disk and nobody is asked under the agent's lock.
"""

import secrets
from collections.abc import Callable, Container
from pathlib import Path

import msgspec

from larm.cluster.agent import Agent
from larm.cluster.beat import View
from larm.cluster.bus import Bus
from larm.cluster.copies import Copies
from larm.cluster.courier import Courier
from larm.cluster.greeting import Greeting
from larm.cluster.handover import Handover, Hands
from larm.cluster.identity import Identity, write_identity
from larm.cluster.inbox import Inbox
from larm.cluster.line import Line
from larm.cluster.membership import Membership
from larm.cluster.outboxes import Outboxes
from larm.cluster.owner_filter import OwnerFilter
from larm.cluster.placement import PLACEMENTS
from larm.cluster.post import Post
from larm.cluster.said import GARBAGE, NoSeal, Said, Sealing
from larm.cluster.search_again import Search
from larm.cluster.standing import standing
from larm.cluster.terms import Doors, Rule
from larm.cluster.together import Together
from larm.engine.allowance import PageBudget
from larm.engine.figures.snapshot import AgentLine
from larm.engine.moves import Moves
from larm.engine.parts import Frontier
from larm.engine.recrawl.revisit import Recrawl
from larm.errors import LarmError, StageError, UsageError
from larm.seams import Filter

STEP = 0.1
"""Seconds between two looks at what is due."""
_SURE = 5.0
"""Seconds in which each look sees that this process hangs: after a suspension, the first ones see nothing but that."""


class Node:
    """Of a crawl's process. ``known``: what `cut` gave for the last checkpoint."""

    name = "agents"

    def __init__(  # noqa: PLR0917
        self,
        rule: Rule,
        identity: Identity,
        path: Path,
        bus: Bus,
        doors: Doors,
        seal: Sealing | None = None,
        *,
        known: object = None,
    ) -> None:
        """``seal``: none where everybody is believed. Raises StorageError."""
        boot = (identity.boots + 1) << 32 | secrets.randbits(32)
        membership = Membership(
            identity.name,
            boot,
            rule.own.weight,
            rule.rules,
            saved=identity.saved,
            now=doors.now(),
            founder=not rule.seeds,
            placement=PLACEMENTS[rule.own.placement],
        )
        # constant after construction
        self._rule = rule
        self._path = path
        self._doors = doors
        self.goodbye = 4 * rule.rules.lease + 10
        self._outboxes = Outboxes(doors.store, known)
        courier = Courier(membership, self._outboxes.queue)
        self._outboxes.restore(courier)
        self.agent = Agent(membership, courier, Inbox(self._outboxes.marks), self._idle, identity.saved.gone)
        self.owners = OwnerFilter(self.agent, doors.key, doors.shared.counters, doors.now)
        addresses = {name: address for name, address in identity.addresses.items() if name != identity.name}
        self._line = Line(self.me, bus, seal or NoSeal(), addresses, self._not_heard, now=doors.now, lease=rule.rules.lease)
        self.together = Together(self.agent, rule, doors, self._line, path.parent)
        self._greeting = Greeting(self.agent, rule, doors, self._line, self.together, self._after, self._refused)
        self._post = Post(self.agent, rule, doors, self._line, self._not_heard)
        self.copies = Copies(self.agent, rule, doors, self._line, self._outboxes)
        self._search = Search(doors.links, doors.fetched, self.owners.key, PLACEMENTS[rule.own.placement], self._members)
        # replaced before any other thread runs
        self._frontier: Frontier | None = None
        self._handover: Handover | None = None
        self._wake: Callable[[], object] = lambda: None
        self.recrawl: Recrawl | None = None
        self.hang: Callable[[float], str] = lambda _: ""
        """What makes no progress in this process for so many seconds: `larm.engine.watchdog`."""
        # only larm-agents
        self._identity = msgspec.structs.replace(identity, boots=identity.boots + 1, listen=rule.address)
        self._view = View(0, {})
        # written by larm-agents and by the main thread, which see the same
        self._hangs_since: float | None = None
        self._gave_up = False
        # written by larm-agents, read by all
        self._until = -1.0
        """No request may begin after this."""
        self._left = False
        """It has left as planned, and nothing is its own any more."""
        # written by the thread that saves
        self._checkpoints = 0
        # written by the main thread
        self._stopping = False
        self._lingers = 0.0
        write_identity(path, self._identity)

    @property
    def me(self) -> str:
        """The name of this agent."""
        return self.agent.membership.me

    def take(
        self,
        frontier: Frontier,
        wake: Callable[[], object],
        moves: Moves,
        budget: PageBudget,
        recrawl: Recrawl | None = None,
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
        self._handover = Handover(self.me, moves, hands, self.agent.membership.view)
        self._frontier = frontier
        self._wake = wake
        self._doors.steering.policy = self
        self._post.take(frontier, moves)
        self.copies.take(frontier, moves)
        self.together.take(frontier, budget, wake)

    def filters(self) -> dict[str, Filter]:
        """Those of the chain that a crawl has only where several agents do it."""
        return {"owner": self.owners} | ({"copies": self.copies} if self._rule.own.recover else {})

    # -- any thread

    def look(self) -> list[AgentLine]:
        """All agents that it knows of, and how they stand."""
        return standing(self.agent, self._rule, dict(self._line.addresses), self.together.cards, self._doors.now())

    def note(self) -> str:
        """What a person should know at the start."""
        rule, membership = self._rule, self.agent.membership
        begins = "" if membership.begun else f"; the crawl begins when {rule.rules.agents} agents are there"
        return f"agent {self.me} of the cluster {rule.cluster}, at {rule.address}{begins}"

    def may_lease(self) -> bool:
        """Asked before each lease: a majority has heard of us lately."""
        return self._doors.now() < self._until

    def may_end(self) -> bool:
        """See `larm.seams.EndPolicy`."""
        return self.agent.membership.over or (self._left and not self.agent.courier.waiting)

    def leave(self) -> None:
        """Hand everything over, then end. Raises UsageError where nobody could take it."""
        with self.agent.lock:
            if not self.agent.membership.others():
                raise UsageError("there is no other agent that could take over")
            self.agent.membership.leaving = True

    def gives_up(self) -> bool:
        """It hangs. Beats would keep hosts here that nobody asks: without them, others have these after `Rules.adopt_after`.

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
            self._until = -1.0
            self._fail(StageError(f"this agent hangs, and gives its place up to the others: {why}; the same command returns"))
        return self._gave_up

    # -- the checkpoint

    def cut(self, *, last: bool) -> object:  # noqa: ARG002  the protocol has it
        """See `larm.seams.Stateful`."""
        with self.agent.lock:
            if not self._search.pending:  # else what a dead agent had is not found again yet
                self.agent.cut()
            return self._outboxes.cut(self.agent.courier, self.agent.inbox.cut())

    def saved(self) -> None:
        """See `larm.seams.Stateful`."""
        with self.agent.lock:
            self.agent.cut_saved()
        self._checkpoints += 1

    # -- larm-agents

    def run(self) -> None:
        """The body of the thread, until `stop`; after the end of the whole crawl until all others know of it."""
        self._line.open(self._asked)
        try:
            next_step = self._doors.now()
            while not self._stopping or self._someone_waits():
                left = next_step - self._doors.now()
                if left <= 0:  # first, or many events would keep the beats from being sent
                    self._step(self._doors.now())
                    next_step = self._doors.now() + STEP
                else:
                    self._line.take(left)
        finally:
            self._line.close()
            self.together.save()

    def ending(self, reason: str) -> None:
        """The crawl begins to end, for this reason (`larm.engine.ending.Ending`). Any thread."""
        self.together.ending(reason)

    def stop(self) -> None:
        """Returns at once; any thread."""
        self._stopping = True
        self._lingers = self._doors.now() + 3 * self._rule.rules.lease

    def _someone_waits(self) -> bool:
        membership = self.agent.membership
        now = self._doors.now()
        if now > self._lingers or not (membership.over or self._left):
            return now <= self._lingers and self.together.untold(now)
        if self._left:
            return True
        beats = membership.contact.beats
        return any(name in beats and not beats[name].over for name in membership.others())

    def _not_heard(self, why: str, times: int = 1) -> None:
        self._greeting.refuse(why, times)

    def _asked(self, kind: str, said: Said) -> bytes | None:
        try:
            if kind == "beat":
                return self._greeting.asked(said)
            if kind == "copies":
                return self.copies.asked(said)
            return self._post.asked_parcel(said) if kind == "parcel" else self._post.asked_parts(said)
        except (*GARBAGE, UsageError) as error:
            self._greeting.refuse(f"garbage: {error}")
            return None

    def _step(self, now: float) -> None:
        gate, agent = self._doors.shared.gate, self.agent
        if self.gives_up():
            return
        self.together.step(now)
        with agent.lock:
            beats = agent.tick(now)
            deserted = agent.membership.deserted(now, self._rule.hang_after)
        if deserted:
            self._fail(UsageError(self._nobody_there()))
        self._after(now)
        self._hand_over()
        self._greeting.send(beats, now)
        if self._stopping:
            return
        with gate.step():
            with agent.lock:
                rows = agent.reopened(now)
                orphans = agent.orphaned(now)
                parcels = agent.courier.due(now) if agent.membership.begun else []
            self._post.deliver(rows)
        for gone in orphans:
            if gone.name:
                self._doors.log(f"{gone.name} is given up: its hosts go to others, who look for links to them")
            else:
                self._doors.log("others came and went while this agent was away: all its links go to who has their hosts now")
            self._search.begin(gone, self._checkpoints + 2)
            self._doors.shared.ticker.hurry()
        for parcel in parcels:
            self._post.send(parcel)
        self.copies.step(now)
        found = self._search.step(self._checkpoints)
        if found and self._frontier is not None:
            with gate.step():
                self._frontier.handler.put(found)

    def _hand_over(self) -> None:
        """What is not ours any more goes to its owners; who leaves has nothing then."""
        agent, membership = self.agent, self.agent.membership
        if self._stopping or not membership.view.epoch or self._handover is None:
            return
        if not agent.must_release:
            if membership.settled:
                self._handover.open_arrived()
            return
        nothing = not membership.begun or not (membership.inside or self._identity.inside)
        if nothing or self._handover.step(membership.view, given_up=not (membership.inside or membership.leaving)):
            with agent.lock:
                if not (nothing or membership.inside) and (agent.courier.waiting or self.copies.pending):
                    return  # who leaves has URLs for others: if it dies with them, its hosts have to be crawled again
                agent.released()
                self._left = membership.leaving and not membership.inside
            self._after(self._doors.now())

    def _after(self, now: float) -> None:
        """What follows from a beat, or from the time."""
        agent, membership = self.agent, self.agent.membership
        with agent.lock:
            unsaved, membership.unsaved = membership.unsaved, False
            saved = agent.saved
            until = membership.fenced_at(now) if membership.begun else -1.0
            view = membership.view
        if unsaved:
            inside = self._identity.inside or membership.inside
            addresses = dict(self._line.addresses)
            self._identity = msgspec.structs.replace(self._identity, saved=saved, addresses=addresses, inside=inside)
            write_identity(self._path, self._identity)
        if view != self._view:
            gone, self._view = self._view.members.keys() - view.members.keys(), view
            for name in gone:
                self.together.leave_alone(name, self.owners.owner)
            self.owners.forget()
            self._tell_of_view()
        rested = self._until <= now
        self._until = until
        if rested and until > now:
            self._wake()
        if self.may_end() and not self._stopping:
            self._doors.steering.ask_again()

    def _tell_of_view(self) -> None:
        rules, membership = self._rule.rules, self.agent.membership
        self._doors.log(f"view {membership.view.epoch}: {', '.join(sorted(membership.view.members))}")
        if len(membership.view.members) == 2:
            then = "both go on, and ask the same hosts" if rules.minority == "continue" else "both stop"
            self._doors.log(f"two agents: neither has a majority alone; where they lose each other, {then}")
        if membership.begun and not membership.inside and self._identity.inside and not membership.leaving:
            self._doors.log(
                f"this agent was given up, after {rules.adopt_after:g} s without a word or as two went on without each other:"
                " it hands in what it has, then it joins again"
            )

    def _nobody_there(self) -> str:
        others = self.agent.membership.others()
        places = ", ".join(self.together.place(name) for name in sorted(others))
        return (
            f"too few of the other agents ({places}) were heard in {self._rule.hang_after:g} s: they have ended, or"
            f" can't be reached. What is in {self._doors.directory} is kept; start them, and this one again"
        )

    def _refused(self, why: str) -> None:
        self._fail(UsageError(why))

    def _fail(self, error: LarmError) -> None:
        if not self._stopping:
            self._stopping = True
            self._doors.shared.bell.ring(error)

    def _members(self) -> Container[str]:
        return {*self.agent.membership.view.members, self.me}

    def _idle(self) -> bool:
        steering = self._doors.steering
        if steering.paused or steering.limits.now.crawl.on_idle == "wait":
            return False
        if self.recrawl is not None and self.recrawl.goes_on:  # asked first, as a round is in the tally before this changes
            return False
        return not (self._doors.shared.tally.value or steering.pending or self._search.pending or self.copies.pending)
