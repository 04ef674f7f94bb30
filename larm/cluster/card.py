"""Values that agents tell each other about themselves beside what is voted on: where they are, how far they have got, and what
somebody wants all of them to do. A card goes with each beat; the last one of each agent counts.
"""

from typing import Annotated, Literal

import msgspec

from larm.cluster.beat import MOST, Count, Name

SAMPLE = 128
"""Hashes that tell the overlap: 1 KB in each beat. As long as no agent has more pages the overlap is exact; later one page in a
hundred shows."""
RESTS = 100
"""Hosts that ask for a rest of which a card tells: some 3 KB at most."""
Address = Annotated[str, msgspec.Meta(max_length=1_000)]
"""Or a directory."""
What = Literal["", "pause", "resume", "stop"]


class Command(msgspec.Struct, frozen=True, array_like=True, order=True):
    """What all agents are to do, until there is a newer one."""

    number: Count = 0
    """Milliseconds since 1970, when it was given, or one more than that of the one before: the larger one wins."""
    sender: Name = ""
    what: What = ""
    why: Name = ""
    """Of a stop: the reason of the run's end (`larm.engine.ending.Ending`)."""


class Pages(msgspec.Struct, frozen=True, array_like=True):
    """Of ``--max-pages``, how many an agent may fetch, as far as is known (`larm.cluster.quota`)."""

    spent: Count = 0
    """It has fetched so many; as it says itself."""
    granted: Count = 0
    """So many were ever given to it."""
    returned: Count = 0
    """So many of these it has given back."""


class Figures(msgspec.Struct, frozen=True, array_like=True):
    """How far an agent has got, in all its runs."""

    pages: Count = 0
    """Stored."""
    known: Count = 0
    """URLs that it has taken in."""
    waiting: Count = 0
    """Of these, URLs that are not done."""
    sent: Count = 0
    """URLs of others that it found and sent to them."""
    sample: Annotated[tuple[int, ...], msgspec.Meta(max_length=SAMPLE)] = ()
    """The smallest hashes of its pages' addresses (`larm.cluster.page_sample`)."""
    paused: bool = False
    hungry: bool = False
    """It has work, and as good as no pages left of those that it may fetch."""
    recovered: Count = 0
    """Pages that it has not fetched, as they were there (`larm.cluster.copies`)."""


class Card(msgspec.Struct, frozen=True, array_like=True):
    """An agent, as it presents itself."""

    address: Address
    """At which it listens to other agents."""
    serve: Address = ""
    """Of its ``larm serve``; empty: nobody has said."""
    directory: Address = ""
    """On its machine."""
    figures: Figures = Figures()
    command: Command = Command()
    pages: Annotated[dict[Name, Pages], msgspec.Meta(max_length=2 * MOST)] = {}
    """By the names of agents, as far as it knows."""
    rests: Annotated[dict[Address, Count], msgspec.Meta(max_length=RESTS)] = {}
    """Hosts that have asked it for a rest, and until when: seconds since 1970 (`larm.cluster.card`)."""
    short: bool = False
    """It hands pages out, and has none left for who asks."""


class Rests:
    """Hosts that have asked this agent for a rest. If it dies, the next owner of its hosts leaves them alone for that long.

    Only rests that can outlive it are kept: an agent waits for half of ``adopt_after`` before it adopts a host. Times are
    seconds since 1970, as machines differ in all other clocks. Noted by fetcher threads, told by ``larm-agents``."""

    def __init__(self, shortest: float) -> None:
        # constant after construction
        self._shortest = shortest
        # single operations on a dictionary
        self._until: dict[str, int] = {}

    def note(self, host: str, seconds: float, now: float) -> None:
        """It asks for so many."""
        if seconds >= self._shortest:
            self._until[host] = round(now + seconds)

    def told(self, now: float) -> dict[str, int]:
        """Those that last longest; others are forgotten when they are over."""
        found = {host: until for host, until in list(self._until.items()) if until > now}
        for host in self._until.keys() - found.keys():
            del self._until[host]
        return dict(sorted(found.items(), key=lambda each: -each[1])[:RESTS])
