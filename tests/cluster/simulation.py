"""A cluster without network, disk or time: it drives the `Node` of a crawl with a fake etcd, and breaks what can break.

A seed makes a web of few hosts, and faults: paused and dead processes, lost disks, clocks of different rate, agents cut from
etcd or from each other, etcd down, lost requests, answers and acknowledgements, transactions that come true late, leases that
expire early or late, joins and leaves. A round of a session runs in a greenlet, so it waits for a slow answer while all others
go on.

Checked all the time: no host is asked by two agents, and no parcel is taken twice. At the end of the crawl: no page is missing.
It must end.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

import greenlet

from larm.cluster.etcd import Compare, Found, NoEtcd, Operation, Put
from larm.cluster.keys import Idle, Keys, Run, View, unpack
from larm.cluster.placement import HashRing
from larm.cluster.session import Applicant, Session
from larm.cluster.transport import Asked
from larm.cluster.view_state import ViewState
from tests.cluster.session_world import RULES
from tests.cluster.sim_node import Disk, Net, Page, SimNode
from tests.support.fake_etcd import FakeEtcd

TICK = 0.5
CHECKPOINT = 5.0
FAULTS_END = 240.0
"""Seconds in which faults begin; each is over 90 s later."""
LIMIT = 2_000.0
"""Seconds in which the crawl must be over."""
KEYS = Keys("test")
_RINGS: dict[tuple[tuple[str, float], ...], HashRing] = {}


def ring(weights) -> HashRing:
    key = tuple(sorted(weights.items()))
    if key not in _RINGS:
        _RINGS[key] = HashRing(weights)
    return _RINGS[key]


class Violation(AssertionError):
    """An invariant does not hold."""


class Request:
    """A request of an agent to a host; ``sent`` when it has left the machine, at ``connected`` or later."""

    def __init__(self, page: Page, connected: float) -> None:
        self.page, self.connected, self.sent, self.ends = page, connected, False, 0.0


class Wire:
    """An agent's way to etcd."""

    def __init__(self, agent: Process) -> None:
        self.agent = agent

    def txn(
        self, compares: Sequence[Compare], then: Sequence[Operation], otherwise: Sequence[Operation] = ()
    ) -> Found | NoEtcd:
        puts = [each.key for each in then if isinstance(each, Put)]
        late = 0.2 if any(key.startswith(KEYS.idles) for key in puts) else 0.02 if puts else 0.0
        renews = any(key.startswith(KEYS.agents) for key in puts)
        return self._call(lambda: self.agent.world.etcd.txn(compares, then, otherwise), late, renews=renews)

    def grant(self, seconds: int) -> int | NoEtcd:
        return self._call(lambda: self.agent.world.etcd.grant(seconds))

    def keep(self, lease: int) -> bool | NoEtcd:
        return self._call(lambda: self.agent.world.etcd.keep(lease))

    def _call(self, call: Callable[[], object], late: float = 0.0, *, renews: bool = False):
        agent, world = self.agent, self.agent.world
        fate = world.random.random() / world.bad if world.rough() else 1.0
        if agent.cut:
            agent.wait(2.0)
            return NoEtcd("cut", known=fate < 0.5)
        if agent.slow and renews:  # the answer to a renewal is slow, the next one does not come
            agent.slow = False
            answer = call()
            agent.wait(world.random.uniform(3.0, 15.0))
            agent.cut = True
            world.after(world.random.uniform(40.0, 80.0), setattr, agent, "cut", False)
            return answer
        if fate < 0.02:  # the request is slow
            agent.wait(world.random.uniform(0.2, 8.0))
            return call()
        if fate < 0.05:  # the answer is slow
            answer = call()
            agent.wait(world.random.uniform(0.2, 12.0))
            return answer
        if fate < 0.06:  # the request is lost
            agent.wait(2.0)
            return NoEtcd("lost", known=False)
        if fate < 0.07:  # the answer is lost
            call()
            agent.wait(2.0)
            return NoEtcd("lost", known=False)
        if fate < 0.07 + late:  # it comes true after we have given it up
            world.after(world.random.uniform(2.0, 9.0), call)
            agent.wait(2.0)
            return NoEtcd("slow", known=False)
        return call()


class Process:
    """A process, and what becomes of it."""

    def __init__(self, world: World, disk: Disk, *, continues: bool) -> None:
        self.world, self.disk, self.name = world, disk, disk.identity.name
        self.rate, self.offset = 1 + world.random.uniform(-0.001, 0.001), world.random.uniform(0, 1e6)
        self.cut = self.slow = self.ended = False
        self.paused = 0.0
        self.next_checkpoint = LIMIT
        world.boots += 1
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


