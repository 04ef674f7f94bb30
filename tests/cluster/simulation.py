"""A cluster without network, disk or time: it drives the very `Agent` of a crawl, and breaks whatever can break.

The world is made by a seed: hosts with pages that link to others, and a fate for each agent and each link: crashes with and
without return, suspensions, links that are cut in one direction or both, agents that come and go. An agent's disk has what its
last checkpoint had, and its journal. Checked all the time: nobody asks a host that another agent may ask. At the end: those
that are left have every page, and none of them said "over" before that.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from larm.cluster.agent import Agent, Received
from larm.cluster.beat import Beat
from larm.cluster.courier import Answer, Courier, Parcel, Row
from larm.cluster.inbox import Inbox
from larm.cluster.membership import Membership, Rules, Saved
from larm.cluster.placement import HashRing

CHECKPOINT = 5.0
Page = tuple[str, int]


def _may_ask(membership: Membership, host: str, now: float) -> bool:
    is_ours = membership.inside and membership.owner(host) == membership.me
    return is_ours and not membership.fenced(now) and membership.opened(host, now)


class Memory:
    """A queue of rows in memory."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self.rows = deque(rows)

    def put_many(self, items: Sequence[Row]) -> None:
        self.rows.extend(items)

    def put_front(self, items: Sequence[Row]) -> None:
        self.rows.extendleft(reversed(items))

    def take(self, count: int) -> list[Row]:
        return [self.rows.popleft() for _ in range(min(count, len(self.rows)))]

    def __len__(self) -> int:
        return len(self.rows)


class Host:
    """What a frontier has of a host."""

    def __init__(self) -> None:
        self.queue: deque[int] = deque()
        self.seen: dict[int, str] = {}
        """Each page that was found, and the agent that has fetched it, or will."""
        self.again: set[int] = set()
        """Of those that wait, pages that a dead agent had, whatever is said of them later."""

    def copy(self) -> Host:
        other = Host()
        other.queue, other.seen, other.again = deque(self.queue), dict(self.seen), set(self.again)
        return other


class Disk(NamedTuple):
    """What is left of a process that died."""

    hosts: dict[str, Host]
    rows: dict[str, list[Row]]
    marks: object
    pages: set[Page]
    links: set[Page]


