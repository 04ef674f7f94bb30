"""Asker: what a node needs of wires, and how long each step of a search may wait for it."""

from __future__ import annotations

from typing import Protocol, TypeVar

import msgspec

from larm.kit.deadline import Deadline
from larm.peers.channel import Contact
from larm.peers.http_client import NoAnswer

A = TypeVar("A", bound=msgspec.Struct)


class Asker(Protocol):
    """`larm.peers.channel.Channel`, or the simulation's."""

    def ask(
        self, contact: Contact, path: str, question: msgspec.Struct, answers: type[A], *, seconds: float, most: int = 1_000_000
    ) -> A | NoAnswer:
        """What a peer answers."""
        ...


def share_of(deadline: Deadline, share: float) -> float:
    """Seconds for a step of a search, which has an end."""
    return share * (deadline.left() or 0.0)
