"""What may be asked of a running crawl, and what it answers: values that go over its socket as lines of JSON.

A request is one line: ``{"v": 1, "ask": "hosts", "page": 2}``. So is an answer: ``{"ok": true, "v": 1, "answer": {}}``, or
``{"ok": false, "v": 1, "error": "a sentence"}``. A stream is a line a second, until either side closes the connection. A
connection takes any number of requests, which are answered in their order.

`VERSION` rises when somebody who knows the one before would misunderstand; new requests and new fields do not.
"""

from typing import Final, Generic, Literal, TypeVar, get_args

import msgspec

from larm.engine.figures.snapshot import AgentLine, ClusterFigures, Snapshot
from larm.engine.orders import AnyOrder, Done
from larm.model.seen import Seen

VERSION = 1
LONGEST = 1_000_000
"""Bytes of a request: some ten thousand URLs to add. What is longer is refused, and the connection closed."""
A = TypeVar("A")


class Request(msgspec.Struct, Generic[A], frozen=True, tag_field="ask", tag=str.lower, forbid_unknown_fields=True):
    """Base of all; ``A`` is what is answered, see `ANSWERS`."""


# -- answers


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How a crawl stands, or stood at last."""

    state: str
    """running, paused, idle (nothing is left: it waits for URLs) or ending."""
    written: float = 0.0
    """When these figures were taken, in seconds since 1970; 0: there are none."""
    limited_by: str = ""
    """What limits the crawl now, one phrase."""
    pages_per_second: float = 0.0
    bytes_per_second: float = 0.0
    figures: Snapshot = Snapshot()
    changes: dict[str, str] = {}
    """Settings that were set while it runs."""
    waits: tuple[str, ...] = ()
    """What its end waits for, where it is ending."""


class Report(Standing, frozen=True, kw_only=True):
    """How it stands."""

    directory: str
    pid: int
    average_over_seconds: float


class HostLine(msgspec.Struct, frozen=True):
    """One host."""

    host: str
    state: str
    """blocked, moving (to another crawl, or from one), given up, left alone (it asked for that), errors (it has little else to
    answer, and is asked less often), robots.txt, fetching, at its limit (of requests or bytes), waiting (for its
    delay), in line (others of its IP address come first), ready or done."""
    queued: int
    """URLs that wait here."""
    in_flight: int
    next: float
    """Seconds until it may be asked; 0: now, or nobody knows."""
    delay: float
    """Seconds between two requests."""
    health: int
    backoffs: int
    """Times in a row that it asked to be left alone."""
    robots: str
    """known, loading, not known yet or none."""
    held: int
    """URLs that are held back, as they look like a trap or are beyond a limit."""
    closed: tuple[str, ...] = ()
    """The patterns by which they are."""
    address: str = ""
    """IP address of its last connection, at which other hosts may be as well."""


class HostTable(msgspec.Struct, frozen=True):
    """A page of hosts."""

    known: int
    """Hosts of the crawl."""
    found: int
    """With the text that was asked for."""
    page: int
    pages: int
    hosts: tuple[HostLine, ...]
    resting: int = 0
    """Not among them, as they were not used for long; the first thousand are where a text is asked for that they have."""


class Fetches(msgspec.Struct, frozen=True):
    """The last pages or errors, the newest first."""

    fetches: tuple[Seen, ...]


class Explanation(msgspec.Struct, frozen=True):
    """Topic and sentence."""

    rows: tuple[tuple[str, str], ...]


class AgentTable(msgspec.Struct, frozen=True):
    """The agents, as this one sees them."""

    cluster: str
    me: str
    epoch: int
    begun: bool
    agents: tuple[AgentLine, ...]
    owner: str = ""
    """Who has the host that was asked for."""
    totals: ClusterFigures | None = None
    """Of all together."""
    run: str = ""
    """gathering, running or over; empty: not known."""
    changes: dict[str, str] = {}
    """Settings that were changed for all agents of the run."""


class Lines(msgspec.Struct, frozen=True):
    """Of a log."""

    log: str
    lines: tuple[str, ...]
    logs: tuple[str, ...] = ()
    """Names of all logs; only where none was asked for."""


# -- requests


class Status(Request[Report], frozen=True):
    """How it stands now."""


class Watch(Request[Report], frozen=True):
    """The same every second: a stream."""


class Hosts(Request[HostTable], frozen=True):
    """Its hosts, those of this run that are in memory."""

    sort: str = "queued"
    """A field of `HostLine`; numbers, largest first."""
    page: int = 1
    size: int = 50
    """Of a page, at most 1,000."""
    having: str = ""
    """Only those with this text in their names."""


class Why(Request[Explanation], frozen=True):
    """What it thinks of a URL now: each filter, robots.txt, the state of the host."""

    url: str


class Pages(Request[Fetches], frozen=True):
    """The last pages."""

    count: int = 20


class Errors(Request[Fetches], frozen=True):
    """The last fetches that failed."""

    count: int = 20


class Tail(Request[Lines], frozen=True):
    """The last lines of a log, by its name in ``logs/`` without ``.log``; without a name, which logs there are."""

    log: str = ""
    lines: int = 20
    follow: bool = False
    """What is added as well, every second: a stream."""


class Agents(Request[AgentTable], frozen=True):
    """Of a crawl that several agents do: who they are."""

    host: str = ""
    """Also say whose this is."""


class Leave(Request[Done], frozen=True):
    """Of a crawl that several agents do: this one hands its hosts over, then ends. Answered before it has."""


class All(Request[Done], frozen=True):
    """Have all agents of a cluster pause, go on, end, or change a setting. Those that can't be heard are told later."""

    what: Literal["pause", "resume", "stop", "set"]
    key: str = ""
    """Of the setting."""
    value: str = ""
    """YAML, as behind ``-s``."""


