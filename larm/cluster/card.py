"""Card: what an agent tells all others of itself, as a key of etcd under its lease: where it is, and how far it has got.
`Rests`: hosts that asked it for a rest. Values; `Rests` says its threads.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

import msgspec

from larm.cluster.keys import Count, Text

SAMPLE = 128
"""Hashes that tell the overlap: 1 KB. The overlap is exact while no agent has more pages; later one page in a hundred shows."""
RESTS = 100
"""Hosts that ask for a rest of which a card tells: some 3 KB at most."""


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
    sample: tuple[int, ...] = ()
    """The smallest hashes of its pages' addresses (`larm.cluster.page_sample`)."""
    paused: bool = False
    recovered: Count = 0
    """Pages that it has not fetched, as they were there (`larm.cluster.copies`)."""
    work: dict[str, Count] = {}
    """Fetches of this run, by thread (UBI-22)."""


class Card(msgspec.Struct, frozen=True, array_like=True):
    """An agent, as it presents itself."""

    address: Text = ""
    """At which it listens to other agents."""
    serve: Text = ""
    """Of its ``larm serve``; empty: not known."""
    directory: Text = ""
    """On its machine."""
    figures: Figures = Figures()
    rests: dict[Text, Count] = {}
    """Hosts that have asked it for a rest, and until when: seconds since 1970."""
    since: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """Seconds since 1970 at which its pages became more."""
    taken: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """Seconds since 1970 at which its figures were taken."""


_decoder = msgspec.msgpack.Decoder(Card)


def read_cards(found: Mapping[str, bytes]) -> dict[str, Card]:
    """Return the cards that can be read. A later version may say more, but no other things at the same places."""
    cards = {}
    for name, data in found.items():
        with suppress(msgspec.MsgspecError, ValueError, RecursionError):
            cards[name] = _decoder.decode(data)
    return cards


class Rests:
    """Hosts that have asked this agent for a rest. If it is lost, the next owner of its hosts leaves them alone for that long.

    Only rests that can outlive it are kept: another agent waits for a lease before it asks a host. Times are seconds since
    1970, as machines differ in all other clocks. Noted by fetcher threads, told by ``larm-agents``."""

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
