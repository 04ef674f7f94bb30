"""Membership: who is in the network, as far as one peer knows (YACY-12 to 14, 18 to 23, 51). Times come in; no I/O.

Known peers are active (they answer), passive (they did not), or potential (juniors, which can't be asked). Only a failed
contact makes a peer passive, and only something newer than that, from itself, makes it active again: a seed that somebody else
still hands around says nothing, as its stamp is older. Nobody says good-bye. Used under the lock of `larm.peers.yacy.node`.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import islice
from math import inf
from random import Random

import msgspec

from larm.peers.yacy.ring import Ring
from larm.peers.yacy.seed import PeerType, Seed
from larm.peers.yacy.seen_order import SeenOrder

PING_PERIOD = 30.0
_SENIOR_PINGS, _JUNIOR_PINGS = 3, 20
MOST_TOLD = 100
"""Seeds in an answer to a ping."""
_DAY = 86_400.0
_FORGOTTEN = 30 * _DAY
"""A passive peer that was not there for so long."""
_POTENTIAL = _DAY
"""A junior that is not heard of does not ping, so it is away."""
_REPORTS = 15 * 60.0
"""For which what others say of our type counts."""
REPAIRED = 600.0
"""Seconds after which others have what belongs to them since a peer failed."""
_MOST = 20_000
"""Peers that are known: some 20 MB with their seeds."""
_MOST_POTENTIAL = 2_000
"""Juniors: they are only asked by who is nearly alone."""
_MOST_ADDRESS = 64
"""Peers that may be active at one IP address, and juniors: a flood of names costs addresses."""
_AHEAD = 600.0
"""Seconds that the clock of another may be ahead of ours."""


class Membership:
    """Of the peer with this hash, in one network. ``young``: seconds that a peer must be old to get references (YACY-27)."""

    def __init__(self, own: str, network: str, random: Random, young: float = 3 * _DAY) -> None:
        # constant after construction
        self._own = own
        self._network = network
        self._random = random
        self._young = young
        # only under the node's lock
        self.counts = {"other networks": 0, "from the future": 0, "too many at an address": 0, "too many peers": 0}
        """Seeds that were refused."""
        self.appeared: set[str] = set()
        """Peers that became active since somebody emptied it."""
        self._active: dict[str, Seed] = {}
        self._passive: dict[str, Seed] = {}
        self._potential: dict[str, Seed] = {}
        self._seen: dict[str, float] = {}
        """Of those who were seen at another time than that of their seeds."""
        self._failed: dict[str, float] = {}
        """When those who are passive did not answer."""
        self._order = SeenOrder(self._active, self._seen_active)
        self._addresses: dict[str, int] = {}
        self._reports: dict[str, tuple[float, bool]] = {}
        self._met = False
        self._ring = Ring(())
        self._changed: set[str] = set()
        """Of whom the ring does not say yet what they are now."""
        self._older = inf
        """When somebody who is on no ring becomes old enough."""
        self._ours = False

    # -- what is heard

    def is_news(self, seed: Seed) -> bool:
        """Worth to be checked: nothing as new is known of this peer."""
        known = self.get(seed.hash)
        return seed.hash != self._own and (known is None or seed.stamp > known.stamp)

    def learn(self, seed: Seed, now: float) -> bool:
        """Somebody told of it, and it has been checked. False: it is refused, or no news."""
        if not self.is_news(seed) or not self._acceptable(seed, now) or seed.stamp <= self._failed.get(seed.hash, -inf):
            return False
        return self._put(seed, min(now, float(seed.stamp)))

    def heard(self, seed: Seed, now: float) -> bool:
        """It has asked or answered, just now, with this seed, checked. False: it is refused."""
        if seed.hash == self._own or not self._acceptable(seed, now):
            return False
        known = self.get(seed.hash)
        return self._put(seed if known is None or known.stamp <= seed.stamp else known, now)

    def failed(self, name: str, now: float) -> None:
        """It was asked and did not answer."""
        known = self._active.get(name)
        if known is not None:
            self._remove(name, known.ip)
            self._room(self._passive)
            self._passive[name], self._failed[name] = known, now

    def declined(self, name: str) -> None:
        """It does not want references: for us it has no such flag, until it says something newer (YACY-30)."""
        known = self._active.get(name)
        if known is not None:
            flags = msgspec.structs.replace(known.flags, remote_index=False)
            self._active[name] = msgspec.structs.replace(known, flags=flags)
            self._changed.add(name)

    def reported(self, by: str, now: float, *, reachable: bool) -> None:
        """Another has tried to reach us (YACY-14)."""
        self._met = True
        self._reports[by] = (now, reachable)

    # -- what follows

    def own_type(self, now: float) -> PeerType:
        """By what others said within the last quarter of an hour."""
        if not self._met:
            return PeerType.VIRGIN
        self._reports = {by: each for by, each in self._reports.items() if now - each[0] < _REPORTS}
        return PeerType.SENIOR if any(reachable for _, reachable in self._reports.values()) else PeerType.JUNIOR

    def to_ping(self, now: float, fit: Callable[[Seed], bool] = lambda _: True, near: Collection[str] = ()) -> list[Seed]:
        """Whom to ping now, of those that are fit: a senior those who were not seen for longest, anybody else the youngest
        (YACY-20, 21).

        One of a senior's pings is for its neighbours on the ring, ``near``: they keep what it keeps, and it has to notice when
        they are gone; in turn with all others of a large network it would do so after a day."""

        def fits(name: str) -> bool:
            return fit(self._active[name])

        if self.own_type(now) is PeerType.SENIOR:
            neighbour = min((name for name in near if name in self._active and fits(name)), key=self.seen, default=None)
            chosen = dict.fromkeys([neighbour] if neighbour else [])
            chosen |= dict.fromkeys(self._order.oldest(_SENIOR_PINGS, fits))
            found = [self._active[name] for name in chosen][:_SENIOR_PINGS]
        else:
            found = [self._active[name] for name in self._order.youngest(_JUNIOR_PINGS, fits)]
        if len(found) < _SENIOR_PINGS:  # nearly alone: who did not answer may be back, who is new may answer
            found += islice((seed for seed in self._potential.values() if seed.address and fit(seed)), _JUNIOR_PINGS)
            passive = [seed for seed in self._passive.values() if fit(seed)]
            found += [self._random.choice(passive)] if passive else []
        return found

    def youngest(self, number: int, without: Collection[str] = ()) -> list[Seed]:
        """Those seen last, for who asks (YACY-22)."""
        found = self._order.youngest(min(number, MOST_TOLD), lambda name: name not in without)
        return [self._active[name] for name in found]

    def seed_list(self, now: float) -> list[Seed]:
        """Of a principal, beside its own: all active, and passive ones seen within a day (YACY-19)."""
        recent = [seed for name, seed in self._passive.items() if now - self.seen(name) < _DAY]
        return [*self._active.values(), *recent]

    def age(self, now: float) -> None:
        """Forget those who have been away for long."""
        for peers, most in ((self._passive, _FORGOTTEN), (self._potential, _POTENTIAL)):
            for name in [name for name in peers if now - self.seen(name) > most]:
                self._drop(peers, name)

    def takes_references(self, seed: Seed, now: float) -> bool:
        """Both tests of YACY-27."""
        return seed.reachable and seed.flags.remote_index and now - seed.born >= self._young

    def ring(self, now: float, own: Seed, *, missed: bool = False) -> Ring:
        """Of all who take references, ourselves included if we do; with ``missed`` also those who have failed just now, as what
        they had is not everywhere yet where it belongs without them."""
        ours = self.takes_references(own, now)
        if now >= self._older:
            self._older = inf
            self._changed |= self._active.keys()
        if self._changed or ours != self._ours:
            there = {name: self._is_taker(name, now) for name in self._changed}
            self._ring, self._ours = self._ring.changed(there | {own.hash: ours}), ours
            self._changed.clear()
        if not missed:
            return self._ring
        failed = [self._passive[name] for name, at in self._failed.items() if now - at < REPAIRED]
        return self._ring.changed({seed.hash: True for seed in failed if self.takes_references(seed, now)})

    def _is_taker(self, name: str, now: float) -> bool:
        seed = self._active.get(name)
        if seed is not None and now - seed.born < self._young:
            self._older = min(self._older, seed.born + self._young)
        return seed is not None and self.takes_references(seed, now)

    def get(self, name: str) -> Seed | None:
        """What is known of a peer."""
        return self._active.get(name) or self._passive.get(name) or self._potential.get(name)

    def is_active(self, name: str) -> bool:
        """It answered when it was last asked."""
        return name in self._active

    @property
    def active(self) -> Sequence[Seed]:
        """In no order."""
        return [*self._active.values()]

    @property
    def known(self) -> Sequence[Seed]:
        """All, in no order."""
        return [*self._active.values(), *self._passive.values(), *self._potential.values()]

    def seen(self, name: str) -> float:
        """When it was last heard of; 0 of one that is not known."""
        known = self.get(name)
        return 0.0 if known is None else self._seen.get(name, float(known.stamp))

    def forget(self, name: str) -> None:
        """It is not known any more."""
        known = self.get(name)
        if known is not None:
            self._remove(name, known.ip)
            self._seen.pop(name, None)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Active, passive, potential."""
        return len(self._active), len(self._passive), len(self._potential)

    # -- how it is kept

    def _seen_active(self, name: str) -> float | None:
        known = self._active.get(name)
        return None if known is None else self._seen.get(name, float(known.stamp))

    def _acceptable(self, seed: Seed, now: float) -> bool:
        if seed.network != self._network:
            self.counts["other networks"] += 1
            return False
        if seed.stamp > now + _AHEAD:
            self.counts["from the future"] += 1
            return False
        return True

    def _put(self, seed: Seed, seen: float) -> bool:
        name, before = seed.hash, self.get(seed.hash)
        if before is not None:
            seen = max(self._seen.get(name, float(before.stamp)), seen)
        if name in self._active and before is not None and seed.reachable and seed.ip == before.ip:
            if before.flags != seed.flags or before.born != seed.born:
                self._changed.add(name)
            self._active[name] = seed
        else:
            if before is not None:
                self._remove(name, before.ip)
            self._seen.pop(name, None)
            if not self._place(seed):
                return False
        if seen == seed.stamp:
            self._seen.pop(name, None)
        else:
            self._seen[name] = seen
        if name in self._active:
            self._order.put(name, seen)
        return True

    def _place(self, seed: Seed) -> bool:
        if not seed.reachable:
            if sum(each.ip == seed.ip for each in self._potential.values()) >= _MOST_ADDRESS:
                self.counts["too many at an address"] += 1
                return False
            self._room(self._potential, _MOST_POTENTIAL)
            self._potential[seed.hash] = seed
            return True
        if self._addresses.get(seed.ip, 0) >= _MOST_ADDRESS:
            self.counts["too many at an address"] += 1
            return False
        if len(self._active) >= _MOST:
            self.counts["too many peers"] += 1
            return False
        self._active[seed.hash] = seed
        self._addresses[seed.ip] = self._addresses.get(seed.ip, 0) + 1
        self._changed.add(seed.hash)
        self.appeared.add(seed.hash)
        return True

    def _room(self, peers: dict[str, Seed], most: int = _MOST) -> None:
        while len(peers) >= most:
            self._drop(peers, next(iter(peers)))

    def _drop(self, peers: dict[str, Seed], name: str) -> None:
        del peers[name]
        self._seen.pop(name, None)
        self._failed.pop(name, None)

    def _remove(self, name: str, ip: str) -> None:
        """When it was seen is still known."""
        if self._active.pop(name, None) is not None:
            self._addresses[ip] -= 1
            if not self._addresses[ip]:
                del self._addresses[ip]
            self._changed.add(name)
        self._passive.pop(name, None)
        self._potential.pop(name, None)
        self._failed.pop(name, None)

    def __repr__(self) -> str:
        return "<Membership: {} active, {} passive, {} potential>".format(*self.sizes)