class Do(Request[Done], frozen=True):
    """Carry out an order. What is answered is in the journal: it holds, also after a kill."""

    order: AnyOrder


class Checkpoint(Request[Done], frozen=True):
    """Save all of it now; answered when it is on the disk."""


class Hold(Request[Done], frozen=True):
    """Save all of it now, and nothing more as long as this connection is there: its files are to be copied. Answered when it is
    on the disk. The crawl goes on meanwhile; its end saves all the same."""


class Release(Request[Done], frozen=True):
    """Go on with saving. Refused where the crawl has saved since `Hold`: then what was copied may not belong together."""


class Stop(Request[Done], frozen=True):
    """End in good order, as Ctrl-C does; answered before it has ended."""


AnyRequest = (
    Status | Watch | Hosts | Why | Pages | Errors | Tail | Agents | All | Leave | Do | Checkpoint | Hold | Release | Stop
)
AnyAnswer = Report | HostTable | AgentTable | Fetches | Explanation | Lines | Done
ANSWERS: Final[dict[type, type]] = {each: get_args(each.__orig_bases__[0])[0] for each in get_args(AnyRequest)}
"""What is answered to each request: the type that its base is given."""


class Reply(msgspec.Struct, frozen=True):
    """The line that carries an answer."""

    ok: bool
    v: int = VERSION
    error: str = ""
    answer: msgspec.Raw = msgspec.Raw(b"null")


def encode_request(request: object) -> bytes:
    """One line."""
    return b'{"v":%d,' % VERSION + msgspec.json.encode(request)[1:] + b"\n"


def encode_answer(answer: object) -> bytes:
    """One line."""
    return msgspec.json.encode(Reply(ok=True, answer=msgspec.Raw(msgspec.json.encode(answer)))) + b"\n"


def encode_refusal(why: str) -> bytes:
    """One line."""
    return msgspec.json.encode(Reply(ok=False, error=why)) + b"\n"


class _Envelope(msgspec.Struct):
    v: int


def decode_request(line: bytes) -> AnyRequest:
    """Raises ValueError, with a sentence for who has sent it."""
    try:
        version = msgspec.json.decode(line, type=_Envelope).v
        if version != VERSION:
            raise ValueError(f"this crawl speaks version {VERSION} of the protocol, not {version}: use the larm that runs it")
        tree = msgspec.json.decode(line)
        del tree["v"]
        found: AnyRequest = msgspec.convert(tree, AnyRequest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"no request that this crawl knows: {error}") from error
    return found
