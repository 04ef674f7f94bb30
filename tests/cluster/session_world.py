"""A cluster without network, disk or time: it drives the `Session` of a crawl with a fake etcd, and breaks what can break.

A seed makes a web of few hosts, and faults: paused and dead processes, lost disks, clocks of different rate, agents cut from
etcd, etcd down, lost requests, answers and acknowledgements, transactions that come true late, leases that expire early or
late, joins and leaves. A round of a session runs in a greenlet, so it waits for a slow answer while all others go on.

Checked all the time: no host is asked by two agents. At the end of the crawl: no page is missing. It must end.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

import greenlet

from larm.cluster.applicant import Applicant, Mine, SavedSession
from larm.cluster.etcd import Found, NoEtcd, Operation, Put, Same
from larm.cluster.keys import LAST, Idle, Keys, PastView, Run, View, unpack
from larm.cluster.placement import HashRing
from larm.cluster.session import Session
from larm.cluster.view_state import Rules, ViewState
from tests.support.fake_etcd import FakeEtcd
from tests.support.views import may_ask

RULES = Rules(lease=20.0, request=30.0)
TICK = 0.5
FAULTS_END = 240.0
"""Seconds in which faults begin; each is over 90 s later."""
LIMIT = 2_000.0
"""Seconds in which the crawl must be over."""
KEYS = Keys("test")
Page = tuple[str, int]
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


class Disk:
    """What is left of an agent when its process has died."""

    def __init__(self) -> None:
        self.saved = SavedSession()
        self.queue: dict[str, list[Page]] = {}
        self.done: set[Page] = set()
        self.outbox: dict[Page, None] = {}
        self.links: dict[Page, None] = {}
        self.to_search: list[tuple[str, tuple[PastView, ...]] | None] = []
        """Lost agents, and the views that had each; None: search everything."""
        self.epoch = 0
        self.searched: set[tuple[str, int]] = set()


class Wire:
    """An agent's way to etcd."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def txn(self, compares: Sequence[Same], then: Sequence[Operation], otherwise: Sequence[Operation] = ()) -> Found | NoEtcd:
        puts = [each.key for each in then if isinstance(each, Put)]
        if self.agent.mute:
            self.agent.wait(2.0)
            return NoEtcd("mute", known=False)
        claims = any(key.startswith(KEYS.idles) for key in puts)
        late = 1.0 if claims and self.agent.tardy else 0.2 if claims else 0.02 if puts else 0.0
        renews = any(key.startswith(KEYS.agents) for key in puts)
        return self._call(lambda: self.agent.world.etcd.txn(compares, then, otherwise), late, renews=renews)

    def grant(self, seconds: int) -> int | NoEtcd:
        return self._call(lambda: self.agent.world.etcd.grant(seconds))

    def keep(self, lease: int) -> bool | NoEtcd:
        return self._call(lambda: self.agent.world.etcd.keep(lease))

    def _call(self, call: Callable[[], object], late: float = 0.0, *, renews: bool = False):
        agent, world = self.agent, self.agent.world
        fate = world.random.random() / world.bad if world.rough() else 0.5 if late == 1.0 else 1.0
        if agent.cut:
            agent.wait(2.0)
            return NoEtcd("cut", known=fate < 0.5)
        if agent.slow and renews:  # the answer to a renewal is slow, the next one does not come
            seconds = world.random.uniform(3.0, 15.0) if agent.slow is True else agent.slow
            agent.slow = False
            answer = call()
            agent.wait(seconds)
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


