"""What peers and registrars say to each other: a Struct for each question and answer below ``/peer/v1/you``. Pure."""

from typing import Annotated

import msgspec
from msgspec import Meta

from larm.peers.channel import Contact
from larm.peers.yousearch.needs import Needs
from larm.peers.yousearch.recommendations import Recommendation
from larm.peers.yousearch.summary import WireSummary

Name = Annotated[str, Meta(max_length=64)]
Key = Annotated[str, Meta(max_length=64)]

HELLO = "/you/hello"
ANNOUNCE = "/you/announce"
LEAVE = "/you/leave"
LOOK = "/you/look"
REPORT = "/you/report"
SEARCH = "/you/search"
STATISTICS = "/you/statistics"
RECOMMEND = "/you/recommend"
RECOMMENDED = "/you/recommended"

MOST_SHOWN = 100
"""Hits that a peer is asked for, and answers with."""
LARGEST = 2_500_000
"""Bytes of an announcement: 64 partitions of three vectors in base64, and the rest. Recommendations have as many."""


class Hello(msgspec.Struct, frozen=True):
    """Are you there, and who are you? The answer's signature says it."""


class Card(msgspec.Struct, frozen=True):
    """What a machine says of itself."""

    key: Key
    name: Name = ""
    registrar: bool = False


class Done(msgspec.Struct, frozen=True):
    """There is nothing else to say."""


class Announce(msgspec.Struct, frozen=True):
    """I am here, and these are my words; or: I am still here, and they are as before."""

    name: Name
    port: Annotated[int, Meta(ge=1, le=65_535)]
    """The address is where the request comes from."""
    summary_name: Annotated[str, Meta(max_length=64)]
    """Of what is true from now on."""
    https: bool = False
    host: Annotated[str, Meta(pattern=r"^[A-Za-z0-9.-]{0,253}\Z")] = ""
    """The name in its certificate, where it has https; empty: its IP address."""
    before: Annotated[str, Meta(max_length=64)] = ""
    """Where the summary has changes: of the one before."""
    summary: WireSummary | None = None
    more: bool = False
    """There is more here, for some alone, of which no summary tells."""
    period: Annotated[float, Meta(ge=0.1, le=86_400)] = 120.0
    """Seconds until the next announcement, at the latest."""


class Announced(msgspec.Struct, frozen=True):
    """The registrar knows the peer; or wants to be told all of it."""

    known: bool


class Look(msgspec.Struct, frozen=True):
    """Who may have an answer?"""

    needs: Needs
    signed: bool = False
    """Who asks says who he is: peers that have more for some alone are wanted, too."""


class Found(msgspec.Struct, frozen=True):
    """These may have one."""

    peers: tuple[Contact, ...]
    everyone: int
    """Peers there are."""
    complete: bool = True
    """These have all that is needed; otherwise nobody has, and these have some of it."""
    unchanged: Annotated[float, Meta(ge=0)] = 0.0
    """Seconds since a peer had other words, came or went: an earlier answer may be another now."""
    young: bool = False
    """The registrar began less than a period ago, and may not have been told of all."""


class Report(msgspec.Struct, frozen=True):
    """This peer does not answer."""

    key: Key


class Recommended(msgspec.Struct, frozen=True):
    """What is recommended for this canonical query?"""

    query: Annotated[str, Meta(max_length=8_192)]


class Recommend(msgspec.Struct, frozen=True):
    """Recommendations, some of which may be gone."""

    said: Annotated[tuple[Recommendation, ...], Meta(max_length=2_000)]
