"""Values of the transport between agents: POST ``/agent/v1/KIND`` over HTTPS, with MessagePack bodies. Pure.

`larm.cluster.agent_server` receives requests, `larm.cluster.agent_client` sends them. An answer is bytes, a refusal or
silence is a value. Each request carries its `Origin`; the envelope is the same in all wire versions.
"""

import threading
from collections.abc import Callable
from typing import NamedTuple

import msgspec

PATH = "/agent/v1/"
LARGEST = 16 * 1024 * 1024
"""Bytes of a request's or answer's body."""
_MOST_LOGGED = 100


class Origin(msgspec.Struct, frozen=True, array_like=True):
    """The sender of a request, and the cluster as it knows it."""

    cluster: str
    """The cluster's id."""
    generation: int
    epoch: int
    """The epoch of its newest view."""
    sender: str
    """Name of the agent."""
    nonce: int
    """The number of its membership."""
    wire: int = 1
    """Wire version of the body."""


class Envelope(msgspec.Struct, frozen=True, array_like=True):
    """A request's body."""

    origin: Origin
    body: bytes
    to: str
    """Name of the agent that is asked. Another one may have its address and its certificate now."""


class Asked(NamedTuple):
    """A request whose sender was verified."""

    kind: str
    origin: Origin
    body: bytes


class Refusal(msgspec.Struct, frozen=True, array_like=True):
    """The answer to a request that is not carried out."""

    code: str
    """garbage, authority, expired, revoked, clock, name, agent, members, cluster, generation, wire, large, busy, or
    another one that agents agree on."""
    reason: str
    """A sentence for people, from the receiver's side: ``it is of another cluster``."""


class NoAnswer(NamedTuple):
    """There is no answer."""

    code: str
    """The code of a `Refusal`; ``silent``: it can't be reached, or did not answer in time."""
    reason: str
    """A sentence for people, from the sender's side: ``it did not answer within 5 s``."""
    unsent: bool = False
    """True if the request certainly was not carried out."""


def speaks_for(certified: str, agent: str) -> bool:
    """Return True if an agent may have this name: that in its certificate, a hyphen and digits of its directory."""
    return agent == certified or certified_name(agent) == certified


def certified_name(agent: str) -> str:
    """Return the name in the certificate of this agent."""
    return agent.rpartition("-")[0] or agent


class Complaints:
    """Logs each reason for which two agents can't talk once, until they talk again. Thread-safe."""

    def __init__(self, log: Callable[[str], object]) -> None:
        # constant after construction
        self._log = log
        self._lock = threading.Lock()
        # guarded by self._lock
        self._logged: set[tuple[str, str]] = set()

    def report(self, other: str, code: str, sentence: str) -> None:
        """Log the sentence, unless the other one had this code before. Strangers can't fill the log: 100 are the limit."""
        with self._lock:
            if (other, code) in self._logged or len(self._logged) >= _MOST_LOGGED:
                return
            self._logged.add((other, code))
        self._log(sentence)

    def forget(self, other: str) -> None:
        """Log again what is reported of this one: it was heard."""
        if self._logged:
            with self._lock:
                self._logged = {each for each in self._logged if each[0] != other}