class World:
    """Of one seed."""

    def __init__(self, seed: int, faulty: Faulty = RIGHT) -> None:
        self.random = random.Random(seed)
        self.faulty = faulty
        self.now = 0.0
        self.boots = 0
        self._events: list[tuple[float, int, Callable[..., object], tuple[object, ...]]] = []
        self._number = count()
        self.main = greenlet.getcurrent()
        self.etcd = FakeEtcd(lambda: self.now)
        self.agents: dict[str, Process] = {}
        self.disks: dict[str, Disk] = {}
        self.left: list[Disk] = []
        self.moves = count()
        self.cut: set[frozenset[str]] = set()
        """Pairs of agents that can't reach each other."""
        self.gone: dict[str, Disk] = {}
        self.asked: dict[str, tuple[str, float]] = {}
        """Who asks each host, and until when the host sees the request."""
        hosts = [f"h{n}.example" for n in range(8)]
        pages = [(host, n) for host in hosts for n in range(self.random.randint(4, 10))]
        self.chain, self.long = self.random.choice([(False, False), (True, False), (False, True)])
        """Chain: one page leads to the next, so most agents are idle most of the time. Long: requests are long."""
        self.random.shuffle(pages)
        self.web = {page: [self.random.choice(pages) for _ in range(self.random.randint(1, 5))] for page in pages}
        if self.chain:
            self.web = dict(zip(pages, [[page] for page in pages[1:]] + [[]], strict=True))
        self.seeds = pages[:1] if self.chain else pages[:2]
        self.bad = self.random.choice([0.3, 1.0, 2.0])
        """Share of requests to etcd that fail, as a multiple of the usual one."""
        self.names = count()
        self.log: list[str] = []
        self.viewed = 0
        self.last_with: dict[str, dict[str, float]] = {}
        """The last view that each agent was in."""
        for _ in range(self.random.randint(2, 4)):
            self.after(self.random.uniform(0, 3), self.start)
        for _ in range(self.random.randint(2, 7)):
            self.at(self.random.uniform(5, FAULTS_END), self.fault)

    def has(self, switch: str) -> bool:
        return self.faulty.switch == switch

    def rough(self) -> bool:
        return self.now < FAULTS_END

    def at(self, when: float, what: Callable[..., object], *args: object) -> None:
        heapq.heappush(self._events, (when, next(self._number), what, args))

    def after(self, seconds: float, what: Callable[..., object], *args: object) -> None:
        self.at(self.now + seconds, what, *args)

    def say(self, text: str) -> None:
        self.log.append(f"{self.now:8.2f} {text}")

    # -- life and death

    def start(self, name: str = "", *, continues: bool = True) -> None:
        if name in self.agents:
            return
        name = name or f"a{next(self.names)}"
        self.say(f"start {name}")
        disk = self.disks.setdefault(name, Disk(name))
        self.agents[name] = Process(self, disk, continues=continues)

    def kill(self, agent: Process) -> None:
        agent.ended = True
        del self.agents[agent.name]
        for host, request in agent.node.requests.items():
            if request.sent:
                self.end(agent, host)

    def leave(self, agent: Process) -> None:
        self.say(f"{agent.name} has left")
        agent.ended = True
        del self.agents[agent.name]
        agent.disk.crawl = agent.node.crawl
        self.left.append(self.disks.pop(agent.name))

    def fault(self) -> None:
        if not self.agents:
            return
        agent = self.agents[self.random.choice(sorted(self.agents))]
        seconds = self.random.choice([self.random.uniform(1, 15), self.random.uniform(15, 90), self.random.uniform(45, 60)])
        kinds = "pause pause pause crash gone cut cut slow slow down expire late leave join restart pause-all apart apart"
        kind = self.random.choice(kinds.split())
        self.say(f"{kind} {agent.name} {seconds:.1f}")
        match kind:
            case "pause":
                agent.paused = self.now + seconds
            case "slow":
                agent.slow = True
            case "pause-all":
                for each in self.agents.values():
                    each.paused = self.now + seconds
            case "crash":
                self.kill(agent)
                self.after(seconds, lambda: self.start(agent.name, continues=seconds < 60))
            case "gone" if len(self.agents) > 1:
                self.kill(agent)
                self.gone[agent.name] = self.disks.pop(agent.name)
            case "cut":
                agent.cut = True
                self.after(seconds, setattr, agent, "cut", False)
            case "down":
                self.etcd.down = True
                self.after(seconds, setattr, self.etcd, "down", False)
            case "restart":
                self.etcd.restart()
            case "expire":
                self.etcd.expire(agent.session._lease)
            case "late":
                self.etcd.late = 90.0
            case "leave" if agent.session.state.others() and not any(each.leaving for each in self.agents.values()):
                agent.node.leave()
            case "apart" if len(self.agents) > 1:
                pair = frozenset((agent.name, self.random.choice(sorted(self.agents.keys() - {agent.name}))))
                self.cut.add(pair)
                self.after(seconds, self.cut.discard, pair)
            case "join" if len(self.agents) < 5:
                self.start()

    # -- hosts

    def send(self, agent: Process, host: str, request: Request) -> None:
        """The request leaves the machine."""
        other, until = self.asked.get(host, ("", 0.0))
        if other not in ("", agent.name) and until > self.now:
            raise Violation(f"{host} is asked by {other} and {agent.name} at {self.now:.1f}")
        longest = RULES.request / agent.rate
        slow = self.random.random() < (0.08 if self.chain else 0.7 if self.long else 0.25)
        seconds = self.random.uniform(5, longest) if slow else self.random.uniform(0.3, 1.5)
        seconds = longest if slow and self.random.random() < 0.5 else seconds
        request.sent, request.ends = True, self.now + seconds
        self.asked[host] = agent.name, request.ends

    def end(self, agent: Process, host: str) -> None:
        if self.asked.get(host, ("",))[0] == agent.name:
            del self.asked[host]

    # -- the run

    def run(self) -> None:
        """Until the crawl is over. Raises Violation."""
        while self._events:
            self.now, _, what, args = heapq.heappop(self._events)
            what(*args)
            self.note_view()
            if self.over():
                self.check_pages()
                return
            if self.now > LIMIT:
                break
        if not all(agent.leaving for agent in self.agents.values()):  # else none is left that could go on
            raise Violation(f"it does not end: {self.describe()}")

    def over(self) -> bool:
        entry = self.etcd._entries.get(KEYS.run)
        return entry is not None and unpack(entry.pair.value, Run).state == "over"

    def note_view(self) -> None:
        entry = self.etcd._entries.get(KEYS.view)
        if entry is not None and entry.pair.modified != self.viewed:
            self.viewed = entry.pair.modified
            view = unpack(entry.pair.value, View)
            self.last_with |= {name: {n: m.weight for n, m in view.members.items()} for name in view.members}

    def check_pages(self) -> None:
        """Raise Violation if a page is missing that a survivor could have found."""
        view = unpack(self.etcd._entries[KEYS.view].pair.value, View)
        dying = [disk for name, disk in self.gone.items() if name in view.members]  # not removed before the end
        for process in self.agents.values():
            process.disk.crawl = process.node.crawl
        here = {page for disk in [*self.disks.values(), *dying] for page in disk.crawl.done}
        away = {page for disk in self.left for page in disk.crawl.done} - here
        linked = {*self.seeds, *(page for disk in self.disks.values() for page in disk.crawl.links)}
        excused = set()
        for name, disk in self.gone.items():
            excused |= {page for page in disk.crawl.done if page not in linked}  # its links left with an agent
            excused |= {
                page for page in disk.crawl.done if ring(self.last_with[name]).owner(page[0]) != name
            }  # found by other marks
        wanted, todo = set(self.seeds), list(self.seeds)
        while todo:
            page = todo.pop()
            if page in here or not (page in excused or (self.gone and page in away)):
                new = [each for each in self.web[page] if each not in wanted]
                wanted.update(new)
                todo += new
        missing = wanted - here - away - excused
        if missing:
            raise Violation(f"{len(missing)} pages are missing at {self.now:.1f}: {sorted(missing)[:4]}: {self.describe()}")

    def describe(self) -> str:
        view = unpack(self.etcd._entries[KEYS.view].pair.value, View) if KEYS.view in self.etcd._entries else None
        idles = {key: unpack(e.pair.value, Idle) for key, e in self.etcd._entries.items() if key.startswith(KEYS.idles)}
        agents = [
            f"{name}: trouble={agent.session.trouble!r} run={agent.session.run} queued={agent.node.value} "
            f"moving={agent.node.moves.moving()} waiting={agent.node.agent.courier.waits_for()} "
            f"wanted={agent.node.agent.wanted} search={agent.node._search.pending} begun={agent.node.agent.begun} "
            f"inside={agent.session.state.inside} fenced={agent.session.state.fenced(agent.now())} mine={agent.node._mine} "
            f"told={agent.session.told_idle} state={agent.session.state.agents.get(name)}"
            for name, agent in self.agents.items()
        ]
        return "\n".join([*self.log, f"{view}", f"{idles}", *agents])
