"""Said: what came from another agent, and by whom it is signed. Pure. `larm.cluster.seal` signs; `NoSeal` trusts all."""

import hashlib
import secrets
from typing import Final, NamedTuple, Protocol

import msgspec

GARBAGE: Final = (msgspec.MsgspecError, ValueError, RecursionError)
"""What decoders raise for what no agent of ours says; the last one for what is nested a thousand times."""


class Said(NamedTuple):
    """What was said, and by whom."""

    payload: bytes
    by: str = ""
    """The name in the sender's certificate; empty: in this cluster nobody signs."""

    def may_speak_for(self, name: str) -> bool:
        """Whether the sender is the agent of this name."""
        return not self.by or name.rpartition("-")[0] == self.by


class Sealing(Protocol):
    """How it is known who has said something."""

    name: str
    """In the certificate of this agent; empty: it has none."""

    def close(self, payload: bytes, *context: str) -> bytes:
        """Sign it. ``context``: what both sides know, and is not sent."""

    def open(self, data: bytes, *context: str) -> Said:
        """Raises ValueError or msgspec.MsgspecError where it was not signed so by somebody of this cluster."""


class NoSeal:
    """Everybody is believed."""

    name = ""

    def close(self, payload: bytes, *context: str) -> bytes:  # noqa: ARG002
        """See `Sealing`."""
        return payload

    def open(self, data: bytes, *context: str) -> Said:  # noqa: ARG002
        """See `Sealing`."""
        return Said(data)


def name_of(own: str) -> str:
    """A new agent's name, of the name in its certificate; empty: it has none."""
    return f"{own}-{secrets.token_hex(3)}" if own else secrets.token_hex(4)


def fingerprint_of(payload: bytes) -> str:
    """By which an answer names its question."""
    return hashlib.sha256(payload).hexdigest()