class Agent:
    """A process, and what becomes of it."""

    mute = tardy = False
    """etcd answers its keepalives, and nothing else; its claims to be idle come true late."""

    def __init__(self, world: World, name: str, disk: Disk, boot: int, *, continues: bool) -> None:
        self.world, self.name, self.disk, self.boot = world, name, disk, boot
        self.rate, self.offset = 1 + world.random.uniform(-0.001, 0.001), world.random.uniform(0, 1e6)
        self.cut = self.slow = self.leaving = self.ended = False
        self.paused = 0.0
        self.requests: dict[str, Request] = {}
        self.unacknowledged: dict[Page, float] = {}
        self.deaf: dict[str, float] = {}
        applicant = Applicant(name, boot, continues=continues)
        world.boots += 1
        number = count(world.boots * 1_000)
        self.session = world.faulty.session(
            Wire(self), KEYS, applicant, disk.saved, rules=RULES, placement=ring, random=lambda: next(number)
        )
        if world.faulty.state is not ViewState:
            self.session.state = world.faulty.state(name, RULES, ring)
        self.save()
        self.round = greenlet.greenlet(self.rounds)
        self.main = world.main
        world.after(0.0, self.resume)
        world.after(world.random.uniform(0, TICK), self.tick)

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
        while not self.ended:
            mine = self.mine()
            self.session.round(mine, self.now)
            self.look_at_view()
            self.save()
            if self.session.left:
                self.world.leave(self)
                return
            self.wait(max(0.05, self.session.next_at - self.now()))

    def save(self) -> None:
        self.disk.saved, self.session.unsaved = self.session.saved, False

    # -- the crawl

    def mine(self) -> Mine:
        state = self.session.state
        epoch = state.view.epoch if self.nothing_foreign() else 0
        if not state.inside and not self.disk.queue and not self.disk.epoch:
            epoch = LAST
        self.released = max(getattr(self, "released", 0), epoch if epoch != LAST else 0)
        return Mine(idle=self.idle(), released=epoch, leaving=self.leaving)

    def idle(self) -> bool:
        disk = self.disk
        return (
            not (disk.queue or self.requests or disk.outbox or disk.to_search) and disk.epoch == self.session.state.view.epoch
        )

    def nothing_foreign(self) -> bool:
        state, disk = self.session.state, self.disk
        if disk.epoch != state.view.epoch:
            return False
        foreign = {host for host in disk.queue if not self.owns(host)}
        flying = set() if self.world.has("release_in_flight") else {host for host in self.requests if not self.owns(host)}
        # one that leaves takes along its outbox and its links
        waits = bool(disk.outbox or disk.to_search) and not state.inside and self.leaving
        return not (foreign or flying or waits)

    def owns(self, host: str) -> bool:
        state = self.session.state
        return state.inside and state.owner(host) == self.name

    def put(self, pages: Sequence[Page]) -> None:
        """Our pages into queues, others into the outbox."""
        for page in pages:
            if page in self.disk.done:
                continue
            if self.owns(page[0]):
                asked = page[0] in self.requests and self.requests[page[0]].page == page
                if not asked and page not in self.disk.queue.get(page[0], ()):
                    self.disk.queue.setdefault(page[0], []).append(page)
            else:
                self.disk.outbox[page] = None

    def look_at_view(self) -> None:
        view, disk = self.session.state.view, self.disk
        if view.epoch == disk.epoch and not (view.lost.keys() - {name for name, _ in disk.searched}):
            return
        if disk.epoch and disk.epoch not in (*(past.epoch for past in view.past), view.epoch):
            disk.to_search.append(None)
        for name, lost in view.lost.items():
            if (name, lost.epoch) not in disk.searched:
                disk.searched.add((name, lost.epoch))
                disk.to_search.append((name, view.with_agent(name)))
        first = not disk.epoch
        disk.epoch = view.epoch
        if first and view.epoch:
            self.put(self.world.seeds)

    def search(self) -> None:
        for what in self.disk.to_search:
            pages = [*self.disk.links, *self.world.seeds]
            if what is not None:
                name, views = what
                views = views[-1:] if self.world.has("last_view_searched") else views
                rings = [ring(view.weights) for view in views]
                pages = [page for page in pages if any(each.owner(page[0]) == name for each in rings)]
            if not self.world.has("no_search"):
                self.put(pages)
        self.disk.to_search.clear()

    def tick(self) -> None:
        if self.ended:
            return
        world = self.world
        if self.paused > world.now:
            world.at(self.paused, self.tick)
            return
        world.after(TICK, self.tick)
        state, at = self.session.state, self.now()
        if state.fenced(at):
            for host, request in list(self.requests.items()):
                if request.sent or not world.has("transfers_kept"):
                    self.give_up(host, request)
        for host, request in list(self.requests.items()):
            if not request.sent:
                if world.now >= request.connected:
                    world.send(self, host, request)
            elif world.now >= request.ends:
                self.fetched(host, request)
        if not state.view.epoch or self.session.halted:
            return
        if (state.inside or self.leaving) and self.disk.to_search and self.session.busy():
            self.search()
        for host in [host for host in self.disk.queue if not self.owns(host) and host not in self.requests]:
            for page in self.disk.queue.pop(host):
                self.disk.outbox[page] = None
        for page in [page for page in self.disk.outbox if self.owns(page[0])]:
            del self.disk.outbox[page]
            self.put([page])
        if self.session.run.state == "running":
            for host, queue in list(self.disk.queue.items()):
                if host not in self.requests and may_ask(state, host, at) and not self.leaving_now():
                    page = queue.pop(0)
                    if not queue:
                        del self.disk.queue[host]
                    self.requests[host] = Request(page, world.now + world.random.choice([0.0, 0.5, 4.0 * world.long]))
        self.deliver()

    def leaving_now(self) -> bool:
        return self.leaving and not self.session.state.inside

    def give_up(self, host: str, request: Request) -> None:
        del self.requests[host]
        if request.sent:
            self.world.end(self, host)
        self.disk.queue.setdefault(host, []).append(request.page)

    def fetched(self, host: str, request: Request) -> None:
        del self.requests[host]
        self.world.end(self, host)
        self.disk.done.add(request.page)
        links = self.world.web[request.page]
        self.disk.links.update(dict.fromkeys(links))
        self.put(links)

    # -- urls

    def deliver(self) -> None:
        state, world = self.session.state, self.world
        for page in list(self.disk.outbox):
            if self.unacknowledged.get(page, 0.0) > world.now:
                continue
            if state.fenced(self.now()):
                return
            to = state.owner(page[0])
            if to != self.name:
                self.unacknowledged[page] = world.now + 5.0
                slow = world.random.uniform(0.1, 6.0) if world.rough() and world.random.random() < 0.1 else 0.05
                world.after(slow, world.carry, self, to, page, state.view.epoch)

    def takes(self, page: Page, epoch: int) -> bool:
        """A batch has come. Return True if it is acknowledged."""
        state, world = self.session.state, self.world
        if self.ended or self.paused > world.now:
            return False
        stale = state.fenced(self.now()) or state.view.epoch < epoch or self.disk.epoch != state.view.epoch
        refuses = not state.inside and (not self.leaving or self.released >= state.view.epoch)
        if stale or refuses or self.session.run.state == "over":
            return False
        if not self.session.busy() and not world.has("idle_kept"):
            return False
        self.put([page])
        return True

    def acknowledged(self, page: Page) -> None:
        if not self.ended:
            self.unacknowledged.pop(page, None)
            self.disk.outbox.pop(page, None)


