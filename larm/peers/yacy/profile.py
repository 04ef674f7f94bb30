"""Profile: what a peer is, as its user has chosen, and as was chosen once for it; its mode says how much it has to do with
others (YACY-41, 42). Constants."""

from enum import StrEnum

import msgspec

from larm.peers.yacy.membership import PING_PERIOD


class Mode(StrEnum):
    """Of a peer. All but the first are Robinson's: they neither take nor send references."""

    DHT = "dht"
    """A part of the network."""
    PRIVATE = "private-peer"
    """Has to do with nobody."""
    PRIVATE_CLUSTER = "private-cluster"
    """Searches among the peers of its cluster, which alone it answers."""
    PUBLIC_CLUSTER = "public-cluster"
    """The same, and answers everybody."""
    PUBLIC = "public-peer"
    """Alone, and answers everybody."""

    @property
    def shares(self) -> bool:
        """It takes and sends references."""
        return self is Mode.DHT


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What its user has chosen, and what was chosen once for it."""

    hash: str
    born: int
    """When that was."""
    network: str
    name: str = ""
    ip: str = ""
    """Where it listens; empty where only others know."""
    port: int = 0
    mode: Mode = Mode.DHT
    tags: tuple[str, ...] = ()
    cluster: tuple[str, ...] = ()
    """Hashes of the members of its cluster (YACY-42)."""
    kinds: frozenset[str] = frozenset()
    """Of addresses, beside public ones, that it asks when others tell of them (`larm.peers.addresses`)."""
    crawls: bool = False
    """For others (YACY-39)."""
    publishes: bool = False
    """Its seed list, where others find it: a principal."""
    redundancy: int = 3
    ping: float = PING_PERIOD
    young: float = 3 * 86_400.0
    """Seconds that a peer must be old to get references (YACY-27)."""
