"""Values that agents tell each other about themselves beside what is voted on: where they are, how far they have got, and what
somebody wants all of them to do. A card goes with each beat; the last one of each agent counts.
"""

from __future__ import annotations

from typing import Literal

import msgspec

What = Literal["", "pause", "resume", "stop"]


class Command(msgspec.Struct, frozen=True, array_like=True, order=True):
    """What all agents are to do, until there is a newer one."""

    number: int = 0
    """Milliseconds since 1970, when it was given, or one more than that of the one before: the larger one wins."""
    sender: str = ""
    what: What = ""
    why: str = ""
    """Of a stop: the reason of the run's end (`larm.river.crawl.Ending`)."""


class Pages(msgspec.Struct, frozen=True, array_like=True):
    """Of ``--max-pages``, how many an agent may fetch, as far as is known (`larm.agents.quota`)."""

    spent: int = 0
    """It has fetched so many; as it says itself."""
    granted: int = 0
    """So many were ever given to it."""
    returned: int = 0
    """So many of these it has given back."""


class Figures(msgspec.Struct, frozen=True, array_like=True):
    """How far an agent has got, in all its runs."""

    pages: int = 0
    """Stored."""
    known: int = 0
    """URLs that it has taken in."""
    waiting: int = 0
    """Of these, URLs that are not done."""
    sent: int = 0
    """URLs of others that it found and sent to them."""
    sample: tuple[int, ...] = ()
    """The smallest hashes of its pages' addresses (`larm.agents.page_sample`)."""
    paused: bool = False
    hungry: bool = False
    """It has work, and as good as no pages left of those that it may fetch."""


class Card(msgspec.Struct, frozen=True, array_like=True):
    """An agent, as it presents itself."""

    address: str
    """At which it listens to other agents."""
    serve: str = ""
    """Of its ``larm serve``; empty: nobody has said."""
    directory: str = ""
    """On its machine."""
    figures: Figures = Figures()
    command: Command = Command()
    pages: dict[str, Pages] = {}
    """By the names of agents, as far as it knows."""
    short: bool = False
    """It hands pages out, and has none left for who asks."""
