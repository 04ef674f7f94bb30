"""Values that agents tell each other about themselves. An agent sends a `Beat` to each other one every second or so, and gets
one back: all that is to be agreed on travels in them, as state and not as messages, so a beat that is lost costs a second.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import msgspec

LAST = (1 << 62) - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=LAST)]
"""One more of it can still be sent."""
Weight = Annotated[float, msgspec.Meta(gt=0, lt=1_000)]
"""That a placement can be made of (`larm.cluster.placement`)."""
Name = Annotated[str, msgspec.Meta(max_length=200)]
"""Of an agent."""
MOST = 1_000
"""Agents that one knows: each takes memory, and names can be made up without end."""
_MOST_WEIGHT = 20_000
"""Of all views in a beat together: what their placements take is bounded by that, to some 300 MB."""
Ballot = tuple[Count, Name]
"""Round and proposer; the larger one wins."""
Wish = Literal["", "join", "leave"]
NO_BALLOT: Ballot = (0, "")


class View(msgspec.Struct, frozen=True, array_like=True):
    """Who has a part of the crawl: epoch after epoch some agents are added, or removed."""

    epoch: Count
    members: Annotated[dict[Name, Weight], msgspec.Meta(min_length=1, max_length=MOST)]
    """Weights by the names of agents."""

    @property
    def majority(self) -> int:
        """So many are more than half."""
        return len(self.members) // 2 + 1

    def same(self, other: View) -> bool:
        """As ``==``, in less time."""
        return self is other or (self.epoch == other.epoch and self.members == other.members)


class Vote(msgspec.Struct, frozen=True, array_like=True):
    """What an agent has promised and accepted for the view of an epoch (as an acceptor of Paxos); saved before it is said."""

    epoch: Count
    promised: Ballot = NO_BALLOT
    accepted: Ballot = NO_BALLOT
    value: View | None = None


class Bid(msgspec.Struct, frozen=True, array_like=True):
    """What an agent asks the others to promise, and then, with a value, to accept (a proposer of Paxos)."""

    epoch: Count
    ballot: Ballot
    value: View | None = None


class Quiet(msgspec.Struct, frozen=True, array_like=True):
    """Whether an agent has anything left to do."""

    idle: bool = False
    """Nothing waits, nothing is in the air, all that it has sent was acknowledged."""
    changes: Count = 0
    """Rises whenever something happens: who was idle twice with the same number was so all the time."""
    sent: Count = 0
    """URLs to the agent that is told, since the sender's process began; acknowledged ones."""
    received: Count = 0
    """URLs that came from the agent that is told, of its process."""


class Stamp(NamedTuple):
    """A moment of a process: its boot, and its clock's seconds."""

    boot: Count
    at: float


class Beat(msgspec.Struct, frozen=True, array_like=True):
    """One agent's state, as it tells it to one other."""

    sender: Name
    stamp: Stamp
    """When it was made."""
    echo: Stamp | None
    """Stamp of the last beat that it had from the agent that is told; None: it does not stand by that agent any more."""
    views: Annotated[tuple[View, ...], msgspec.Meta(max_length=MOST)]
    """In the order of epochs, from the oldest that matters to its own; none: it has no part yet."""
    released: Count
    """The epoch up to which it has given up, and handed over, what is not its own any more."""
    lost: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MOST)]
    """Members that it has heard nothing of for so long that it would have them removed."""
    vote: Vote
    bid: Bid | None
    weight: Weight
    wish: Wish
    quiet: Quiet
    begun: bool
    """The crawl has begun: enough agents were there."""
    over: bool = False
    """It has found that the crawl is over."""

    @property
    def view(self) -> View:
        """Its own; of epoch 0: it has none."""
        return self.views[-1] if self.views else View(0, {})

    @property
    def epoch(self) -> int:
        """Of its view; 0: it has none."""
        return self.view.epoch

    def check(self) -> None:
        """Of another agent. Raises ValueError where placements of its views would take all memory."""
        values = [self.vote.value, *([self.bid.value] if self.bid is not None else [])]
        views = [*self.views, *(view for view in values if view is not None)]
        if sum(weight for view in views for weight in view.members.values()) > _MOST_WEIGHT:
            raise ValueError(f"the weights of the agents in its views are more than {_MOST_WEIGHT:,} together")