class Faulty(NamedTuple):
    """The classes to run: with a planted fault, perhaps."""

    session: type[Session] = Session
    state: type[ViewState] = ViewState
    switch: str = ""


RIGHT = Faulty()


class World:
    """Of one seed."""

    KINDS = "pause pause pause crash gone cut cut slow slow down expire late leave join restart pause-all"
    """Faults, the frequent ones more than once."""
    SHAPES = ((False, False), (True, False), (False, True))
    """Chain: one page leads to the next, so most agents are idle most of the time. Long: requests are long."""
    BAD = (0.3, 1.0, 2.0)
    """Shares of requests to etcd that fail, as multiples of the usual one."""

    def __init__(self, seed: int, faulty: Faulty = RIGHT) -> None:
        self.random = random.Random(seed)
        self.faulty = faulty
        self.now = 0.0
        self.boots = 0
        self._events: list[tuple[float, int, Callable[..., object], tuple[object, ...]]] = []
        self._number = count()
        self.main = greenlet.getcurrent()
        self.etcd = FakeEtcd(lambda: self.now)
        self.agents: dict[str, Agent] = {}
        self.disks: dict[str, Disk] = {}
        self.left: list[Disk] = []
        self.gone: dict[str, Disk] = {}
        self.asked: dict[str, tuple[str, float]] = {}
        """Who asks each host, and until when the host sees the request."""
        hosts = [f"h{n}.example" for n in range(8)]
        pages = [(host, n) for host in hosts for n in range(self.random.randint(4, 10))]
        self.chain, self.long = self.random.choice(self.SHAPES)
        self.random.shuffle(pages)
        self.web = {page: [self.random.choice(pages) for _ in range(self.random.randint(1, 5))] for page in pages}
        if self.chain:
            self.web = dict(zip(pages, [[page] for page in pages[1:]] + [[]], strict=True))
        self.seeds = pages[:1] if self.chain else pages[:2]
        self.bad = self.random.choice(self.BAD)
        self.names = count()
        self.log: list[str] = []
        self.viewed = 0
        self.last_with: dict[str, dict[str, float]] = {}
        """The last view that each agent was in."""
        self.plan()

    def plan(self) -> None:
        """Start agents, and choose the times of faults."""
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
        self.boots += 1
        self.say(f"start {name}")
        self.agents[name] = self.made(name, continues=continues)

    def made(self, name: str, *, continues: bool) -> Agent:
        disk = self.disks.setdefault(name, Disk())
        return Agent(self, name, disk, self.boots, continues=continues)

    def kill(self, agent: Agent) -> None:
        agent.ended = True
        del self.agents[agent.name]
        for host, request in agent.requests.items():
            agent.disk.queue.setdefault(host, []).append(request.page)
            if request.sent:
                self.end(agent, host)

    def leave(self, agent: Agent) -> None:
        self.say(f"{agent.name} has left")
        agent.ended = True
        del self.agents[agent.name]
        self.left.append(self.disks.pop(agent.name))

    def fault(self) -> None:
        if not self.agents:
            return
        agent = self.agents[self.random.choice(sorted(self.agents))]
        seconds = self.random.choice([self.random.uniform(1, 15), self.random.uniform(15, 90), self.random.uniform(45, 60)])
        kind = self.random.choice(self.KINDS.split())
        self.say(f"{kind} {agent.name} {seconds:.1f}")
        self.befall(agent, kind, seconds)

    def befall(self, agent: Agent, kind: str, seconds: float) -> None:
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
            case "leave" if len(self.agents) > 1 and not any(each.leaving for each in self.agents.values()):
                agent.leaving = True
            case "join" if len(self.agents) < 5:
                self.start()

    # -- hosts

    def send(self, agent: Agent, host: str, request: Request) -> None:
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

    def end(self, agent: Agent, host: str) -> None:
        if self.asked.get(host, ("",))[0] == agent.name:
            del self.asked[host]

    def carry(self, sender: Agent, to: str, page: Page, epoch: int) -> None:
        receiver = self.agents.get(to)
        taken = receiver is not None and receiver.takes(page, epoch)
        if receiver is not None and not taken:
            sender.unacknowledged[page] = self.now + 0.5
        if taken and not (self.rough() and self.random.random() < 0.02):
            self.after(0.05, sender.acknowledged, page)

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
        here = {page for disk in [*self.disks.values(), *dying] for page in self.crawl_of(disk).done}
        away = {page for disk in self.left for page in self.crawl_of(disk).done} - here
        linked = {*self.seeds, *(page for disk in self.disks.values() for page in self.crawl_of(disk).links)}
        excused = set()
        for name, disk in self.gone.items():
            if name not in self.last_with:  # it was never in
                continue
            owner, done = ring(self.last_with[name]).owner, self.crawl_of(disk).done
            excused |= {page for page in done if page not in linked}  # its links left with an agent
            excused |= {page for page in done if owner(page[0]) != name}  # found by other marks
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

    def crawl_of(self, disk: Disk):
        """Return what has its ``done`` pages and ``links``."""
        return disk

    def describe(self) -> str:
        view = unpack(self.etcd._entries[KEYS.view].pair.value, View) if KEYS.view in self.etcd._entries else None
        idles = {key: unpack(e.pair.value, Idle) for key, e in self.etcd._entries.items() if key.startswith(KEYS.idles)}
        agents = [
            f"{name}: trouble={agent.session.trouble!r} run={agent.session.run} inside={agent.session.state.inside} "
            f"fenced={agent.session.state.fenced(agent.now())} told={agent.session.told_idle} "
            f"state={agent.session.state.agents.get(name)} {self.work_of(agent)}"
            for name, agent in self.agents.items()
        ]
        return "\n".join([*self.log, f"{view}", f"{idles}", *agents])

    def work_of(self, agent: Agent) -> str:
        queued, outbox = len(agent.disk.queue), len(agent.disk.outbox)
        return (
            f"queue={queued} requests={len(agent.requests)} outbox={outbox} search={agent.disk.to_search} mine={agent.mine()}"
        )
