"""SimNode: the `Node` of a crawl, with a frontier, disk and network in memory, for `tests.cluster.simulation`.

What a checkpoint saved and the journal since then are all that is left of a process that dies.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import nullcontext
from copy import copy
from pathlib import Path
from types import SimpleNamespace as Stub
from typing import Any, NamedTuple

import msgspec

from larm.cluster.card import Card
from larm.cluster.identity import Identity
from larm.cluster.node import Node, Wires
from larm.cluster.post import RECIPIENT
from larm.cluster.rows import Wire
from larm.cluster.session import Session
from larm.cluster.terms import Doors, Rule
from larm.cluster.transport import Asked, Refusal
from larm.config import ClusterSettings, Config
from larm.engine.allowance import PageBudget
from larm.engine.limits import Limits
from larm.errors import UsageError
from larm.frontier.host_parts import Pages, decode_part, encode_part
from larm.kit.counters import Counters
from larm.kit.squash import unsquash
from larm.model.message import LOST, URLMessage
from larm.model.url import URLNormalizer
from tests.cluster.session_world import RULES

Page = tuple[str, int]
_wire = msgspec.msgpack.Decoder(Wire)
_parse = URLNormalizer().parse
_messages: dict[Page, URLMessage] = {}


def message_of(page: Page) -> URLMessage:
    if page not in _messages:
        _messages[page] = URLMessage(_parse(f"http://{page[0]}/{page[1]}"), "", 0, 1)
    return _messages[page]


def page_of(message: URLMessage) -> Page:
    return message.url.host, int(message.url.access.rpartition("/")[2])


class Record:
    """A host in a frontier."""

    def __init__(self) -> None:
        self.queue: deque[int] = deque()
        self.seen: dict[int, str] = {}
        """Pages that were found, and the agent that fetched each; empty: it waits."""

    def __copy__(self) -> Record:
        other = Record()
        other.queue, other.seen = self.queue.copy(), self.seen.copy()
        return other


class Crawl:
    """What a checkpoint saves."""

    def __init__(self) -> None:
        self.hosts: dict[str, Record] = {}
        self.links: dict[Page, None] = {}
        self.done: set[Page] = set()
        self.moving: dict[str, tuple[str, str]] = {}
        """Phase and move of each host that moves."""
        self.had: dict[str, str] = {}
        self.away: dict[Page, bool] = {}
        """Pages of hosts that move; True: lost."""
        self.agents: object = None
        self.started = False
        """Start URLs are in it."""

    def __copy__(self) -> Crawl:
        other = Crawl()
        for name, value in vars(self).items():
            setattr(other, name, value.copy() if isinstance(value, dict | set) else value)
        other.hosts = {host: copy(record) for host, record in self.hosts.items()}
        return other


class Disk:
    """``identity``: as it was written last; ``crawl``: the last checkpoint; ``journal``: what came since."""

    def __init__(self, name: str) -> None:
        self.identity = Identity("test", name)
        self.crawl = Crawl()
        self.journal: list[tuple[str, bytes]] = []
        self.taken: set[tuple[str, int, int]] = set()
        """Parcels that were ever in the journal: sender, boot and number of each."""


class Steering:
    """The journal's orders."""

    def __init__(self, disk: Disk) -> None:
        self.recipients: dict[str, Callable[[bytes], object]] = {}
        self.paused, self.policy, self.limits = False, None, Limits(Config())
        self._disk, self._new = disk, deque[tuple[str, bytes]]()

    @property
    def pending(self) -> bool:
        return bool(self._new)

    def deliver(self, name: str, data: bytes) -> None:
        if name == RECIPIENT:
            wire = _wire.decode(unsquash(data, 1_000_000))
            parcel = (wire.sender, wire.boot, wire.seq)
            assert parcel not in self._disk.taken, f"{parcel} is taken twice"
            self._disk.taken.add(parcel)
        self._disk.journal.append((name, data))
        self._new.append((name, data))

    def carry_out(self) -> None:
        while self._new:
            name, data = self._new.popleft()
            self.recipients[name](data)

    def ask_again(self) -> None:
        """The crawl's end is looked at in each tick."""


