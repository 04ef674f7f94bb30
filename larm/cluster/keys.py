"""Keys of a cluster in etcd, and their values: MessagePack of frozen structs. Pure; used on any thread.

A struct is an array on the wire. A field is only ever added at the end: older versions ignore it, newer ones use its default.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple, TypeVar

import msgspec

LAST = (1 << 62) - 1
"""The highest epoch: one more can still be written."""
MOST = 120
"""Members of a view at most: the end of a run compares one key of each, and etcd allows 128 compares."""
MOST_PAST = 8
"""Unsettled views at which no agent joins. Losses go on, as the members bound them."""
Count = Annotated[int, msgspec.Meta(ge=0, le=LAST)]
Weight = Annotated[float, msgspec.Meta(gt=0, lt=1_000)]
"""A weight that a placement accepts (`larm.cluster.placement`)."""
Text = Annotated[str, msgspec.Meta(max_length=1_000)]
What = Literal["pause", "resume", "stop", "set"]
NO_CHANGES: Mapping[str, str] = MappingProxyType({})
_Value = TypeVar("_Value", bound=msgspec.Struct)


class ClusterId(msgspec.Struct, frozen=True, array_like=True):
    """The identity of a cluster."""

    cluster: Text
    """Random; etcd's own cluster_id survives a restore and an empty data directory."""
    generation: Count
    """One more each time that the cluster was founded again."""
    settings: dict[str, str]
    """Digests, by name, of the settings that all agents share; a default is left out."""
    wire: Count
    """Wire version that agents speak."""


class Member(msgspec.Struct, frozen=True, array_like=True):
    """An agent as its view has it."""

    weight: Weight
    nonce: Count


class PastView(msgspec.Struct, frozen=True, array_like=True):
    """A view that is not settled: one of its members may still have hosts that moved since."""

    epoch: Count
    weights: dict[str, Weight]


class Lost(msgspec.Struct, frozen=True, array_like=True):
    """An agent that was removed without a release."""

    epoch: Count
    """The first view without it."""
    revision: Count
    """It renewed at this revision for the last time, or before it."""


class View(msgspec.Struct, frozen=True, array_like=True):
    """The members of a cluster. Each view is a transaction on the one before."""

    epoch: Count = 0
    members: dict[str, Member] = {}
    past: tuple[PastView, ...] = ()
    """Unsettled views, the oldest first."""
    lost: dict[str, Lost] = {}
    """Agents lost since the oldest unsettled view."""
    closed: bool = False
    """The cluster was founded again, and an agent of the generation before may still send requests."""

    def with_agent(self, name: str) -> tuple[PastView, ...]:
        """Return the past views that have an agent. If it is lost, the hosts that it owned in any of them must be searched.

        It may not have known of the last one, and not have handed over what it owned before.
        """
        return tuple(past for past in self.past if name in past.weights)

    def then(self, members: dict[str, Member], lost: dict[str, Lost] | None = None) -> "View":
        """Return the next view, with these members."""
        weights = {name: member.weight for name, member in self.members.items()}
        past = (*self.past, PastView(self.epoch, weights)) if weights else self.past
        return View(self.epoch + 1, members, past, self.lost | (lost or {}), self.closed)


class AgentState(msgspec.Struct, frozen=True, array_like=True):
    """An agent's own key. Each write is a renewal."""

    nonce: Count
    boot: Count
    address: Text = ""
    wire: tuple[Count, Count] = (1, 1)
    """The lowest and the highest wire version that it speaks."""
    released: Count = 0
    """The newest epoch whose foreign hosts it has handed over."""
    stopped: bool = False
    """It stopped in good order: no request of it is in flight."""
    leaving: bool = False


class SeenAgent(NamedTuple):
    """An agent's key as a poll found it."""

    state: AgentState
    modified: int


class Run(msgspec.Struct, frozen=True, array_like=True):
    """A run of the crawl, from the start of its agents to its end."""

    number: Count = 0
    state: Literal["gathering", "running", "over"] = "gathering"
    why: Text = ""
    """Of one that is over though work is left: all pages of ``--max-pages`` are fetched."""
    first: Count = 0
    """Epoch of the view with which the first run began: while it lasts, no page is with another agent than its host's."""


class Idle(msgspec.Struct, frozen=True, array_like=True):
    """An agent's claim that nothing is left to do."""

    epoch: Count
    """The view for which it holds; 0: the agent is busy."""
    spent: bool = False
    """Work is left, but no page of ``--max-pages``."""


class Command(msgspec.Struct, frozen=True, array_like=True):
    """The newest command to all agents of a run, and the settings that were changed for all."""

    run: Count
    sender: Text = ""
    what: What = "set"
    why: Text = ""
    number: Count = 0
    """Random: the same words given again are another command. It stays if a setting is changed."""
    changes: dict[Text, Text] = {}
    """Settings that were changed in this run, as they were written."""

    def then(
        self, sender: str, what: What, why: str = "", number: int = 0, changes: Mapping[str, str] = NO_CHANGES
    ) -> "Command":
        """Return the next command of this run."""
        changed = {**self.changes, **changes}
        if what == "set":
            return msgspec.structs.replace(self, sender=sender, changes=changed)
        return Command(self.run, sender, what, why, number, changed)


class Quota(msgspec.Struct, frozen=True, array_like=True):
    """The pages of ``--max-pages`` that no agent was granted."""

    limit: Count
    left: int


class Grant(msgspec.Struct, frozen=True, array_like=True):
    """The pages that one agent was granted in all its runs, without those that it gave back."""

    pages: Count = 0


class Keys:
    """The keys of the cluster of this name."""

    def __init__(self, cluster: str) -> None:
        # constant after construction
        self.top = f"larm/{cluster}/"
        self.id = self.top + "id"
        self.view = self.top + "view"
        self.run = self.top + "run"
        self.command = self.top + "command"
        self.quota = self.top + "quota"
        self.agents = self.top + "agents/"
        self.idles = self.top + "idle/"
        self.grants = self.top + "grants/"
        self.figures = self.top + "figures/"
        self.lasts = self.top + "last/"


def pack(value: msgspec.Struct) -> bytes:
    """Return the value as etcd stores it."""
    return msgspec.msgpack.encode(value)


def unpack(data: bytes, kind: type[_Value]) -> _Value:
    """Return the value of a key. Raises msgspec.DecodeError."""
    return msgspec.msgpack.decode(data, type=kind)
