"""Spreading: brings each item to its owners, from its author or another owner (YACY-28 to 31). On ``larm-network-share``.

First hand-over, repair after a loss, renewal and withdrawal are one mechanism: go through the shelf, and offer each item to
its owners that are not known to have it. Headers are offered first; bodies follow on request. So an interrupted transfer is
repeated, and no peer gets a body twice.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from larm.fetch.http_client import NoAnswer
from larm.peers.yacy.greeting import Greeting
from larm.peers.yacy.item import LARGEST, Header, Item
from larm.peers.yacy.node import Node
from larm.peers.yacy.questions import HAND, MOST_HEADERS, OFFER, Hand, Handed, Offer, Offered

_LOOK = 500
"""Number of items in one step."""
_AT_A_TIME = 10
"""Number of transfers at a time (YACY-31)."""
_SECONDS = 15.0
_LATER = 600.0
"""Seconds after which a refused item is offered again: that peer may have known other owners, or have been full."""
_BELIEVED = 86_400.0
"""Seconds for which a peer is believed to have an item: it may have lost its disk unnoticed."""
_COUNTED = 600.0
"""Seconds between two counts of the shelf, as each reads much of it; sooner if its size has changed."""
_OTHER = 8
"""Part of the size that counts as a change. A peer that is being filled reports it at once, since others rank by it."""
_IDLE = 30.0
"""Seconds between two passes through the shelf (YACY-31)."""


class Spreading:
    """The transfers of one node."""

    def __init__(self, node: Node, greeting: Greeting) -> None:
        # constant after construction
        self._node = node
        self._greeting = greeting
        # only the node's thread, and those that carry out its transfers, each for another peer
        self._next = float("-inf")
        self._after = 0
        self._settled: dict[str, dict[int, int]] = {}
        """For each peer the items that it has, with the time of their headers: a few dozen bytes each."""
        self._asked_anew = node.now()
        self._counted = float("-inf")
        self._size = 0
        """Bytes of the shelf at the last count."""
        self._later: dict[tuple[int, str], float] = {}
        self.waiting = True
        """True if an owner lacked an item in the last pass."""

    def tick(self) -> None:
        """Do the next step through the shelf, with its transfers."""
        node = self._node
        with node.lock:
            appeared, node.membership.appeared = node.membership.appeared, set()
            for (
                each
            ) in appeared:  # nobody knows what they have; a look that has begun goes on, or it would never come to its end
                self._settled.pop(each, None)
                self.waiting = True
            if node.now() < self._next or not node.mode.shares or node.stealthy:
                return
        self._round()

    def hurry(self) -> None:
        """Begin a pass now, as there are new items."""
        self._next, self._after, self.waiting = float("-inf"), 0, True
        self._counted = float("-inf")

    def _round(self) -> None:
        node = self._node
        with node.lock:
            if not self._after:
                node.shelf.expire(node.now(), {seed.key for seed in node.membership.known})
                self._count()
                self.waiting = False
                if node.now() - self._asked_anew > _BELIEVED:
                    self._settled.clear()
                    self._asked_anew = node.now()
                self._later = {each: at for each, at in self._later.items() if at > node.now()}
                self._settled = {each: items for each, items in self._settled.items() if node.membership.is_active(each)}
            rows = node.shelf.headers(self._after, _LOOK)
            plan = self._plan(rows)
        if not rows:
            self._after, self._next = 0, node.now() + _IDLE
            return
        self._after = rows[-1][0]
        targets = sorted(plan)
        for at in range(0, len(targets), _AT_A_TIME):
            node.together([partial(self._bring, each, plan[each]) for each in targets[at : at + _AT_A_TIME]])

    def _count(self) -> None:
        """Count the shelf for the own seed. Under the node's lock."""
        node, size = self._node, self._node.shelf.counts[1]
        if node.now() >= self._counted + _COUNTED or abs(size - self._size) > self._size / _OTHER:
            self._counted, self._size = node.now(), size
            node.words, node.pages, node.length = node.shelf.words, node.shelf.own_pages(), node.shelf.reader.length()

    def _plan(self, rows: Sequence[tuple[int, Header]]) -> dict[str, list[tuple[int, Header]]]:
        """Return the items to be offered to each peer. Under the node's lock."""
        node, plan = self._node, dict[str, list[tuple[int, Header]]]()
        ring = node.ring_locked()
        done = []
        for number, header in rows:
            owners = ring.owners_between(header.first, header.last, node.redundancy)
            missing = [each for each in owners if each != node.hash and not self._has(each, number, header)]
            for each in missing:
                if self._later.get((number, each), 0.0) <= node.now():
                    plan.setdefault(each, []).append((number, header))
            if not missing and len(owners) >= node.redundancy and node.hash not in owners and header.author != node.key:
                done.append(number)
        node.shelf.let_go(done)
        self.waiting = self.waiting or bool(plan)
        return plan

    def _has(self, peer: str, number: int, header: Header) -> bool:
        return self._settled.get(peer, {}).get(number) == header.created

    def _settle(self, peer: str, rows: Sequence[tuple[int, Header]]) -> None:
        self._settled.setdefault(peer, {}).update({number: header.created for number, header in rows})

    def _bring(self, peer: str, rows: Sequence[tuple[int, Header]]) -> None:
        for at in range(0, len(rows), MOST_HEADERS):
            if not self._offer(peer, rows[at : at + MOST_HEADERS]):
                return

    def _offer(self, peer: str, rows: Sequence[tuple[int, Header]], seeds: tuple[str, ...] = ()) -> bool:
        """Offer items, and hand over those that are wanted. Return False if it is of no use to go on."""
        node = self._node
        answer = node.ask(peer, OFFER, Offer(node.network, tuple(header for _, header in rows), seeds), Offered, _SECONDS)
        if isinstance(answer, NoAnswer):
            return False
        if not answer.takes:
            with node.lock:
                node.membership.declined(peer)
            return False
        wanted = [rows[number] for number in answer.wanted if 0 <= number < len(rows)]
        unknown = [] if seeds else [rows[number] for number in answer.unknown if 0 <= number < len(rows)]
        introduced = self._greeting.introduce(peer, {header.author for _, header in unknown}) if unknown else ()
        again = set(answer.unknown) if introduced else set()
        put_off = self._put_off(peer, rows, {number: why for number, why in answer.refused.items() if number not in again})
        open_ = {number for number, _ in (*wanted, *unknown)} | put_off
        self._settle(peer, [row for row in rows if row[0] not in open_])
        return self._hand(peer, wanted) and (not introduced or self._offer(peer, unknown, introduced))

    def _put_off(self, peer: str, rows: Sequence[tuple[int, Header]], refused: Mapping[int, str]) -> set[int]:
        numbers = {rows[each][0] for each in refused if 0 <= each < len(rows)}
        self._node.count("items refused by others", len(numbers))
        self._later.update({(number, peer): self._node.now() + _LATER for number in numbers})
        return numbers

    def _hand(self, peer: str, rows: Sequence[tuple[int, Header]]) -> bool:
        node = self._node
        numbers = {header.name: number for number, header in rows}
        with node.lock:
            items = [Item(*pair) for pair in node.shelf.bodies([header.name for _, header in rows])]
        at = 0
        while at < len(items):
            end, size = at + 1, len(items[at].body)
            while end < len(items) and size + len(items[end].body) + 300 * (end - at) < LARGEST - 3_000:
                size += len(items[end].body)
                end += 1
            answer = node.ask(peer, HAND, Hand(node.network, tuple(items[at:end])), Handed, _SECONDS)
            if isinstance(answer, NoAnswer):
                return False
            sent = [(numbers[item.header.name], item.header) for item in items[at:end]]
            put_off = self._put_off(peer, sent, answer.refused)
            node.count("items handed over", len(sent) - len(put_off))
            node.count("bytes handed over", size)
            self._settle(peer, [row for row in sent if row[0] not in put_off])
            at = end
        return True
