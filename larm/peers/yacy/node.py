"""Node: one peer of one network: what it is, which peers it knows, what it keeps, and how it asks others (YACY-12, 15, 23, 50).

State is guarded by one lock, under which no peer is asked. The simulation of a network hands in a clock, chance, keys and an
asker of its own.
"""

import threading
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import TypeVar

import msgspec

from larm import __version__
from larm.fetch.http_client import NoAnswer
from larm.peers.addresses import may_be_asked
from larm.peers.channel import Asker, Contact
from larm.peers.identity import Signer, Verify
from larm.peers.rates import payer
from larm.peers.yacy.hashes import belongs
from larm.peers.yacy.membership import Membership
from larm.peers.yacy.own_address import OwnAddress
from larm.peers.yacy.page import Page
from larm.peers.yacy.profile import Mode, Profile
from larm.peers.yacy.questions import PAGES, SEARCH
from larm.peers.yacy.ring import Ring
from larm.peers.yacy.seed import PeerType, Seed, is_good, signed
from larm.peers.yacy.shelf import Shelf
from larm.peers.yacy.together import Together
from larm.peers.yacy.trust import Trust
from larm.seams import Clock

A = TypeVar("A", bound=msgspec.Struct)

_PATIENCE = 0.5
"""Seconds in which a living peer answers."""
_OF_A_SEARCH = frozenset((SEARCH, PAGES))


