"""Mode: how much a peer has to do with the others of its network (YACY-41, 42). Constants."""

from __future__ import annotations

from enum import StrEnum


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