class Process:
    """One agent's process: `Agent`, and a frontier that fetches a page a second of each host."""

    def __init__(
        self, world: World, name: str, boot: int, saved: Saved, disk: Disk, journal: list[Received], founder: bool
    ) -> None:
        self.world = world
        self.name = name
        self.hosts, self.pages, self.links = disk.hosts, disk.pages, disk.links
        self.ready = dict.fromkeys(host for host, record in self.hosts.items() if record.queue)
        self.boot = boot
        now = world.now
        membership = Membership(name, boot, 1.0, world.rules, saved=saved, now=now, founder=founder, placement=world.ring)
        self.queues = {to: Memory(rows) for to, rows in disk.rows.items()}
        courier = Courier(membership, lambda to: self.queues.setdefault(to, Memory()), most=50)
        for to, rows in disk.rows.items():
            self.queues[to] = Memory()
            courier.restore(to, rows)
        self.agent = Agent(membership, courier, Inbox(disk.marks), lambda: not self.ready, saved.gone)
        self.agent.acquaintances = set(world.names) - {name}
        self.journal = list(journal)
        self.started = membership.begun and boot >> 32 > 1
        for received in self.journal:
            self.deliver(self.agent.carry_out(received, now))
        self.journal.clear()
        self.stepped = self.began = now
        self.unsaved: list[Page] = []
        """What was fetched since the last checkpoint."""
        self.left_at: float | None = None

    def membership(self) -> Membership:
        return self.agent.membership

    def saved(self) -> None:
        if self.membership().unsaved:
            self.membership().unsaved = False
            self.world.saved[self.name] = self.agent.saved

    def checkpoint(self) -> None:
        rows = {name: list(queue.rows) for name, queue in self.queues.items()}
        for name, out in self.agent.courier.out().items():
            rows[name] = out + rows.get(name, [])
        hosts = {host: record.copy() for host, record in self.hosts.items()}
        self.world.disks[self.name] = Disk(hosts, rows, self.agent.inbox.cut(), set(self.pages), set(self.links))
        self.world.journals[self.name] = []
        self.unsaved.clear()
        self.agent.cut()
        self.agent.cut_saved()
        self.saved()

    def deliver(self, rows: Sequence[Row]) -> None:
        for row in rows:
            record = self.hosts.setdefault(row.host, Host())
            if row.moves:
                seen, queue = row.item
                done = {number: by for number, by in seen.items() if number not in queue and number not in record.again}
                record.queue = deque([number for number in record.queue if number not in done])
                record.queue.extend([number for number in seen if number not in done and number not in record.seen])
                record.seen |= {
                    number: done.get(number, self.name) for number in seen if number not in record.seen or number in done
                }
            elif isinstance(row.item, str):
                self.ask_again(record, int(row.item))
            elif row.item not in record.seen:
                record.seen[row.item] = self.name
                record.queue.append(row.item)
            self.note(row.host)

    def put(self, pages: Sequence[Page]) -> None:
        if self.membership().view.epoch:
            self.deliver(self.agent.put([Row(host, number) for host, number in pages], self.world.now))

    def begin(self) -> None:
        if not self.started and self.membership().begun:
            self.started = True
            self.links |= set(self.world.starts)
            self.put(self.world.starts)

    def crawl(self) -> None:
        """Ask some hosts for a page each."""
        now = self.world.now
        membership = self.membership()
        if membership.fenced(now) or self.agent.must_release:
            return
        for host in list(self.ready)[: self.world.pace]:
            if not _may_ask(membership, host, now):
                continue
            record = self.hosts[host]
            number = record.queue.popleft()
            record.again.discard(number)
            if not record.queue:
                self.ready.pop(host)
            self.world.asked(self, host, number)
            self.pages.add((host, number))
            self.unsaved.append((host, number))
            found = self.world.linked(host, number)
            self.links.update(found)
            self.put(found)

    def let_go(self) -> None:
        """Hand over what is not ours any more, and find again what a dead agent had."""
        agent, now = self.agent, self.world.now
        membership = self.membership()
        if agent.must_release and membership.view.epoch:
            moved = [host for host in self.hosts if membership.owner(host) != self.name]
            rows = [row for host in moved for row in self.parting(host)]
            for host in moved:
                del self.hosts[host]
                self.ready.pop(host, None)
            self.deliver(agent.put(rows, now))
            if rows:
                self.checkpoint()  # nobody must be told that a page was fetched before it is on our disk
            agent.released()
        self.deliver(agent.reopened(now))
        for gone in agent.orphaned(now):
            owner = self.world.ring(gone.before.members).owner
            self.put([page for page in sorted(self.links) if not gone.name or owner(page[0]) == gone.name])
            members = {*membership.view.members, self.name}
            again = [
                (host, number)
                for host, record in self.hosts.items()
                for number, by in record.seen.items()
                if gone.name and by not in members and number not in record.queue
            ]
            self.deliver(agent.put([Row(host, str(number)) for host, number in again], now))

    def left(self) -> bool:
        """It leaves as planned, has nothing any more, and all others had the time to hear of it."""
        agent, now = self.agent, self.world.now
        if not agent.membership.leaving or agent.membership.inside or agent.must_release or agent.courier.waiting:
            self.left_at = None
        elif self.left_at is None:
            self.left_at = now
        return self.left_at is not None and now - self.left_at >= 3 * self.world.rules.lease

    def ask_again(self, record: Host, number: int) -> None:
        record.seen[number] = self.name
        if number not in record.queue:
            record.queue.append(number)
            record.again.add(number)

    def note(self, host: str) -> None:
        if self.hosts[host].queue:
            self.ready.setdefault(host)
        else:
            self.ready.pop(host, None)

    def parting(self, host: str) -> list[Row]:
        """What is said of a host that is not ours any more: all; by an agent that was removed, only which pages there are."""
        record = self.hosts[host]
        if self.membership().inside or self.membership().leaving:
            return [Row(host, (dict(record.seen), list(record.queue)), 0, True)]
        return [Row(host, number) for number in record.seen]