class SimMoves:
    """Hosts that go to another agent: one part each. See `larm.engine.moves`."""

    def __init__(self, node: SimNode) -> None:
        self._node = node
        self._still: set[str] = set()
        self._quiet: set[str] = set()
        self.me = ""
        node.steering.recipients["moves"] = self._carry_out

    def phase(self, host: str) -> str:
        phase = self._node.crawl.moving.get(host, ("", ""))[0]
        return "still" if phase == "frozen" and host in self._still else phase

    def moving(self) -> dict[str, str]:
        return {host: self.phase(host) for host in self._node.crawl.moving}

    def freeze(self, *hosts: str) -> None:
        self._order("freeze", {host: self._node.number() for host in hosts})

    def thaw(self, host: str) -> None:
        self._order("thaw", host)

    def parts(self, host: str) -> Iterator[bytes]:
        if self.phase(host) != "still":
            raise UsageError(host)
        crawl = self._node.crawl
        record = crawl.hosts.get(host, Record())
        data = msgspec.msgpack.encode((list(record.queue), record.seen))
        yield encode_part(Pages(host, crawl.moving[host][1], 0, [(0, data)]))  # in the real form, which the receiver checks

    def receive(self, *parts: bytes) -> None:
        for part in parts:
            known = decode_part(part)
            if self._node.crawl.had.get(known.host) != known.move:
                if self.phase(known.host) not in ("", "arriving"):
                    raise UsageError(f"{known.host} is {self.phase(known.host)}")
                self._order("receive", part)

    def forget(self, *hosts: str, passes_on: bool = False) -> None:
        for host in hosts:
            if self.phase(host) not in ("still", "arriving"):
                raise UsageError(host)
        self._order("forget", (hosts, passes_on))

    def _order(self, what: str, value: object) -> None:
        self._node.steering.deliver("moves", msgspec.msgpack.encode((what, value)))
        self._node.steering.carry_out()

    def _carry_out(self, data: bytes) -> None:
        crawl, (what, value) = self._node.crawl, msgspec.msgpack.decode(data)
        match what:
            case "freeze":
                for host, move in value.items():
                    crawl.moving.setdefault(host, ("frozen", move))
            case "thaw":
                self._open(value)
            case "forget":
                for host in value[0]:
                    if host in crawl.moving:
                        self._forget(host, passes_on=value[1])
            case "receive":
                part = decode_part(value)
                assert isinstance(part, Pages)
                self._take(part.host, part.move, *msgspec.msgpack.decode(part.rows[0][1], strict=False))

    def _forget(self, host: str, *, passes_on: bool) -> None:
        crawl = self._node.crawl
        record = crawl.hosts.pop(host, Record())
        crawl.had.pop(host, None)
        self._open(host)
        if passes_on:
            self._node.put([message_of((host, number)) for number in record.queue])

    def _take(self, host: str, move: str, queue: Sequence[int], seen: dict[int, str]) -> None:
        crawl = self._node.crawl
        record = crawl.hosts.setdefault(host, Record())
        record.queue += [number for number in queue if number not in record.seen]
        record.seen = seen | {number: by for number, by in record.seen.items() if by or not seen.get(number)}
        record.queue = deque([number for number in record.queue if not record.seen[number]])
        crawl.had[host] = move

    def _open(self, host: str) -> None:
        crawl = self._node.crawl
        crawl.moving.pop(host, None)
        self._still.discard(host)
        back = {page: lost for page, lost in crawl.away.items() if page[0] == host}
        for page in back:
            del crawl.away[page]
        self._node.put([_known(page, lost=lost) for page, lost in back.items()])

    def cut(self) -> None:
        node = self._node
        busy = () if node.switch == "release_in_flight" else node.requests
        self._quiet = {host for host in node.crawl.moving if host not in busy}

    def saved(self) -> None:
        self._still |= self._quiet & self._node.crawl.moving.keys()


def _known(page: Page, *, lost: bool) -> URLMessage:
    return msgspec.structs.replace(message_of(page), known=LOST) if lost else message_of(page)


class Net(NamedTuple):
    """What a node needs of its world."""

    now: Callable[[], float]
    ask: Callable[[SimNode, str, Asked, Callable[[bytes | None], object]], object]
    """Send a request to an agent."""
    fail: Callable[[str], object]
    number: Callable[[], str]
    """Unique."""
    ring: Any
    starts: Sequence[Page]


