"""Membership: the peers of the network that one peer knows (YACY-12 to 14, 18 to 23, 51). Times come in; no I/O.

Known peers are active (they answer), passive (they did not), or potential (juniors, which can't be asked). Only a failed
contact makes a peer passive. Only a seed that it has signed later makes it active again, so an old seed that others still
hand around changes nothing. A peer leaves without a word. Used under the lock of `larm.peers.yacy.node`.
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
"""Seconds of absence after which a passive peer is forgotten."""
_POTENTIAL = _DAY
"""Seconds without a ping after which a junior is forgotten."""
_REPORTS = 15 * 60.0
"""Seconds for which the word of another peer about the own type counts."""
REPAIRED = 600.0
"""Seconds after the failure of a peer until others have its items."""
_MOST = 20_000
"""Number of known peers: some 20 MB with their seeds."""
_MOST_POTENTIAL = 2_000
"""Number of known juniors. Only a peer that knows few others asks them."""
_MOST_ADDRESS = 64
"""Number of active peers at one IP address, and of juniors: a flood of names costs addresses."""
_AHEAD = 600.0
"""Seconds that the clock of another peer may be ahead."""


class Membership:
    """The peers that one peer, with the hash ``own``, knows in one network.

    ``young``: age in seconds from which a peer gets references (YACY-27).
    """

    def __init__(self, own: str, network: str, random: Random, young: float = 3 * _DAY) -> None:
        # constant after construction
        self._own = own
        self._network = network
        self._random = random
        self._young = young
        # only under the node's lock
        self.counts = {"other networks": 0, "from the future": 0, "too many at an address": 0, "too many peers": 0}
        """Numbers of refused seeds, by reason."""
        self.appeared: set[str] = set()
        """Peers that became active; the caller empties it."""
        self._active: dict[str, Seed] = {}
        self._passive: dict[str, Seed] = {}
        self._potential: dict[str, Seed] = {}
        self._seen: dict[str, float] = {}
        """Time of the last contact of each peer that was met at another time than its seed says."""
        self._failed: dict[str, float] = {}
        """Time of the failed contact of each passive peer."""
        self._order = SeenOrder(self._active, self._seen_active)
        self._addresses: dict[str, int] = {}
        self._reports: dict[str, tuple[float, bool]] = {}
        self._met = False
        self._ring = Ring(())
        self._changed: set[str] = set()
        """Peers whose change is not in the ring yet."""
        self._older = inf
        """Time at which the next young peer is old enough for the ring."""
        self._ours = False

    # -- contacts

    def is_news(self, seed: Seed) -> bool:
        """Return True if no seed as new is known of this peer, so that its signature is worth checking."""
        known = self.get(seed.hash)
        return seed.hash != self._own and (known is None or seed.stamp > known.stamp)

    def learn(self, seed: Seed, now: float) -> bool:
        """Add a checked seed that another peer has handed on. Return False if it is refused, or not new."""
        if not self.is_news(seed) or not self._acceptable(seed, now) or seed.stamp <= self._failed.get(seed.hash, -inf):
            return False
        return self._put(seed, min(now, float(seed.stamp)))

    def heard(self, seed: Seed, now: float) -> bool:
        """Add the checked seed of a peer that has just asked or answered. Return False if it is refused."""
        if seed.hash == self._own or not self._acceptable(seed, now):
            return False
        known = self.get(seed.hash)
        return self._put(seed if known is None or known.stamp <= seed.stamp else known, now)

    def failed(self, name: str, now: float) -> None:
        """Make a peer passive that did not answer."""
        known = self._active.get(name)
        if known is not None:
            self._remove(name, known.ip)
            self._room(self._passive)
            self._passive[name], self._failed[name] = known, now

    def declined(self, name: str) -> None:
        """Note that a peer does not want references: until its next seed (YACY-30)."""
        known = self._active.get(name)
        if known is not None:
            self._active[name] = msgspec.structs.replace(known, takes=False)
            self._changed.add(name)

    def reported(self, by: str, now: float, *, reachable: bool) -> None:
        """Note that another peer has tried to reach this one (YACY-14)."""
        self._met = True
        self._reports[by] = (now, reachable)

    # -- views

    def own_type(self, now: float) -> PeerType:
        """Return the own type, by the words of others within the last quarter of an hour."""
        if not self._met:
            return PeerType.VIRGIN
        self._reports = {by: each for by, each in self._reports.items() if now - each[0] < _REPORTS}
        return PeerType.SENIOR if any(reachable for _, reachable in self._reports.values()) else PeerType.JUNIOR

    def to_ping(self, now: float, fit: Callable[[Seed], bool] = lambda _: True, near: Collection[str] = ()) -> list[Seed]:
        """Return the peers to ping now, among those that are ``fit``: a senior pings those with the oldest contact, any other
        peer the youngest ones (YACY-20, 21).

        One of a senior's pings is for its neighbours on the ring, ``near``: they keep the same items, and it has to notice when
        they are gone. In turn with all others of a large network it would do so after a day."""

        def fits(name: str) -> bool:
            return fit(self._active[name])

        if self.own_type(now) is PeerType.SENIOR:
            neighbour = min((name for name in near if name in self._active and fits(name)), key=self.seen, default=None)
            chosen = dict.fromkeys([neighbour] if neighbour else [])
            chosen |= dict.fromkeys(self._order.oldest(_SENIOR_PINGS, fits))
            found = [self._active[name] for name in chosen][:_SENIOR_PINGS]
        else:
            found = [self._active[name] for name in self._order.youngest(_JUNIOR_PINGS, fits)]
        if len(found) < _SENIOR_PINGS:  # nearly alone: passive peers may be back, juniors may answer
            found += islice(filter(fit, self._potential.values()), _JUNIOR_PINGS)
            passive = [seed for seed in self._passive.values() if fit(seed)]
            found += [self._random.choice(passive)] if passive else []
        return found

    def youngest(self, number: int, without: Collection[str] = ()) -> list[Seed]:
        """Return the peers with the latest contact, for the answer to a ping (YACY-22)."""
        found = self._order.youngest(min(number, MOST_TOLD), lambda name: name not in without)
        return [self._active[name] for name in found]

    def seed_list(self, now: float) -> list[Seed]:
        """Return a principal's list beside its own seed: active peers, and passive ones seen within a day (YACY-19)."""
        recent = [seed for name, seed in self._passive.items() if now - self.seen(name) < _DAY]
        return [*self._active.values(), *recent]

    def age(self, now: float) -> None:
        """Forget peers that have been away for too long."""
        for peers, most in ((self._passive, _FORGOTTEN), (self._potential, _POTENTIAL)):
            for name in [name for name in peers if now - self.seen(name) > most]:
                self._drop(peers, name)

    def takes_references(self, seed: Seed, now: float) -> bool:
        """Return True if a peer passes both tests of YACY-27."""
        return seed.reachable and seed.takes and now - seed.born >= self._young

    def ring(self, now: float, own: Seed, *, missed: bool = False) -> Ring:
        """Return the ring of all peers that take references, with this one if it does.

        ``missed``: also those that have just failed, since their items are not yet with their new owners."""
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
        """Return the seed of a known peer."""
        return self._active.get(name) or self._passive.get(name) or self._potential.get(name)

    def is_active(self, name: str) -> bool:
        """Return True if the peer answered when it was last asked."""
        return name in self._active

    @property
    def active(self) -> Sequence[Seed]:
        """Seeds of active peers, in no order."""
        return [*self._active.values()]

    @property
    def known(self) -> Sequence[Seed]:
        """Seeds of all known peers, in no order."""
        return [*self._active.values(), *self._passive.values(), *self._potential.values()]

    def seen(self, name: str) -> float:
        """Return the time of the last contact; 0 for an unknown peer."""
        known = self.get(name)
        return 0.0 if known is None else self._seen.get(name, float(known.stamp))

    def forget(self, name: str) -> None:
        """Forget a peer."""
        known = self.get(name)
        if known is not None:
            self._remove(name, known.ip)
            self._seen.pop(name, None)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of active, passive and potential peers."""
        return len(self._active), len(self._passive), len(self._potential)

    # -- storage

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
            if before.takes != seed.takes or before.born != seed.born:
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
        """Remove a peer from its group; the time of its last contact stays."""
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