class World:
    """Time, links, disks and fates, made by a seed."""

    def __init__(
        self, seed: int, agents: int, hosts: int, rules: Rules, *, pages: int = 3, pace: int = 50, checks: int = 1
    ) -> None:
        self.chance = random.Random(seed)
        self.rules = rules
        self.pace = pace
        self.pages = pages
        self.checks = checks
        self.now = 0.0
        self.events: list[tuple[float, int, Callable[[], object]]] = []
        self.number = 0
        self.names = [f"agent-{number:02}" for number in range(agents)]
        self.hosts = [f"h{number}.example" for number in range(hosts)]
        self.starts: list[Page] = [(host, 0) for host in self.hosts[:3]]
        self.saved: dict[str, Saved] = {}
        self.disks: dict[str, Disk] = {}
        self.journals: dict[str, list[Received]] = {}
        self.boots: Counter[str] = Counter()
        self.running: dict[str, Process] = {}
        self.asleep: dict[str, float] = {}
        self.cut: set[tuple[str, str]] = set()
        self.fetched: Counter[Page] = Counter()
        self.last: dict[str, str] = {}
        self.over: dict[str, float] = {}
        self.died: dict[str, tuple[float, set[Page]]] = {}
        self.lost_for_good: set[str] = set()
        self.left: set[str] = set()
        self.by: dict[str, set[Page]] = {}
        """Pages by the agents that have fetched them."""
        self.again: Counter[Page] = Counter()
        """How often each page may be fetched once more, by what has happened."""
        self.newest: Mapping[str, float] = {}
        self.epoch = 0
        self.deaths = 0
        self.leaving: dict[str, Mapping[str, float]] = {}
        """Who is out as planned, and the members before that."""
        self.asks = 0
        self.sent = 0
        self.rings: dict[frozenset[str], HashRing] = {}
        self.seed = seed

    # -- the web

    def linked(self, host: str, number: int) -> list[Page]:
        at = int(host[1:].partition(".")[0])
        chance = random.Random(f"{self.seed}/{host}/{number}")
        found = [(f"h{(2 * at + n) % len(self.hosts)}.example", 0) for n in (1, 2)]
        found += [(chance.choice(self.hosts), chance.randrange(self.pages)) for _ in range(2)]
        return found + ([(host, number + 1)] if number + 1 < self.pages else [])

    def all_pages(self) -> set[Page]:
        found = set(self.starts)
        left = list(found)
        while left:
            for page in self.linked(*left.pop()):
                if page not in found:
                    found.add(page)
                    left.append(page)
        return found

    def ring(self, members: Mapping[str, float]) -> HashRing:
        """What each agent would compute; once for all of them."""
        key = frozenset(members)
        if key not in self.rings:
            while len(self.rings) >= 50:  # each remembers all hosts
                del self.rings[next(iter(self.rings))]
            self.rings[key] = HashRing(members)
        return self.rings[key]

    # -- what is checked

    def asked(self, process: Process, host: str, number: int) -> None:
        self.fetched[host, number] += 1
        self.by.setdefault(process.name, set()).add((host, number))
        self.asks += 1
        if self.asks % self.checks:
            return
        for name, other in self.running.items():
            if name != process.name:
                assert not _may_ask(other.membership(), host, self.now), (
                    f"seed {self.seed}, {self.now:.2f} s: {process.name} asks {host}, and {name} may as well"
                )

    def check_view(self, process: Process) -> None:
        """Of an agent that is given up, others fetch again what it has fetched, and what it knew of its hosts, whoever had
        fetched that; and what those have fetched who had gone before. Of one who leaves as planned nothing.
        """
        view = process.membership().view
        if view.epoch > self.epoch:
            for name in self.newest.keys() - view.members.keys():
                other, before = self.running.get(name), self.newest
                if other is None or not other.membership().leaving or name in self.asleep or self.cut:
                    self.lose(name, before)
                else:
                    self.leaving[name] = before
            self.epoch, self.newest = view.epoch, view.members

    def lose(self, name: str, before: Mapping[str, float]) -> None:
        """``before``: the members when it was one."""
        self.deaths += 1
        owner = self.ring(before).owner
        gone = [pages for other, pages in self.by.items() if other not in self.newest or other == name]
        self.again.update({page for page in self.fetched if owner(page[0]) == name}.union(*gone))

    def beyond(self) -> dict[Page, int]:
        """Pages that were fetched more often than that."""
        return {page: times for page, times in self.fetched.items() if times > 1 + self.again[page]}

    def check_over(self, name: str) -> None:
        """The first who says so must be right."""
        if not self.over:
            have: set[Page] = set()
            for each in self.running[name].membership().view.members:
                died, pages = self.died.get(each, (0.0, set()))
                assert each in self.running or self.now - died < 8, (
                    f"seed {self.seed}: over without {each}, which died at {died}"
                )
                have |= self.running[each].pages if each in self.running else pages
            handed = set().union(*(disk.pages for each, disk in self.disks.items() if each not in self.lost_for_good))
            missing = self.all_pages() - have - handed
            assert not missing, (
                f"seed {self.seed}, {self.now:.2f} s: {name} says it is over without {len(missing)} pages: {list(missing)[:3]}"
            )
        self.over.setdefault(name, self.now)

    # -- time

    def at(self, when: float, what: Callable[[], object]) -> None:
        self.number += 1
        heapq.heappush(self.events, (when, self.number, what))

    def run(self, until: float) -> bool:
        """True: all agents that run have found the end."""
        while self.events and self.now < until:
            self.now, _, what = heapq.heappop(self.events)
            what()
            if self.over and all(name in self.over for name in self.running if self.running[name].membership().inside):
                return True
        return False

    # -- agents

    def start(self, name: str) -> None:
        if name in self.running or name in self.lost_for_good or name in self.left:
            return
        self.boots[name] += 1
        boot = self.boots[name] << 32 | self.chance.getrandbits(32)
        last = self.disks.get(name) or Disk({}, {}, None, set(), set())
        hosts = {host: record.copy() for host, record in last.hosts.items()}
        disk = Disk(hosts, last.rows, last.marks, set(last.pages), set(last.links))
        saved = self.saved.get(name, Saved())
        journal = self.journals.setdefault(name, [])
        process = self.running[name] = Process(self, name, boot, saved, disk, journal, name == self.names[0])
        process.checkpoint()
        self.at(self.now + self.chance.random(), lambda: self.step(process))

    def kill(self, name: str) -> None:
        process = self.running.pop(name, None)
        if process is not None:
            self.died[name] = (self.now, process.pages)
            self.again.update(process.unsaved)
            if name in self.leaving and not process.left():
                self.lose(name, self.leaving.pop(name))
        self.asleep.pop(name, None)
        self.over.pop(name, None)

    def step(self, process: Process) -> None:
        if self.running.get(process.name) is not process:
            return
        wakes = self.asleep.get(process.name, 0.0)
        if wakes > self.now:
            self.at(wakes, lambda: self.step(process))
            return
        self.at(self.now + 0.5, lambda: self.step(process))
        agent = process.agent
        process.crawl()
        for name, beat in agent.tick(self.now):
            process.saved()
            self.send(process.name, name, lambda beat=beat: beat)
        process.let_go()
        self.check_view(process)
        process.begin()
        process.saved()
        for parcel in agent.courier.due(self.now):
            self.post(process, parcel)
        if self.now - process.stepped > CHECKPOINT:
            process.stepped = self.now
            process.checkpoint()
        if process.membership().over:
            self.check_over(process.name)
        elif process.left():
            process.checkpoint()
            self.kill(process.name)
            self.left.add(process.name)
            self.again.update(self.by.get(process.name, ()) if self.deaths else ())  # some may learn of a death only now

    def passes(self, sender: str, to: str) -> bool:
        return (sender, to) not in self.cut and to in self.running

    def delay(self) -> float:
        return 0.002 + self.chance.random() * 0.05

    def send(self, sender: str, to: str, beat: Callable[[], Beat]) -> None:
        """A beat, and what is answered."""
        said = beat()
        if not self.passes(sender, to):
            return

        def arrive() -> None:
            other = self.running.get(to)
            if other is None:
                return
            if self.asleep.get(to, 0.0) > self.now:
                self.at(self.asleep[to] + self.delay(), arrive)
                return
            answer = other.agent.hear(said, self.now)
            other.saved()
            if answer is None or not self.passes(to, sender):
                return

            def back() -> None:
                process = self.running.get(sender)
                if process is None:
                    return
                if self.asleep.get(sender, 0.0) > self.now:
                    self.at(self.asleep[sender] + self.delay(), back)
                    return
                process.agent.hear(answer, self.now)
                process.saved()

            self.at(self.now + self.delay(), back)

        self.at(self.now + self.delay(), arrive)

    def post(self, process: Process, parcel: Parcel) -> None:
        """A parcel: taken into the journal of who gets it, and answered; or nothing comes back."""
        received = Received(process.name, process.boot, parcel.seq, parcel.low, tuple(parcel.rows))

        def answer(said: Answer | None) -> None:
            if self.running.get(process.name) is process:
                if said is not None and said.taken:
                    self.sent += len(parcel.rows)
                process.agent.courier.answered(parcel, said, self.now)

        def arrive() -> None:
            other = self.running.get(parcel.to)
            if other is None or self.asleep.get(parcel.to, 0.0) > self.now or not other.membership().view.epoch:
                self.at(self.now + 1.0, lambda: answer(None))
                return
            said = other.agent.knows(received.sender, received.boot, received.seq)
            if said is None:
                self.journals[parcel.to].append(received)
                other.deliver(other.agent.carry_out(received, self.now))
                said = Answer(taken=True, credit=other.agent.credit)
            heard = self.passes(parcel.to, process.name)
            self.at(self.now + self.delay(), lambda: answer(said if heard else None))

        if self.passes(process.name, parcel.to):
            self.at(self.now + self.delay(), arrive)
        else:
            self.at(self.now + 1.0, lambda: answer(None))
