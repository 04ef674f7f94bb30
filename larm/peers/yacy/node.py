"""Node: one peer of one network, all of its parts together, and what it does by itself (YACY-12 to 14, 18 to 23, 50, 51).

State is guarded by one lock; nobody is asked under it. `tick` is called every second or so by `larm.peers.yacy.service`, or by
the simulation, which hands in a clock, chance, keys and an asker of its own.
"""

import threading
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from random import Random
from typing import TypeVar

import msgspec

from larm import __version__
from larm.fetch.http_client import NoAnswer
from larm.peers.addresses import may_be_asked
from larm.peers.channel import Asker, Contact
from larm.peers.identity import Signer, Verify
from larm.peers.yacy.averages import Averages
from larm.peers.yacy.denying import Denying
from larm.peers.yacy.hashes import belongs, position_of
from larm.peers.yacy.membership import Membership
from larm.peers.yacy.profile import Mode, Profile
from larm.peers.yacy.questions import DENIED, MOST_NAMED, PING, DeniedOf, Ping, Pong
from larm.peers.yacy.reachability import CallingBack, OwnAddress
from larm.peers.yacy.ring import Ring
from larm.peers.yacy.seed import BadSeedError, Flags, PeerType, Seed, is_good, read_seed, signed, write_seed
from larm.peers.yacy.shelf import Shelf
from larm.peers.yacy.together import Together
from larm.peers.yacy.trust import DenyList, Trust
from larm.seams import Clock

A = TypeVar("A", bound=msgspec.Struct)

_PING_SECONDS = 10.0
"""For an answer to a ping, in which there is a call-back."""
_PATIENCE = 0.5
"""Seconds in which a peer answers that is not dead."""
_LISTS = 6 * 3_600.0
"""Seed lists are loaded so often (YACY-51); at once where nobody answers."""


