"""Outcome: what became of one fetch. A sealed set of values, matched with ``match``; none of them is an error of larm's.

Made by ``larm.fetch`` (on a fetcher thread), read by `larm.engine.landing`, which decides what follows.
"""

import enum

import msgspec

from larm.model.exchange import Exchange
from larm.model.restriction import UNKNOWN

WHO_ASKS = "where the server wants a certificate of who asks, sites in config.yaml names it (larm help sites)"
"""What to do about answers that may mean this."""


class FailReason(enum.StrEnum):
    """Why a fetch brought no HTTP answer that can be used. The policy for each is a row of a table in `larm.frontier`."""

    TIMEOUT = "timeout"  # connecting, or the whole request (LARM-19)
    BUSY = "busy"  # the time was up, and we are to blame: nobody turned to the transfer, or there was no room for its body
    CROWDED = "crowded"  # not sent: other hosts of the same address are being asked; the lease is given back
    UNRESOLVED = "unresolved"  # no such host
    CONNECT = "connect"  # refused, no route
    DROPPED = "dropped"  # the connection broke while sending or receiving
    PROXY = "proxy"  # the proxy that ``sites`` names did not take it to the site
    TLS = "tls"  # certificate or handshake
    PROTOCOL = "protocol"  # not HTTP, or headers without end
    CONTENT = "content"  # broken gzip, br, zstd, deflate
    PRIVATE = "private"  # an address that this crawl may not reach
    URL = "url"  # libcurl refuses the URL
    FILE = "file"  # a file that can't be read, or is none


class Timing(msgspec.Struct, frozen=True, gc=False):
    """What a fetch cost."""

    seconds: float = 0.0
    """From the start of the transfer to its end."""
    received: int = 0
    """Body bytes on the wire (compressed)."""


class Fetched(msgspec.Struct, frozen=True, gc=False):
    """A 2xx answer with a body."""

    status: int
    headers: dict[str, str]
    """Names in lower case; of a repeated header the values joined by ", " (X-Robots-Tag: by a line end)."""
    body: bytes
    """Decoded (Content-Encoding undone)."""
    timing: Timing
    truncated: bool = False
    """It is not the whole body: the transfer was stopped at ``fetch.page_size``, or see ``flaw``."""
    flaw: str = ""
    """What is wrong with the body, though it could be read: one line for a person."""
    exchange: Exchange | None = None
    """Where some storage wants it; so it is of the others."""
    restricted: int = UNKNOWN
    """Why strangers could not have had it: bits of `larm.model.restriction`."""


class Moved(msgspec.Struct, frozen=True, gc=False):
    """A 3xx answer that names another address."""

    status: int
    location: str
    """As the server wrote it, may be relative."""
    timing: Timing
    keeps_cookies: bool = False
    """The next request has the cookies of this answer, so the same address may say something else."""
    exchange: Exchange | None = None


class NotModified(msgspec.Struct, frozen=True, gc=False):
    """304: the copy that we have is current (LARM-16)."""

    headers: dict[str, str]
    timing: Timing
    exchange: Exchange | None = None
    restricted: int = UNKNOWN
    """As of `Fetched`."""


class Refused(msgspec.Struct, frozen=True, gc=False):
    """Any other status: 4xx, 5xx, a 3xx without Location, a 2xx without a body (204, 205)."""

    status: int
    headers: dict[str, str]
    timing: Timing
    retry_after: float | None = None
    """Seconds, from the Retry-After header (both of its forms)."""
    exchange: Exchange | None = None


class Failed(msgspec.Struct, frozen=True, gc=False):
    """No usable answer."""

    reason: FailReason
    detail: str
    """One line for a person."""
    timing: Timing
    exchange: Exchange | None = None


Outcome = Fetched | Moved | NotModified | Refused | Failed