class Node:
    """One peer of one network."""

    def __init__(
        self,
        profile: Profile,
        signer: Signer,
        verify: Verify,
        shelf: Shelf,
        *,
        asker: Asker,
        private_asker: Asker,
        clock: Clock,
        random: Random,
        together: Together,
        trust: Trust | None = None,
        orders: Callable[[], int] = int,
    ) -> None:
        """``private_asker``: asks what a search needs, and never with the key of this peer.

        ``orders``: number of addresses that others are to crawl for this peer."""
        # constant after construction
        self.profile = profile
        self.hash, self.network, self.mode, self.redundancy = profile.hash, profile.network, profile.mode, profile.redundancy
        self.key = signer.key
        self.asker = asker
        self.together = together
        self.trust = trust or Trust(None)
        self.random = random
        self.clock = clock
        self._private_asker = asker if profile.mode is Mode.PRIVATE_CLUSTER else private_asker
        """In a private cluster each member is answered by its key."""
        self._signer = signer
        self._verify = verify
        self._orders = orders
        self.lock = threading.RLock()
        # guarded by self.lock
        self.membership = Membership(profile.hash, profile.network, random, profile.young)
        self.shelf = shelf
        self.words = self.pages = self.length = 0
        self.counts: Counter[str] = Counter()
        self.stealthy = False
        """True while the user has switched the network off (YACY-50)."""
        self.own_ip = OwnAddress(profile.ip)
        # replaced and added to on any thread; one entry more or less does not matter
        self.met: dict[str, Page] = {}
        """A document of each author that is to be sampled, as its pages are not shown yet, or no owner had it."""
        self._seed = Seed(hash=profile.hash)

    def now(self) -> float:
        """Seconds since 1970."""
        return self.clock.wall()

    def count(self, what: str, number: int = 1) -> None:
        """Add to a counter that the page of the network shows."""
        with self.lock:
            self.counts[what] += number

    # -- what others learn of this peer

    def seed(self) -> Seed:
        """Return the own seed as of now; sign it again if something has changed or half a period is over."""
        with self.lock:
            now, profile = self.now(), self.profile
            plain = Seed(
                hash=profile.hash,
                name=profile.name,
                ip=self.own_ip.now,
                port=profile.port,
                pin=profile.pin,
                type=self._type_locked(now),
                takes=profile.mode.shares,
                crawls=profile.crawls,
                orders=self._orders(),
                links=self.pages,
                words=self.words,
                tags=profile.tags,
                version=__version__,
                born=profile.born,
                stamp=self._seed.stamp,
                network=profile.network,
                key=self._signer.key,
                wire=self._seed.wire,
            )
            if plain != self._seed or now - plain.stamp > profile.ping / 2:
                self._seed = signed(msgspec.structs.replace(plain, stamp=int(now)), self._signer)
            return self._seed

    def seed_list(self) -> str:
        """Return one seed a line (YACY-19)."""
        with self.lock:
            seeds = self.membership.seed_list(self.now())
        return "".join(f"{seed.wire}\n" for seed in (self.seed(), *seeds)) if self.mode is not Mode.PRIVATE else ""

    @property
    def takes_references(self) -> bool:
        """True if it keeps items of others."""
        return self.mode.shares and not self.stealthy

    # -- others

    def deals_with(self, key: str) -> bool:
        """Return True if the mode lets this peer ask and answer the other, which is not denied (YACY-41, 42)."""
        if key in self.trust:
            return False
        if self.mode is Mode.PRIVATE_CLUSTER:
            return any(belongs(member, key) for member in self.profile.cluster)
        return self.mode is not Mode.PRIVATE

    def shows(self, key: str) -> bool:
        """Return True if pages of this author are shown and its references count. Any thread, without the lock."""
        return key == self.key or self.trust.trusts(key) or (key not in self.trust and self.shelf.authors.shows(key))

    def ring(self) -> Ring:
        """Return the ring of all peers that take references."""
        with self.lock:
            return self.ring_locked()

    def ring_locked(self, *, missed: bool = False) -> Ring:
        """Return the same under the lock; ``missed``: with those that have failed just now."""
        return self.membership.ring(self.now(), self._seed, missed=missed)

    def cluster_locked(self) -> list[str]:
        """Return the members of the cluster that are there."""
        return [name for name in self.profile.cluster if name != self.hash and self.membership.is_active(name)]

    def is_good(self, seed: Seed) -> bool:
        """Return True if its own peer has made the seed, is not denied, and leads no one to an address of another kind."""
        leads = seed.reachable and not may_be_asked(seed.ip, seed.port, self.profile.kinds)
        good = not leads and seed.key not in self.trust and is_good(seed, self._verify)
        if not good:
            self.count("bad seeds")
        return good

    def may_ask(self, seed: Seed) -> bool:
        """Return True if the peer may be asked at the address that it names. Also an unreachable one may name any."""
        return self.deals_with(seed.key) and may_be_asked(seed.ip, seed.port, self.profile.kinds)

    def meet(self, seed: Seed, address: str) -> bool:
        """Note that a peer is there, at an address. Return False if the seed is refused."""
        with self.lock:
            if not self.membership.heard(seed, self.now()):
                return False
            self.shelf.authors.meet(seed.key, payer(address), self.now())
            return True

    def ask(self, name: str, path: str, question: msgspec.Struct, answers: type[A], seconds: float) -> A | NoAnswer:
        """Ask a known peer. One that does not answer is passive from then on (YACY-23), unless the time was too short for any.

        What a search needs is asked with keys made for it: no peer learns by a signature which peer has searched."""
        with self.lock:
            seed = self.membership.get(name)
        if seed is None or self.stealthy or not self.may_ask(seed):
            return NoAnswer("it is not known where it is")
        asker = self._private_asker if path in _OF_A_SEARCH else self.asker
        answer = asker.ask(contact_of(seed), path, question, answers, seconds=seconds)
        if isinstance(answer, NoAnswer) and not answer.refused and not (answer.late and seconds < _PATIENCE):
            with self.lock:
                self.membership.failed(name, self.now())
            self.count("peers that did not answer")
        return answer

    @property
    def type(self) -> PeerType:
        """What others found this peer to be."""
        with self.lock:
            return self._type_locked(self.now())

    def _type_locked(self, now: float) -> PeerType:
        found = self.membership.own_type(now)
        return PeerType.PRINCIPAL if found is PeerType.SENIOR and self.profile.publishes else found

    def __repr__(self) -> str:
        return f"<Node {self.hash} {self.profile.name} {self.type} {self.membership}>"


def contact_of(seed: Seed, address: str = "") -> Contact:
    """Return how the peer of a seed is asked: where it says, or at another address (``192.0.2.1:8090``)."""
    return Contact(seed.key, f"{'https' if seed.pin else 'http'}://{address or seed.address}", seed.name, pin=seed.pin)
