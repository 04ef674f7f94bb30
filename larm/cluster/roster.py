"""Roster: all agents that a crawl has ever met, in a file of its directory: who searches all of them, or asks whose a host is,
reads it, also when no agent runs any more. Written on ``larm-agents``; read by anybody.
"""

from pathlib import Path
from typing import Literal

import msgspec

from larm.cluster.card import Card
from larm.cluster.files import IDENTITY, ROSTER
from larm.cluster.placement import PLACEMENTS, key_of
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.json_file import read_json


class _Named(msgspec.Struct):
    name: str


class Roster(msgspec.Struct, frozen=True):
    """The file."""

    cluster: str
    me: str
    by: Literal["site", "host"] = "site"
    placement: Literal["ring", "intervals"] = "ring"
    members: dict[str, float] = {}
    """Weights of those that have a part of the crawl, by name."""
    cards: dict[str, Card] = {}
    """Of all, by name; of those that are gone as well, for they may have kept their pages."""

    @property
    def others(self) -> dict[str, Card]:
        """All but ours."""
        return {name: card for name, card in sorted(self.cards.items()) if name != self.me}

    def owner(self, host: str) -> str:
        """The agent that has this host, by name; empty: nobody yet."""
        if not self.members:
            return ""
        return PLACEMENTS[self.placement](self.members).owner(key_of(host, self.by))


def place_of(name: str, card: Card | None) -> str:
    """Where an agent is, for a person."""
    if card is None:
        return name
    return f"{name} at {card.address}"


def read_roster(folder: Path) -> Roster | None:
    """Of a crawl's folder of queues; None: it has no part in a cluster, or did not meet anybody yet. Raises StorageError."""
    return read_json(folder / ROSTER, Roster, "remove it, and an agent that runs writes it again")


def write_roster(folder: Path, roster: Roster) -> None:
    """Raises StorageError."""
    write_atomically(folder / ROSTER, msgspec.json.encode(roster))


def agent_of(folder: Path) -> str:
    """The name of the agent whose folder of queues this is; empty: of none that can be read."""
    try:
        return msgspec.json.decode((folder / IDENTITY).read_bytes(), type=_Named).name
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return ""