class SimNode(Node):
    """A process."""

    def __init__(self, disk: Disk, session: Session, net: Net, boot: int, switch: str) -> None:
        self.disk, self.net, self.number, self.switch = disk, net, net.number, switch
        self.requests: dict[str, Any] = {}
        self.crawl = copy(disk.crawl)
        self.steering = Steering(disk)
        self.hurried = True
        self._last_cut: tuple[Crawl, int] | None = None
        identity = msgspec.structs.replace(disk.identity, boots=boot)
        fence: Any = Stub(until=0.0)
        fence.left = lambda: fence.until - net.now()
        shared: Any = Stub(
            clock=Stub(wall=net.now),
            counters=Counters(),
            gate=Stub(step=nullcontext),
            bell=Stub(ring=net.fail),
            ticker=Stub(hurry=self._hurry_up),
            tally=self,
        )
        doors = Doors(
            shared=shared,
            steering=self.steering,  # type: ignore[arg-type]
            store=Stub(),  # type: ignore[arg-type]
            key=str,
            links=lambda: iter([message_of(page) for page in (*net.starts, *self.crawl.links)]),
            parse=_parse,
            fetched=self._fetched,
            kept=lambda _: {},
            now=net.now,
            log=lambda _: None,
            note=lambda _: None,
            directory=Path(),
            stored=Path(),
            fence=fence,
            records=(),
        )
        rule = Rule("test", disk.identity.name, RULES, ClusterSettings(recover=0))
        server: Any = Stub(address="there")
        wires = Wires(session, lambda *_: server, None, None)
        super().__init__(rule, identity, Path(), wires, doors, known=disk.crawl.agents)
        self._client._http._loop.close()
        self._line.ask = self._ask  # type: ignore[method-assign]
        together: Any = Stub(
            step=lambda *_: None, leave_alone=lambda *_: None, hear=lambda _: None, card=Card(), take=lambda _: None
        )
        self.together = together
        self._search._placement = net.ring
        handler = Stub(put=self.put, keeps_up=lambda: True)
        frontier: Any = Stub(handler=handler, book=Stub(known=lambda: list(self.crawl.hosts)))
        self.moves = SimMoves(self)
        self.take(frontier, lambda: None, self.moves, PageBudget(None, 0))  # type: ignore[arg-type]
        for name, data in list(disk.journal):
            self.steering.recipients[name](data)
        self.write()

    # -- the crawl

    @property
    def value(self) -> int:
        """See `Tally`."""
        waiting = sum(len(record.queue) for record in self.crawl.hosts.values())
        return waiting + len(self.requests) + len(self.crawl.away)

    def put(self, messages: Sequence[URLMessage]) -> None:
        """As the handler: through the filters into queues."""
        for message in self.owners.sift(messages, lambda *_: None):
            page, lost = page_of(message), message.known == LOST
            host, number = page
            if host in self.crawl.moving:
                self.crawl.away[page] = lost
                continue
            record = self.crawl.hosts.setdefault(host, Record())
            asked = host in self.requests and self.requests[host].page == page
            if number not in record.seen or (lost and record.seen[number] and not asked):
                record.seen[number] = ""
                record.queue.append(number)

    def put_starts(self) -> None:
        """Of an agent that starts for the first time."""
        self.crawl.started = True
        self.put([message_of(page) for page in self.net.starts])

    def fetched(self, page: Page, links: Sequence[Page]) -> None:
        """A request has ended."""
        host, number = page
        self.crawl.done.add(page)
        self.crawl.hosts.setdefault(host, Record()).seen[number] = self.me
        self.crawl.links.update(dict.fromkeys(links))
        self.put([message_of(each) for each in links])

    def give_back(self, page: Page) -> None:
        """A request was ended at the fence."""
        self.crawl.hosts.setdefault(page[0], Record()).queue.append(page[1])

    def leases(self) -> Iterator[str]:
        """Hosts of which a page may be asked for now."""
        if self.may_lease():
            for host, record in list(self.crawl.hosts.items()):
                if record.queue and host not in self.requests and host not in self.crawl.moving:
                    yield host

    def _fetched(self, members: Container[str]) -> Iterator[list[URLMessage]]:
        by_others = [
            _known((host, number), lost=True)
            for host, record in self.crawl.hosts.items()
            for number, by in record.seen.items()
            if by and by not in members
        ]
        yield by_others

    # -- the disk

    def _hurry_up(self) -> None:
        self.hurried = True

    def begin_checkpoint(self) -> None:
        self.hurried = False
        self.moves.cut()
        crawl = copy(self.crawl)
        crawl.agents = self.cut(last=False)
        for host, request in self.requests.items():  # it is queued in a checkpoint
            crawl.hosts.setdefault(host, Record()).queue.append(request.page[1])
        self._last_cut = crawl, len(self.disk.journal)

    def end_checkpoint(self) -> None:
        assert self._last_cut is not None
        self.disk.crawl, length = self._last_cut
        del self.disk.journal[:length]
        self.moves.saved()
        self.saved()

    def write(self) -> None:
        """As `_write`."""
        session, agent = self._wires.session, self.agent
        inside = self._identity.inside or session.state.inside
        self._identity = msgspec.structs.replace(
            self._identity, epoch=agent.epoch, gone=agent.wanted, inside=inside, session=session.saved
        )
        self.disk.identity = self._identity
        session.unsaved = False

    _write = write

    # -- the network

    def _ask(self, name: str, kind: str, payload: bytes, on_answer: Callable[[bytes | None], object]) -> None:
        if not self._address_of(name):
            on_answer(None)
            return
        self.net.ask(self, name, Asked(kind, self._origin(), payload), on_answer)

    def answer(self, asked: Asked) -> bytes | None:
        found = self._asked(asked)
        return None if isinstance(found, Refusal) else found

    def _say(self, now: float) -> None:
        super()._say(now)
        self._mine = self._mine._replace(figures=b"")
