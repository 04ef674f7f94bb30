"""Placement: which agent has a host, computed from the names of the agents and the host alone. Pure; used on any thread.

Every agent computes the same, without talking (UBI-3). `HashRing` is consistent hashing (UBI-9 to 15): who joins takes hosts
from all, who leaves gives his to all, and no other host moves (UBI-4). `Intervals` is LARM's way (LARM-118), for comparison
and for who wants it: equal parts only, and a change of the number of agents moves about half of all hosts.
"""

import hashlib
import random
from bisect import bisect_left
from collections.abc import Callable, Container, Iterator, Mapping
from itertools import islice
from typing import Final, Literal, Protocol

from larm.errors import ConfigError
from larm.model.domain import is_made_up, site_of
from larm.model.file_url import FILES

POINTS = 200
"""On the circle, for an agent of weight 1 (UBI-10): 7 agents have their shares to within a quarter then."""
_CIRCLE = 1 << 64
_REMEMBERED = 100_000
"""Hosts whose owner is known without computing it again: some 10 MB."""


class Placement(Protocol):
    """Who has a host, and who would have it if he had not."""

    def owner(self, host: str) -> str:
        """The agent that has it."""

    def order(self, host: str, count: int | None = None, skip: Container[str] = ()) -> list[str]:
        """The first ``count`` agents for it, each once, the owner first; all: None. Those in ``skip`` are left out."""


def key_of(host: str, by: Literal["site", "host"]) -> str:
    """What the owner of a host, as URLs have it, is told by. Raises ConfigError for that of folders.

    All names below a made-up top level domain (``corp``) would be of one site: each is by itself.
    """
    if host == FILES:
        raise ConfigError("cluster.name: folders can't be crawled by several agents")
    name, colon, port = host.rpartition(":")
    name = name if colon and port.isdigit() else host
    return site_of(name) if by == "site" and not is_made_up(name) else name


def point_of(name: str) -> int:
    """Where a host, or the seed of an agent's points, lies on the circle: 64 bits (UBI-15)."""
    return int.from_bytes(hashlib.md5(name.lower().encode(), usedforsecurity=False).digest()[:8], "big")


class HashRing:
    """Consistent hashing with ``POINTS`` points for each unit of weight. Raises ValueError where there is no agent."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        points = sorted((at, agent) for agent, weight in _checked(weights) for at in _points(agent, weight))
        # constant after construction
        self._points = [at for at, _ in points]
        self._agents = [agent for _, agent in points]
        # single operations on a dictionary; a race computes a value twice
        self._owners: dict[str, str] = {}

    def owner(self, host: str) -> str:
        """See `Placement`."""
        found = self._owners.get(host)
        if found is None:
            if len(self._owners) >= _REMEMBERED:
                self._owners.clear()
            found = self._owners[host] = self._agents[self._place(host)]
        return found

    def order(self, host: str, count: int | None = None, skip: Container[str] = ()) -> list[str]:
        """See `Placement`."""
        seen: dict[str, None] = dict.fromkeys(())
        wanted = (agent for agent in self._from(host) if agent not in skip and agent not in seen)
        for agent in islice(wanted, count):
            seen[agent] = None
        return list(seen)

    def _place(self, host: str) -> int:
        return bisect_left(self._points, point_of(host)) % len(self._points)

    def _from(self, host: str) -> Iterator[str]:
        """The agents of all points, from that of the host on; equal points in the order of the agents' names."""
        at = self._place(host)
        yield from self._agents[at:]
        yield from self._agents[:at]


class Intervals:
    """The hashes cut into as many equal intervals as there are agents, in the order of their names."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        agents = _checked(weights)
        if len({weight for _, weight in agents}) > 1:
            raise ValueError("placement by intervals has equal parts only: it can't take weights into account")
        # constant after construction
        self._agents = sorted(agent for agent, _ in agents)

    def owner(self, host: str) -> str:
        """See `Placement`."""
        return self._agents[self._place(host)]

    def order(self, host: str, count: int | None = None, skip: Container[str] = ()) -> list[str]:
        """See `Placement`; the next owner is that of the next interval."""
        at = self._place(host)
        return [agent for agent in self._agents[at:] + self._agents[:at] if agent not in skip][:count]

    def _place(self, host: str) -> int:
        return point_of(host) * len(self._agents) // _CIRCLE


PLACEMENTS: Final[Mapping[str, Callable[[Mapping[str, float]], Placement]]] = {"ring": HashRing, "intervals": Intervals}
"""By their names in the settings."""


def _checked(weights: Mapping[str, float]) -> list[tuple[str, float]]:
    if not weights:
        raise ValueError("a placement needs at least one agent")
    bad = [agent for agent, weight in weights.items() if not 0 < weight < 1_000]
    if bad:
        raise ValueError(f"the weight of {bad[0]} must be more than 0, and less than 1,000")
    return list(weights.items())


def _points(agent: str, weight: float) -> list[int]:
    twister = random.Random(point_of(agent))
    return [twister.getrandbits(64) for _ in range(max(1, round(POINTS * weight)))]
