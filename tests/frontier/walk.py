"""A whole crawl of one made-up web without network, threads and robots.txt: the real queues, records and rounds, in steps."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from larm.frontier.traps.limits import TrapRules
from larm.index.duplicates.novelty import NoveltyJudge
from larm.kit.disk.block_store import BlockStore
from larm.model.document import Document, Visit
from larm.model.lease import Lease
from larm.model.message import START, URLMessage
from larm.model.novelty import Novelty
from larm.model.outcome import Fetched, Timing
from larm.parse.html import read as read_html
from larm.parse.lexbor_tree import read_tree
from larm.testing.fakes import url
from tests.frontier.rig import Rig, of, ok
from tests.support.webs.named import NamedWeb, Page, host_of, rendered, resolved

BATCH = 1_000
"""Links that are judged together, as by the handler."""


class Read(NamedTuple):
    """What a page says."""

    links: Sequence[str] = ()
    """Access URLs."""
    new: bool = False
    """Something that no other page has said."""
    simhash: int = 0
    spoken: frozenset[str] = frozenset()
    """Parameters whose values it says."""
    named: bool = False
    """Its title is its own."""


Web = Callable[[str], Read | None]
"""What stands at an address; None: no page."""


def read_by_larm(named: NamedWeb) -> Web:
    """The judgement is that of a crawl: of titles and texts, in the order in which they come."""
    judge = NoveltyJudge()

    def read(address: str) -> Read | None:
        answer = named.answer(address)
        links = [resolved(address, link) for link in answer.targets]
        if not isinstance(answer, Page):
            return Read(links, new=True)
        if answer.status != 200:
            return None
        body = rendered(answer, 80).body
        page = read_html(Fetched(200, {"content-type": "text/html"}, body, Timing()), "text/html", read_tree)
        document = Document("text/html", page.title, page.text, other_text=page.other, headings=tuple(page.headings))
        [(_, novelty)] = judge.judge([Visit(page="", url=url(address), document=document)])
        return Read(links, not novelty.stale, novelty.simhash, novelty.spoken, novelty.named)

    hosts = frozenset(named.hosts)

    def within(address: str) -> Read | None:
        found = read(address)
        return found and found._replace(links=[link for link in found.links if host_of(link) in hosts])

    return within


class Walk:
    """One crawl, of one process or of several."""

    def __init__(
        self,
        store: BlockStore,
        web: Web,
        starts: Sequence[str],
        settings: TrapRules | None = None,
        *,
        order: random.Random | None = None,
        batch: int = BATCH,
        block: int = 7,
        leases: int = 1,
        unread: int = 0,
    ) -> None:
        """``order``: by chance, who of handler and fetchers comes next; without it, the handler. ``block``: of queues.

        ``unread``: the fetchers are ahead of who reads what they bring by so many pages, where they may be.
        """
        self.web = web
        self.starts = list(starts)
        self.settings = settings or TrapRules()
        self.order = order
        self.batch = batch
        self.leases = leases
        self.ahead = unread
        self.unread: deque[Lease] = deque()
        self.seen: set[int] = set()
        self.fetched: Counter[str] = Counter()
        self.incoming: deque[URLMessage] = deque()
        self.out: list[Lease] = []
        hosts = {host_of(start) for start in starts}
        self.rig = Rig(store, of(host_block=block, per_host=leases), traps=self.settings, starts=sorted(hosts))
        self.hosts = sorted(hosts)
        self._put([URLMessage(url(start)) for start in starts])

    # -- the steps

    def step(self) -> bool:
        """One of them; False: the crawl has come to its end."""
        found = (self._lease, self._answer, self._judge, self._end, self._decide)
        steps = [
            step for step in (found if self.ahead else (self._judge, self._end, self._lease, self._decide)) if self._can(step)
        ]
        if not steps:
            assert self.rig.tally.value == 0, "it waits for nothing"
            return False
        (self.order.choice(steps) if self.order else steps[0])()
        return True

    def run(self, most: int = 1_000_000, between: Callable[[Walk], object] = lambda _: None) -> Walk:
        """Up to the end, or till so many pages were fetched. ``between``: called between two steps."""
        while self.fetched.total() < most and self.step():
            between(self)
        return self

    def _can(self, step: Callable[[], None]) -> bool:
        if step == self._judge:
            return bool(self.incoming)
        if step == self._answer:
            return bool(self.out) and len(self.unread) < self.ahead
        if step == self._end:
            return bool(self.unread if self.ahead else self.out)
        if step == self._lease:
            return len(self.out) < self.leases and self.rig.queues.seconds_to_next() == 0
        return bool(self.rig.at_rest) and not self.incoming

    def _judge(self) -> None:
        batch = [self.incoming.popleft() for _ in range(min(self.batch, len(self.incoming)))]
        new = []
        for message in batch:
            if message.url.fingerprint not in self.seen:
                self.seen.add(message.url.fingerprint)
                new.append(message)
        self._pass(self.rig.traps.sift(new, lambda *_: None), len(batch))

    def _pass(self, passing: Sequence[URLMessage], number: int) -> None:
        self.rig.queues.add(passing)
        self.rig.tally.fall(number - len(passing))

    def _lease(self) -> None:
        self.out += self.rig.queues.lease(self.leases - len(self.out))

    def _answer(self) -> None:
        self.unread.append(self.out.pop(0))
        self.rig.queues.answered([(self.unread[-1], ok())])

    def _end(self) -> None:
        place = self.order.randrange(len(self.out)) if self.order else 0
        lease = self.unread.popleft() if self.ahead else self.out.pop(place)
        address = lease.message.url.access
        self.fetched[address] += 1
        found = self.web(address)
        if found is not None:
            message = lease.message
            novelty = Novelty(message.url, message.referrer, not found.new, found.simhash, found.spoken, found.named)
            self.rig.traps.learn([novelty])
            links = [URLMessage(url(link), address, depth=message.depth + 1, stale=not found.new) for link in found.links]
            self._put(links)
        self.rig.end(lease, ok())

    def _decide(self) -> None:
        for host in list(dict.fromkeys(self.rig.at_rest)):
            self.rig.at_rest.remove(host)
            for released in self.rig.traps.decide(host):
                self._pass(released, len(released))
        self.rig.turns.announce()

    def _put(self, messages: Sequence[URLMessage]) -> None:
        self.rig.tally.rise(len(messages))
        self.incoming.extend(messages)

    # -- the next process

    def restart(self, settings: TrapRules | None = None, *, parked: bool = False, starts: Sequence[str] = ()) -> Walk:
        """It is stopped, and goes on; what is in the air is asked for again. ``starts``: further ones."""
        self.out.clear()
        self.rig.save()
        self.settings = settings or self.settings
        self.hosts = sorted({*self.hosts, *map(host_of, starts)})
        self.rig = self.rig.load(traps=self.settings, starts=self.hosts, release=parked)
        self.rig.tally.rise(len(self.incoming))
        named = [URLMessage(url(start), START) for start in starts]
        pulled = self.rig.traps.pull(named)
        self.rig.tally.rise(len(pulled))
        self.rig.queues.add(pulled)
        self._put(named)
        self.rig.turns.announce()
        return self

    # -- what came of it

    @property
    def held(self) -> Counter[str]:
        """Addresses that are held back."""
        found: Counter[str] = Counter()
        for host in self.rig.all_hosts():
            for record in host.traps.records.values() if host.traps else ():
                found.update(message.url.access for message in record.parked or ())
            for access in list(found) if host.traps else ():
                found[access] -= url(access).fingerprint in host.traps.pulled if host.traps else 0
        return +found

    @property
    def over(self) -> int:
        """Addresses that are lost, as too many are held back."""
        return sum(host.traps.over for host in self.rig.all_hosts() if host.traps)

    @property
    def states(self) -> dict[str, int]:
        """Of patterns, how many are in each state that hold something back."""
        return dict(Counter(each.state for left in self.rig.traps.left() for each in left.patterns if each.urls))

    def check_soon(self) -> None:
        """As `check`, while some still wait."""
        assert set(self.fetched.values()) <= {1}
        assert not set(self.held) & set(self.fetched)

    def check(self) -> None:
        """Nothing is lost without being counted, and nothing is asked for twice."""
        held = self.held
        assert set(self.fetched.values()) <= {1}
        assert set(held.values()) <= {1}
        assert not set(held) & set(self.fetched)
        assert held.total() + self.fetched.total() + self.over == len(self.seen)
        assert self.rig.traps.held_back == held.total()


def replaced(settings: TrapRules | None = None, **changes: object) -> TrapRules:
    """Settings with other values."""
    return msgspec.structs.replace(settings or TrapRules(), **changes)
