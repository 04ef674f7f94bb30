"""A cluster without network, disk or time: it drives the `Node` of a crawl with a fake etcd, and breaks what can break.

A seed makes a web of few hosts, and faults: paused and dead processes, lost disks, clocks of different rate, agents cut from
etcd or from each other, etcd down, lost requests, answers and acknowledgements, transactions that come true late, leases that
expire early or late, joins and leaves. A round of a session runs in a greenlet, so it waits for a slow answer while all others
go on.

Checked all the time: no host is asked by two agents, and no parcel is taken twice. At the end of the crawl: no page is missing.
It must end.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import NamedTuple

import greenlet

from larm.cluster.applicant import Applicant
from larm.cluster.session import Session
from larm.cluster.transport import Asked
from larm.cluster.view_state import ViewState
from tests.cluster import session_world
from tests.cluster.session_world import KEYS, LIMIT, RULES, TICK, Request, Violation, Wire, ring
from tests.cluster.sim_node import Disk, Net, SimNode

CHECKPOINT = 5.0


class Process:
    """A process, and what becomes of it."""

    mute = tardy = False
    """See `session_world.Agent`."""

    def __init__(self, world: World, disk: Disk, *, continues: bool) -> None:
        self.world, self.disk, self.name = world, disk, disk.identity.name
        self.rate, self.offset = 1 + world.random.uniform(-0.001, 0.001), world.random.uniform(0, 1e6)
        self.cut = self.slow = self.ended = False
        self.paused = 0.0
        self.next_checkpoint = LIMIT
        number, faulty = count(world.boots * 1_000), world.faulty
        boot = disk.identity.boots + 1
        self.session = faulty.session(
            Wire(self),
            KEYS,
            Applicant(self.name, boot, continues=continues),
            disk.identity.session,
            rules=RULES,
            placement=ring,
            random=lambda: next(number),
        )
        if faulty.state is not ViewState:
            self.session.state = faulty.state(self.name, RULES, ring)
        net = Net(self.now, self.ask, self.fail, lambda: str(next(world.moves)), ring, world.seeds)
        fresh = not disk.crawl.started
        self.node = faulty.node(disk, self.session, net, boot, faulty.switch)
        if fresh:
            self.node.put_starts()
        self.round = greenlet.greenlet(self.rounds)
        self.main = world.main
        world.after(0.0, self.resume)
        world.after(world.random.uniform(0, TICK), self.tick)
        world.after(world.random.uniform(0, 1), self.checkpoint)

    @property
    def leaving(self) -> bool:
        return self.node._leaving

    def fail(self, why: object) -> None:
        """The bell rings."""
        if isinstance(why, Exception):
            raise Violation(f"{self.name} ends: {why!r}")

    # -- time

    def now(self) -> float:
        return self.world.now * self.rate + self.offset

    def wait(self, seconds: float) -> None:
        """In a round: others go on."""
        self.world.after(seconds, self.resume)
        self.main.switch()

    def resume(self) -> None:
        if self.ended:
            return
        if self.paused > self.world.now:
            self.world.at(self.paused, self.resume)
            return
        self.round.switch()

    def rounds(self) -> None:
        """As `Node._speak`."""
        node = self.node
        while not self.ended:
            self.session.round(node._mine, self.now)
            node._after_round()
            while (left := self.session.next_at - self.now()) > 0 and not node._hurry.is_set():
                self.wait(min(left, TICK))
            node._hurry.clear()
            self.wait(0.05)

    def asleep(self, then: Callable[[], object]) -> bool:
        if self.paused > self.world.now:
            self.world.at(self.paused, then)
            return True
        return self.ended

    def checkpoint(self) -> None:
        if self.asleep(self.checkpoint):
            return
        self.node.begin_checkpoint()
        self.world.after(0.2, self.saved)

    def saved(self) -> None:
        if self.asleep(self.saved):
            return
        self.node.end_checkpoint()
        self.next_checkpoint = self.world.now + CHECKPOINT

    def tick(self) -> None:
        if self.asleep(self.tick):
            return
        node, world = self.node, self.world
        world.after(TICK, self.tick)
        requests = node.requests
        if node._doors.fence.left() <= 0:
            for host, request in list(requests.items()):
                if request.sent or not world.has("transfers_kept"):
                    del requests[host]
                    node.give_back(request.page)
                    if request.sent:
                        world.end(self, host)
        for host, request in list(requests.items()):
            if not request.sent:
                if world.now >= request.connected:
                    world.send(self, host, request)
            elif world.now >= request.ends:
                del requests[host]
                world.end(self, host)
                node.fetched(request.page, world.web[request.page])
        node._step(self.now())
        for host in node.leases():
            number = node.crawl.hosts[host].queue.popleft()
            requests[host] = Request((host, number), world.now + world.random.choice([0.0, 0.5, 4.0 * world.long]))
        if self.session.left and node.may_end() and not node.value:
            world.leave(self)
        elif world.now >= self.next_checkpoint or (node.hurried and self.next_checkpoint < LIMIT):
            self.next_checkpoint = LIMIT
            self.checkpoint()

    # -- the network

    def ask(self, node: SimNode, to: str, asked: Asked, on_answer: Callable[[bytes | None], object]) -> None:
        """A request of this process. Without an answer, it is told so after five seconds."""
        world, said = self.world, [False]

        def answered(found: bytes | None) -> None:
            if not said[0] and not self.ended:
                said[0] = True
                on_answer(found)

        def arrive() -> None:
            other = world.agents.get(to)
            if other is None or other.ended or frozenset((self.name, to)) in world.cut:
                return
            if other.paused > world.now:
                world.at(other.paused + 0.01, arrive)
                return
            found = other.node.answer(asked)
            lost = (world.rough() and world.random.random() < 0.02) or frozenset((self.name, to)) in world.cut
            if not lost:
                world.after(slow(), answered, found)

        def slow() -> float:
            return world.random.uniform(0.1, 6.0) if world.rough() and world.random.random() < 0.1 else 0.05

        world.after(slow(), arrive)
        world.after(5.0, self.give_up, answered)

    def give_up(self, answered: Callable[[bytes | None], object]) -> None:
        if not self.asleep(lambda: self.give_up(answered)):
            answered(None)


class Faulty(NamedTuple):
    """The classes to run: with a planted fault, perhaps."""

    session: type[Session] = Session
    state: type[ViewState] = ViewState
    node: type[SimNode] = SimNode
    switch: str = ""


RIGHT = Faulty()


class World(session_world.World):
    """Of one seed."""

    KINDS = f"{session_world.World.KINDS} apart apart"

    def __init__(self, seed: int, faulty: Faulty = RIGHT) -> None:
        self.moves = count()
        self.cut: set[frozenset[str]] = set()
        """Pairs of agents that can't reach each other."""
        super().__init__(seed, faulty)

    def made(self, name: str, *, continues: bool) -> Process:
        return Process(self, self.disks.setdefault(name, Disk(name)), continues=continues)

    def kill(self, agent: Process) -> None:
        agent.ended = True
        del self.agents[agent.name]
        for host, request in agent.node.requests.items():
            if request.sent:
                self.end(agent, host)

    def leave(self, agent: Process) -> None:
        agent.disk.crawl = agent.node.crawl
        super().leave(agent)

    def befall(self, agent: Process, kind: str, seconds: float) -> None:
        match kind:
            case "leave":
                may = agent.node.agent.begun and agent.session.state.others()
                if may and not any(each.leaving for each in self.agents.values()):
                    agent.node.leave()
            case "apart":
                if len(self.agents) > 1:
                    pair = frozenset((agent.name, self.random.choice(sorted(self.agents.keys() - {agent.name}))))
                    self.cut.add(pair)
                    self.after(seconds, self.cut.discard, pair)
            case _:
                super().befall(agent, kind, seconds)

    def check_pages(self) -> None:
        for process in self.agents.values():
            process.disk.crawl = process.node.crawl
        super().check_pages()

    def crawl_of(self, disk: Disk):
        return disk.crawl

    def work_of(self, agent: Process) -> str:
        node = agent.node
        return (
            f"queued={node.value} moving={node.moves.moving()} waiting={node.agent.courier.waits_for()} "
            f"wanted={node.agent.wanted} search={node._search.pending} begun={node.agent.begun} mine={node._mine}"
        )


class Script(World):
    """Of one seed: three agents, and no faults but these: second, agent, kind, and how long each lasts."""

    def __init__(self, seed: int, faulty: Faulty, shape: str, *faults: tuple[float, str, str, float]) -> None:
        self.SHAPES = ((shape == "chain", shape == "long"),)
        self.faults = faults
        super().__init__(seed, faulty)
        if self.long:  # each agent has work from the beginning on
            self.seeds = list(self.web)

    def plan(self) -> None:
        for number in range(3):
            self.after(number * 0.3, self.start)
        for when, name, kind, seconds in self.faults:
            self.at(when, self.strike, name, kind, seconds)

    def strike(self, name: str, kind: str, seconds: float) -> None:
        agent = self.agents.get(name)
        self.say(f"{kind} {name} {seconds}")
        match kind:
            case "slow" if agent:
                agent.slow = seconds
            case "mute" | "tardy" if agent:
                setattr(agent, kind, True)
                self.after(seconds, setattr, agent, kind, False)
            case _ if agent:
                self.befall(agent, kind, seconds)

    def rough(self) -> bool:
        return False
