"""Together: what agents do as one beside crawling. They pause and stop together, and tell each other how far they have got.

Cards and commands are keys of etcd. On ``larm-agents``, but for `order` and `ending`; `cards` and `totals` may be read by any
thread, and ``larm-etcd`` reads `card` and brings what it has found (`hear`).
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from larm.cluster.agent import Agent
from larm.cluster.card import Card, Figures, Rests
from larm.cluster.keys import NO_CHANGES, Command, What
from larm.cluster.overview import agent_lines, totals
from larm.cluster.page_sample import PageSample
from larm.cluster.roster import Roster, place_of, read_roster, write_roster
from larm.cluster.session import GATHER
from larm.cluster.terms import Doors, Rule
from larm.engine.figures.snapshot import AgentLine, ClusterFigures
from larm.engine.orders import AnyOrder, Pause, Resume, Set
from larm.engine.parts import Frontier
from larm.errors import UsageError
from larm.frontier.host import LONGEST_WAIT
from larm.kit.commands import command

TIME_SPENT = "closespider_timeout"
_EVERY = 1.0
"""Seconds between two looks at our own figures."""
_DONE = {"pause": "pauses", "resume": "goes on", "stop": "ends", "set": "takes it"}


class Together:
    """Of one crawl. ``folder``: of its queues; ``tell``: have etcd told of a command, soon: see `Session.order`."""

    def __init__(self, agent: Agent, rule: Rule, doors: Doors, folder: Path, tell: Callable[..., object]) -> None:
        """Raises StorageError."""
        known = read_roster(folder)
        # constant after construction
        self._agent = agent
        self._rule = rule
        self._doors = doors
        self._folder = folder
        self._tell = tell
        self._me = agent.state.me
        self._blank = Roster(rule.cluster, self._me, rule.own.by, rule.own.placement)
        self._sample = PageSample(doors.stored)
        self._rests = Rests(rule.rules.lease)
        # replaced before any other thread runs
        self._frontier: Frontier | None = None
        # replaced as a whole
        self.cards: dict[str, Card] = dict(known.cards if known is not None else {})
        """The last one of each agent that was ever met."""
        self.card = Card(rule.address, rule.own.serve.rstrip("/"), str(doors.directory.absolute()))
        """Ours."""
        self.totals: ClusterFigures | None = None
        """Of all, as far as is known here."""
        # only larm-agents
        self._next = 0.0
        self._carried_out = Command(0)
        self._saved: object = None
        # written by larm-agents
        self._held = ""
        """Why this agent sends no requests."""

    def take(self, frontier: Frontier) -> None:
        """Before any other thread runs."""
        self._frontier = frontier
        wall = self._doors.shared.clock.wall
        frontier.queues.on_back_off = lambda host, seconds: self._rests.note(host, seconds, wall())

    # -- any thread

    def change(self, key: str, value: str) -> str:
        """Change a setting for all agents of this run, also later ones. Return what follows. Raises UsageError."""
        self._doors.steering.limits.check_in_cluster(key, value)
        return f"{key} is {value} now: {self.order('set', changes={key: value})}"

    def order(self, what: What, why: str = "", changes: Mapping[str, str] = NO_CHANGES) -> str:
        """Have all agents do something; what is to be said of it."""
        state, now = self._agent.state, self._doors.now()
        self._tell(what, why, changes)
        others = sorted(state.others())
        silent = [name for name in others if state.silent(name, now) >= state.rules.lease]
        heard = f"this agent {_DONE[what]}, and so {'do' if len(others) > 1 else 'does'} {', '.join(others)}"
        later = f"; {', '.join(silent)} can't be heard now, and will hear of it later" if silent else ""
        return (heard if others else f"this agent {_DONE[what]}; it is the only one") + later

    def place(self, name: str) -> str:
        """Where an agent is, for a person."""
        seen = self._agent.state.agents.get(name)
        return place_of(name, self.cards.get(name) or (Card(seen.state.address) if seen is not None else None))

    def ending(self, reason: str) -> None:
        """This run ends: if its time is up, that of all is."""
        self.totals = self.sums(self.lines())
        if reason == TIME_SPENT:
            self.order("stop", reason)

    def lines(self) -> list[AgentLine]:
        """All agents that are known of, and how they stand."""
        state, now = self._agent.state, self._doors.now()
        with self._agent.lock:
            waits = self._agent.courier.waits_for()
        cards = {**self.cards, self._me: self.card}
        return agent_lines(
            state.view,
            state.agents,
            cards,
            lambda name: state.silent(name, now),
            lease=state.rules.lease,
            wall=self._doors.shared.clock.wall(),
            me=self._me,
            waits=waits,
        )

    def sums(self, lines: list[AgentLine]) -> ClusterFigures:
        """The figures of all agents in these lines together."""
        return totals(lines, {**self.cards, self._me: self.card}, self._held)

    # -- larm-etcd

    def hear(self, cards: Mapping[str, Card]) -> None:
        """Cards that have changed."""
        self.cards = {**self.cards, **cards}

    # -- larm-agents

    def step(self, now: float, command: Command) -> None:
        """Some times a second. ``command``: the newest for all of this run."""
        if command != self._carried_out:
            last, self._carried_out = self._carried_out, command
            self._carry_out(command, last)
        if now < self._next or self._frontier is None:
            return
        self._next = now + _EVERY
        self._sample.read_on()
        figures, wall = self._figures(self._frontier), self._doors.shared.clock.wall()
        since = wall if figures.pages != self.card.figures.pages else self.card.since
        self.card = msgspec.structs.replace(self.card, figures=figures, rests=self._rests.told(wall), since=since, taken=wall)
        self._held = self._holds(now)
        self.totals = self.sums(self.lines())
        places = [(name, card.address, card.serve, card.directory) for name, card in self.cards.items()]
        if (state := (places, self._agent.state.view)) != self._saved:
            self._saved = state
            self.save()

    def leave_alone(self, name: str, owner: Callable[[str], str]) -> None:
        """Hosts that have asked that agent, which is not a member any more, for a rest, as far as they are ours now."""
        card, frontier = self.cards.get(name), self._frontier
        if card is None or frontier is None:
            return
        now = self._doors.shared.clock.wall()
        for host, until in card.rests.items():
            if until > now and owner(host) == self._me:
                frontier.changes.back_off(host, min(until - now, LONGEST_WAIT))

    def save(self) -> None:
        """Write the roster, for those that look into the directory. Raises StorageError."""
        members = {name: member.weight for name, member in self._agent.state.view.members.items()}
        cards = {**self.cards, self._me: self.card}
        write_roster(self._folder, msgspec.structs.replace(self._blank, members=members, cards=cards))

    def _carry_out(self, command: Command, last: Command) -> None:
        orders: list[AnyOrder] = [Set(key, value) for key, value in command.changes.items() if last.changes.get(key) != value]
        if command.number != last.number and command.what != "set":
            if command.what == "stop":
                self._doors.shared.bell.ring(command.why or "shutdown")
                return
            orders.append(Pause() if command.what == "pause" else Resume())
        for order in orders:
            try:
                self._doors.steering.order(order)
            except UsageError as error:  # it ends, or is of another version
                self._doors.log(f"a command of {command.sender} is not carried out here: {error}")
        if orders:
            self._doors.steering.carry_out()

    def _figures(self, frontier: Frontier) -> Figures:
        counters, tally = self._doors.shared.counters.snapshot(), self._doors.shared.tally.value
        return Figures(
            pages=counters.get("item_scraped_count", 0),
            known=len(frontier.seen),
            waiting=max(0, tally) + frontier.turns.figures().uncounted,
            sent=counters.get("agents/urls_out", 0),
            sample=self._sample.smallest,
            paused=self._doors.steering.paused,
            recovered=counters.get("agents/recovered", 0),
            work={each.name: each.figures().tasks for each in self._doors.records},
        )

    def _holds(self, now: float) -> str:
        state = self._agent.state
        if state.fenced(now) and self._agent.session.trouble:
            return self._agent.session.trouble
        if not self._agent.begun:
            return self._gathers()
        if state.view.closed:
            wait = state.rules.adoption
            return f"the cluster was founded again: requests begin after {wait:g} s, as earlier ones may be under way"
        with self._agent.lock:
            stuck = self._agent.courier.stuck(now, state.rules.adoption)
            done = self._agent.resting
        if stuck:
            return f"URLs wait for {', '.join(stuck)}: it renews its lease, but takes nothing from here; look at its network"
        oldest = self._doors.shared.clock.wall() - self._rule.hang_after
        busy = [name for name in state.others() if name in self.cards and self.cards[name].figures.waiting]
        if not (done and busy and all(self.cards[name].since < oldest for name in busy)):
            return ""
        names = ", ".join(busy)
        return f"all but {names} are done, where nothing was fetched for long: ask there why, or end it and others go on"

    def _gathers(self) -> str:
        members, agents, wanted = self._agent.state.view.members, self._agent.state.agents, self._rule.own.agents
        away = sorted(name for name in members if name not in agents or agents[name].state.stopped)
        if len(members) < wanted or not away:
            is_or_are = "is" if len(members) == 1 else "are"
            return f"the crawl begins when {wanted} agents are there, of which there {is_or_are} {len(members)}"
        names, remedy = ", ".join(away), command("cluster", "remove", away[0], "--dir", str(self._doors.directory))
        return f"the crawl begins when {names} is back, or after {GATHER:g} s: if it won't come back, {remedy}"
