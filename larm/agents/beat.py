"""Values that agents tell each other about themselves. An agent sends a `Beat` to each other one every second or so, and gets
one back: all that is to be agreed on travels in them, as state and not as messages, so a beat that is lost costs a second.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
"""One more of it can still be sent."""
Weight = Annotated[float, msgspec.Meta(gt=0, lt=1_000)]
"""That a placement can be made of (`larm.agents.placement`)."""
Ballot = tuple[Count, str]
"""Round and proposer; the larger one wins."""
NO_BALLOT: Ballot = (0, "")


class View(msgspec.Struct, frozen=True, array_like=True):
    """Who has a part of the crawl: epoch after epoch one agent is added, or one is removed."""

    epoch: Count
    members: Annotated[dict[str, Weight], msgspec.Meta(min_length=1)]
    """Weights by the names of agents."""

    @property
    def majority(self) -> int:
        """So many are more than half."""
        return len(self.members) // 2 + 1


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
    changes: int = 0
    """Rises whenever something happens: who was idle twice with the same number was so all the time."""
    sent: int = 0
    """URLs to the agent that is told, since the sender's process began; acknowledged ones."""
    received: int = 0
    """URLs that came from the agent that is told, of its process."""


class Stamp(NamedTuple):
    """A moment of a process: its boot, and its clock's seconds."""

    boot: Count
    at: float


class Beat(msgspec.Struct, frozen=True, array_like=True):
    """One agent's state, as it tells it to one other."""

    sender: str
    stamp: Stamp
    """When it was made."""
    echo: Stamp | None
    """Stamp of the last beat that it had from the agent that is told; None: it does not stand by that agent any more."""
    views: tuple[View, ...]
    """In the order of epochs, from the oldest that matters to its own; none: it has no part yet."""
    released: Count
    """The epoch up to which it has given up, and handed over, what is not its own any more."""
    lost: tuple[str, ...]
    """Members that it has heard nothing of for so long that it would have them removed."""
    vote: Vote
    bid: Bid | None
    weight: Weight
    wish: str
    """``join``, ``leave`` or nothing."""
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
