"""Asker: what a node needs of wires, and how long each step of a search may wait for it.

Signer, Verify: what it needs of an identity (`larm.peers.identity`): to sign, and to check what others have signed. The
simulation has cheap ones.
"""

from collections.abc import Callable
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


def share_of(deadline: Deadline, share: float) -> float:
    """Seconds for a step of a search, which has an end."""
    return share * (deadline.left() or 0.0)


Verify = Callable[[str, str, bytes, str], bool]
"""(public key, purpose, what was signed, signature): whether that key has signed it for this. Never raises."""


class Signer(Protocol):
    """A peer's key."""

    @property
    def key(self) -> str:
        """The public key, in 43 characters."""

    def sign(self, purpose: str, data: bytes) -> str:
        """A signature, good for this purpose alone, in 86 characters."""