class Node:
    """Of one network."""

    def __init__(
        self,
        profile: Profile,
        signer: Signer,
        verify: Verify,
        shelf: Shelf,
        *,
        asker: Asker,
        clock: Clock,
        random: Random,
        together: Together,
        lists: Callable[[], Collection[Seed]] = tuple,
        trust: Trust | None = None,
        orders: Callable[[], int] = int,
    ) -> None:
        """``lists`` loads the seed lists; ``orders``: how many we have for others to crawl."""
        # constant after construction
        self.profile = profile
        self.hash, self.network, self.mode, self.redundancy = profile.hash, profile.network, profile.mode, profile.redundancy
        self.key = signer.key
        self.asker = asker
        self.together = together
        self.trust = trust or Trust(None)
        self.random = random
        self._signer = signer
        self._verify = verify
        self.clock = clock
        self._lists = lists
        self._orders = orders
        self.calling_back = CallingBack(asker, clock, profile.network)
        self.lock = threading.RLock()
        # guarded by self.lock
        self.membership = Membership(profile.hash, profile.network, random, profile.young)
        self.shelf = shelf
        self.denying = Denying(
            self.trust,
            self.lock,
            self.membership,
            shelf,
            own_key=self.key,
            ask=lambda peer, seconds: self.ask(peer, DENIED, DeniedOf(self.network), DenyList, seconds),
        )
        self.words = self.pages = 0
        self.averages = Averages()
        self.refusal = ""
        """Why a peer that was pinged last would not have to do with us, in its words; empty: it did."""
        self.counts: Counter[str] = Counter()
        self.stealthy = False
        """The user has switched off all that has to do with others, for a while (YACY-50)."""
        self.own_ip = OwnAddress(profile.ip)
        self._seed = Seed(hash=profile.hash)
        self._pinged = self._listed = float("-inf")
        self._told_until = position_of(profile.hash)

    def now(self) -> float:
        """Seconds since 1970."""
        return self.clock.wall()

    def count(self, what: str, number: int = 1) -> None:
        """For whoever looks how this peer does."""
        with self.lock:
            self.counts[what] += number

    # -- what others learn of us

    def seed(self) -> Seed:
        """Our own, as of now; signed anew if something has changed or half a period is over."""
        with self.lock:
            now, profile = self.now(), self.profile
            plain = Seed(
                hash=profile.hash,
                name=profile.name,
                ip=self.own_ip.now,
                port=profile.port,
                type=self._type_locked(now),
                flags=Flags(remote_index=profile.mode.shares, remote_crawl=profile.crawls, direct=True),
                orders=self._orders(),
                links=self.pages,
                words=self.words,
                tags=profile.tags,
                version=__version__,
                born=profile.born,
                stamp=self._seed.stamp,
                network=profile.network,
                key=self._signer.key,
                signature=self._seed.signature,
            )
            if plain != self._seed or now - plain.stamp > profile.ping / 2:
                self._seed = signed(msgspec.structs.replace(plain, stamp=int(now), signature=""), self._signer)
            return self._seed

    def seed_list(self) -> str:
        """One seed a line (YACY-19)."""
        with self.lock:
            seeds = self.membership.seed_list(self.now())
        return "".join(f"{write_seed(seed)}\n" for seed in (self.seed(), *seeds)) if self.mode is not Mode.PRIVATE else ""

    @property
    def takes_references(self) -> bool:
        """Of others."""
        return self.mode.shares and not self.stealthy

    def has_to_do_with(self, key: str) -> bool:
        """In our mode, if we do not deny it; of a private cluster nobody else is asked or answered (YACY-41, 42)."""
        if key in self.trust:
            return False
        if self.mode is Mode.PRIVATE_CLUSTER:
            return any(belongs(member, key) for member in self.profile.cluster)
        return self.mode is not Mode.PRIVATE

    def ring(self) -> Ring:
        """Of all who take references."""
        with self.lock:
            return self.ring_locked()

    def ring_locked(self, *, missed: bool = False) -> Ring:
        """The same for who has the lock; ``missed``: with those who have failed just now."""
        return self.membership.ring(self.now(), self._seed, missed=missed)

    def cluster_locked(self) -> list[str]:
        """Members of the cluster that are there."""
        return [name for name in self.profile.cluster if name != self.hash and self.membership.is_active(name)]

    # -- others

    def contact(self, seed: Seed) -> Contact:
        """How it is asked."""
        return Contact(seed.key, f"http://{seed.address}", seed.name)

    def ask(self, name: str, path: str, question: msgspec.Struct, answers: type[A], seconds: float) -> A | NoAnswer:
        """Ask a peer that is known; who does not answer is passive from then on (YACY-23), unless nobody could have in time."""
        with self.lock:
            seed = self.membership.get(name)
        if seed is None or not seed.address or self.stealthy or not self.has_to_do_with(seed.key):
            return NoAnswer("it is not known where it is")
        answer = self.asker.ask(self.contact(seed), path, question, answers, seconds=seconds)
        if isinstance(answer, NoAnswer) and not answer.refused and not (answer.late and seconds < _PATIENCE):
            with self.lock:
                self.membership.failed(name, self.now())
            self.count("peers that did not answer")
        return answer

    def met(self, seed: Seed, address: str, *, reachable: bool) -> None:
        """It has pinged us, and was tried."""
        if seed.reachable and not (reachable and seed.ip == address):
            with self.lock:
                self.membership.failed(seed.hash, self.now())
            return
        if self._is_good(seed):
            with self.lock:
                self.membership.heard(seed, self.now())

    # -- what it does by itself

    def tick(self) -> None:
        """What is due."""
        now = self.now()
        if self.stealthy or self.mode is Mode.PRIVATE:
            return
        with self.lock:
            alone = not self.membership.sizes[0]
        if now - self._listed > (self.profile.ping if alone else _LISTS):
            self._listed = now
            self.learn(self._lists())
            self.denying.hear()
        if now - self._pinged >= self.profile.ping:
            self._pinged = now
            self.ping_all()

    def ping_all(self) -> None:
        """Those whose turn it is."""
        with self.lock:
            self.membership.age(self.now())
            before = self.membership.own_type(self.now())
            near = self.ring_locked().around(self.hash, self.redundancy)
            seeds = self.membership.to_ping(self.now(), lambda seed: self.has_to_do_with(seed.key), near)
        self.together([partial(self.ping, seed) for seed in seeds])
        with self.lock:
            if self.membership.own_type(self.now()) is not before:
                self._pinged = float("-inf")  # others are told at once
        self.count("pings", len(seeds))

    def ping(self, seed: Seed) -> None:
        """One of them, and learn from what it answers (YACY-22)."""
        asked = Ping(self.network, write_seed(self.seed()), self._next_stretch())
        answer = self.asker.ask(self.contact(seed), PING, asked, Pong, seconds=_PING_SECONDS)
        with self.lock:
            if isinstance(answer, NoAnswer):
                if answer.refused:
                    self.refusal = answer.reason
                else:
                    self.membership.failed(seed.hash, self.now())
                return
            self.refusal = ""
        try:
            its = read_seed(answer.seed)
        except BadSeedError:
            its = seed
        with self.lock:
            if not self.profile.ip:
                self.own_ip.told(seed.hash, answer.address)
            self.membership.reported(seed.hash, self.now(), reachable=answer.reachable)
        if its.key == seed.key and self._is_good(its):
            with self.lock:
                self.membership.heard(its, self.now())
        found = []
        for each in answer.seeds:
            try:
                found.append(read_seed(each))
            except BadSeedError:
                self.count("bad seeds")
        self.learn(found)

    def _next_stretch(self) -> tuple[str, ...]:
        """Of the ring, beginning with our neighbours, as far as it is told whom we know there."""
        with self.lock:
            found = self.ring_locked().stretch(self._told_until, MOST_NAMED)
            self._told_until = position_of(found[-1]) if found else self._told_until
            return tuple(found)

    def learn(self, seeds: Collection[Seed]) -> None:
        """Somebody told of these."""
        with self.lock:
            news = [seed for seed in seeds if self.membership.is_news(seed)]
        good = [seed for seed in news if self._is_good(seed)]
        with self.lock:
            for seed in good:
                self.membership.learn(seed, self.now())

    def _is_good(self, seed: Seed) -> bool:
        """Its own peer has made it, who is not denied, and whoever asks it is led nowhere."""
        leads = seed.reachable and not may_be_asked(seed.ip, seed.port, self.profile.kinds)
        good = not leads and seed.key not in self.trust and is_good(seed, self._verify)
        if not good:
            self.count("bad seeds")
        return good

    @property
    def type(self) -> PeerType:
        """What others found us to be."""
        with self.lock:
            return self._type_locked(self.now())

    def _type_locked(self, now: float) -> PeerType:
        found = self.membership.own_type(now)
        return PeerType.PRINCIPAL if found is PeerType.SENIOR and self.profile.publishes else found

    def __repr__(self) -> str:
        return f"<Node {self.hash} {self.profile.name} {self.type} {self.membership}>"
