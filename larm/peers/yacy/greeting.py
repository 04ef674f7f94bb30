"""Greeting: keeps up the acquaintance with other peers: pings, their answers, seed lists (YACY-12 to 14, 18 to 23, 51).

`tick` is called every second or so on the thread ``larm-network``, or by the simulation; `answer` on any thread. State is
guarded by the lock of the node, under which no peer is asked.
"""

from collections.abc import Callable, Collection, Iterable
from functools import partial

from larm.fetch.http_client import NoAnswer
from larm.peers.door import Call, RefusedError
from larm.peers.yacy.denying import Denying
from larm.peers.yacy.hashes import belongs, is_hash, position_of
from larm.peers.yacy.membership import MOST_TOLD
from larm.peers.yacy.node import Node, contact_of
from larm.peers.yacy.profile import Mode
from larm.peers.yacy.questions import MOST_NAMED, PING, WIRE, Ping, Pong
from larm.peers.yacy.reachability import CallingBack
from larm.peers.yacy.seed import BadSeedError, Seed, read_seed

_SECONDS = 10.0
"""Time limit of a ping, during which the other calls back."""
_LISTS = 6 * 3_600.0
"""Seconds between two loads of the seed lists (YACY-51). They are loaded in each period while no peer answers."""
_TOLD = 20
"""Seeds in an answer to a ping: as many as YaCy asks for (YACY-22)."""


class Greeting:
    """The acquaintances of one node."""

    def __init__(
        self,
        node: Node,
        lists: Callable[[], Collection[Seed]] = tuple,
        lines: Callable[[str], Iterable[str] | None] = lambda _: None,
    ) -> None:
        """``lists`` loads the seed lists; ``lines`` those of a deny list, by its file or address."""
        # constant after construction
        self._node = node
        self._lists = lists
        self.calling_back = CallingBack(node.asker, node.clock, node.network)
        self.denying = Denying(node, lines)
        # guarded by the node's lock
        self.refusal = ""
        """Why the peer that was pinged last refused, in its words; empty: it did not."""
        self._pinged = self._listed = float("-inf")
        self._told_until = position_of(node.hash)

    def tick(self) -> None:
        """Do what is due."""
        node, now = self._node, self._node.now()
        if node.stealthy or node.mode is Mode.PRIVATE:
            return
        with node.lock:
            alone = not node.membership.sizes[0]
        if now - self._listed > (node.profile.ping if alone else _LISTS):
            self._listed = now
            self.load()
            self.denying.hear()
        if now - self._pinged >= node.profile.ping:
            self._pinged = now
            self.ping_all()

    def load(self) -> None:
        """Learn from the seed lists."""
        self.learn(self._lists())

    def ping_all(self) -> None:
        """Ping the peers whose turn it is."""
        node = self._node
        with node.lock:
            node.membership.age(node.now())
            before = node.membership.own_type(node.now())
            near = node.ring_locked().around(node.hash, node.redundancy)
            seeds = node.membership.to_ping(node.now(), node.may_ask, near)
        node.together([partial(self.ping, seed) for seed in seeds])
        with node.lock:
            if node.membership.own_type(node.now()) is not before:
                self._pinged = float("-inf")  # others are told at once
        node.count("pings", len(seeds))

    def ping(self, seed: Seed) -> None:
        """Ping one peer, and learn from its answer (YACY-22)."""
        node = self._node
        asked = Ping(node.network, node.seed().wire, self._next_stretch(), WIRE)
        answer = node.asker.ask(contact_of(seed), PING, asked, Pong, seconds=_SECONDS)
        with node.lock:
            if isinstance(answer, NoAnswer):
                if answer.refused:
                    self.refusal = answer.reason
                else:
                    node.membership.failed(seed.hash, node.now())
                return
            self.refusal = refusal_of(answer.wire)
            if self.refusal:
                return
            if not node.profile.ip:
                node.own_ip.told(seed.hash, answer.address)
            node.membership.reported(seed.hash, node.now(), reachable=answer.reachable)
        for its in self._read([answer.seed]) or [seed]:
            if its.key == seed.key and node.is_good(its):
                node.meet(its, seed.ip)
        self.learn(self._read(answer.seeds))

    def answer(self, call: Call, asked: Ping) -> Pong:
        """Answer a ping. The asking peer is tried first: at the address of its request, and nowhere else."""
        node = self._node
        if why := refusal_of(asked.wire):
            raise RefusedError(why, 400)
        try:
            seed = read_seed(asked.seed)
        except BadSeedError as error:
            raise RefusedError(f"your seed is none: {error}", 400) from error
        if seed.key != call.key:
            raise RefusedError("this is the seed of somebody else", 400)
        if not belongs(seed.hash, seed.key):
            raise RefusedError("its hash is not one of your key", 400)
        if len(asked.stretch) > MOST_NAMED + 1 or not all(map(is_hash, asked.stretch)):
            raise RefusedError("that is no stretch of a ring", 400)
        reachable = self.calling_back.reaches(seed, call.address)
        if seed.reachable and not (reachable and seed.ip == call.address):
            with node.lock:
                node.membership.failed(seed.hash, node.now())
        elif node.is_good(seed):
            node.meet(seed, call.address)
        with node.lock:
            membership = node.membership
            news = node.ring_locked().lacking(asked.stretch)
            seeds = membership.youngest(_TOLD, without={seed.hash})
            seeds += [known for each in news[: MOST_TOLD - _TOLD] if (known := membership.get(each)) is not None]
        return Pong(call.address, reachable, node.seed().wire, tuple(seed.wire for seed in seeds), WIRE)

    def learn(self, seeds: Collection[Seed]) -> None:
        """Learn of peers from others."""
        node = self._node
        with node.lock:
            news = [seed for seed in seeds if node.membership.is_news(seed)]
        good = [seed for seed in news if node.is_good(seed)]
        with node.lock:
            for seed in good:
                node.membership.learn(seed, node.now())

    def vouched(self, by: str, wires: Collection[str]) -> None:
        """Take the word of a peer, by its key, for authors of items that it offers: they are or were members."""
        node, seeds = self._node, self._read(wires)
        keys = [seed.key for seed in seeds if seed.network == node.network and node.is_good(seed)]
        self.learn(seeds)
        with node.lock:
            node.shelf.authors.vouch(by, keys)

    def introduce(self, peer: str, authors: Collection[str]) -> tuple[str, ...]:
        """Make authors known to a peer that does not know them. Return the seeds that an offer is to have for that.

        This peer itself pings the other one, which has to see for itself."""
        node = self._node
        with node.lock:
            found = [seed for seed in node.membership.known if seed.key in authors]
            seed = node.membership.get(peer)
        if node.key in authors and seed is not None:
            self.ping(seed)
            found.append(node.seed())
        return tuple(seed.wire for seed in found)

    def _read(self, wires: Collection[str]) -> list[Seed]:
        found = []
        for each in wires:
            try:
                found.append(read_seed(each))
            except BadSeedError:
                self._node.count("bad seeds")
        return found

    def _next_stretch(self) -> tuple[str, ...]:
        """Return the known peers on a part of the ring, which begins after the part of the last ping."""
        node = self._node
        with node.lock:
            found = node.ring_locked().stretch(self._told_until, MOST_NAMED)
            self._told_until = position_of(found[-1]) if found else self._told_until
            return tuple(found)


def refusal_of(wire: int) -> str:
    """Return why a peer that speaks this version of the questions can't be talked to; empty: it can."""
    if abs(wire - WIRE) <= 1:
        return ""
    return f"it speaks version {wire} of a network's questions, and this peer version {WIRE}: upgrade the older one"
