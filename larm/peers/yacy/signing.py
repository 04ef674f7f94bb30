"""What this room needs of an identity (`larm.peers.identity`): to sign, and to check what others have signed.

The simulation has cheap ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

Verify = Callable[[str, str, bytes, str], bool]
"""(public key, purpose, what was signed, signature): whether that key has signed it for this. Never raises."""


class Signer(Protocol):
    """A peer's key."""

    @property
    def key(self) -> str:
        """The public key, in 43 characters."""
        ...

    def sign(self, purpose: str, data: bytes) -> str:
        """A signature, good for this purpose alone, in 86 characters."""
        ...
