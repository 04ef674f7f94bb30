"""PatternRecord: what is remembered of one pattern of addresses of a host: what its pages were worth, and what it holds back.

Plain state of `HostTraps`, guarded like it. A checkpoint saves the fields in their order, up to the first that is not saved.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeVar

import msgspec

from larm.frontier.queue_row import QueueRow
from larm.model.message import URLMessage

ENOUGH = 6
"""Pages after which a pattern may be proven: of the last ones, one in four was worth while."""
_LATE = 16


class State(IntEnum):
    """What is thought of a pattern."""

    OPEN = 0
    """Its addresses are leased like all others."""
    CLOSED = 1
    """They are held back till the host has nothing else to do, and then asked for in rounds."""
    TRAP = 2
    """They went on and on; they stay where they are."""
    SAME = 3
    """They say what others of the host say that have other parameters; they stay where they are."""
    LIMIT = 4
    """No pattern, but one of the limits of ``filters.traps`` that they are beyond."""
    NOINDEX = 5
    """Pages like them ask not to be indexed or are login forms, and lead to nothing new; they stay where they are."""


_WHY = {
    State.OPEN: "does not change the text",
    State.CLOSED: "went on without anything new: what it holds back is requested when its host has nothing else to do, or by a"
    " later run",
    State.TRAP: "is a trap: it went on and on without anything new ('larm crawl --parked' fetches what it holds back)",
    State.NOINDEX: "has pages that ask not to be indexed or are login forms, and lead to nothing new ('larm crawl --parked'"
    " fetches what it holds back)",
    State.SAME: "does not change the text ('larm crawl --parked' fetches what it holds back)",
}


class Round(msgspec.Struct, array_like=True, gc=False):
    """What has been asked of a closed pattern, and what it said; see `larm.frontier.traps.rounds`."""

    size: int
    """Addresses that it held back when the round began."""
    began: int
    """Pages that the host had had by then."""
    left: int = -1
    """So many of them were not asked for yet."""
    asked: int = 0
    """Of the last part, addresses."""
    read: int = 0
    """Pages that came of it; and what they led to."""
    fresh: int = 0
    """Pages of them that said something new."""
    brought: int = 0
    """Addresses that they brought, which nobody had seen before, and which were held back."""
    total: int = 0
    """The same, of all parts."""
    dull: int = 0
    """Parts in a row that said nothing new."""
    reproduced: int = 0
    """Parts in a row that reproduced."""
    rate: float = 0.0
    """What each page of the first of these brought."""
    news: int = 0
    """Pages of all parts so far that said something new."""
    bred: int = 0
    """Addresses of the last part that were found on pages whose own pattern holds others back."""
    named: int = 0
    """Pages of all parts so far that have a title of their own; and all that came of them."""
    pages: int = 0
    useful: int = 0
    """Pages of the last part that are neither barren nor copies."""

    def __post_init__(self) -> None:
        if self.left < 0:
            self.left = self.size

    def ask(self, number: int) -> None:
        """A part of so many addresses goes on."""
        self.asked, self.read, self.fresh, self.brought, self.bred, self.useful = number, 0, 0, 0, 0, 0


class PatternRecord(msgspec.Struct, array_like=True, eq=False):
    """One pattern."""

    text: str
    breadth: int
    """An index of `larm.model.url_shape.BREADTHS`, or -1."""
    queue: QueueRow | None = None
    """`parked` as a checkpoint has it; None in memory."""
    judged: int = 0
    news: bytes = b""
    """The last pages, a bit each: 1 was worth while."""
    state: State = State.OPEN
    leaving: int = 0
    """Number of the first addresses held back that may go on."""
    native: int = 0
    """Number of addresses held back that were found before a round, or without one."""
    forced: bool = False
    """They go on whatever the limits are."""
    sifting: bool = False
    """Of these, only what is not held back by anything any more."""
    failures: int = 0
    """Rounds in a row of which more than half came back."""
    rate: float = 0.0
    """What each page of the last round that failed has brought."""
    tried: int = 0
    """Addresses let through although a broader pattern is closed, because little was known of this one."""
    barren: int = 0
    """Pages that nobody can search, and that led to nothing new (`Novelty.barren`), less those that outweigh them."""
    unindexed: bool = False
    """It was closed as its pages are of no use ..."""
    copies: bool = False
    """... because they are copies of other pages."""
    # not saved
    parked: Any = None
    """Addresses that it holds back, a `CachingQueue` of messages; None: it never did."""
    postponed: int = 0
    """Nothing more is asked for before the host has had so many pages."""

    def add(self, fresh: bool, window: int) -> None:
        """Note one more page; the last ``window`` pages are remembered."""
        bits = (int.from_bytes(self.news) << 1 | fresh) & ((1 << window) - 1)
        self.news = bits.to_bytes((window + 7) // 8)
        self.judged += 1

    def open(self) -> None:
        """Begin anew: it is like all others."""
        self.state, self.judged, self.news, self.failures = State.OPEN, 0, b"", 0
        self.barren, self.unindexed, self.copies = 0, False, False

    @property
    def closed(self) -> bool:
        """Its addresses are held back."""
        return self.state is not State.OPEN

    @property
    def proven(self) -> bool:
        """It is worth while, whatever is said of broader patterns."""
        late = min(self.judged, _LATE)
        return not self.closed and late >= ENOUGH and int.from_bytes(self.news[-_LATE // 8 :]).bit_count() * 4 >= late

    @property
    def fresh(self) -> int:
        """Pages of the window that were worth while."""
        return int.from_bytes(self.news).bit_count()

    @property
    def held(self) -> int:
        """Addresses that it holds back."""
        return len(self.parked) if self.parked is not None else 0

    @property
    def undecided(self) -> bool:
        """Nobody knows yet whether what it holds back is a trap."""
        return self.state is State.CLOSED and self.held > 0

    @property
    def why(self) -> str:
        """Why its addresses are held back, for people."""
        return f"pattern {self.text} {_WHY[self.state]}"

    def put(self, message: URLMessage) -> None:
        """Hold it back; `parked` is there."""
        if self.parked is not None:
            self.parked.put_many([message])

    def take(self, limit: int) -> list[URLMessage]:
        """Of those that may go on, the first, at most so many; none is left in the end."""
        taken: list[URLMessage] = self.parked.take(min(self.leaving, limit)) if self.parked is not None else []
        self.leaving = self.leaving - len(taken) if taken else 0
        self.native = max(self.native - len(taken), 0)
        self.sifting = self.sifting and self.leaving > 0
        return taken

    def saved(self) -> tuple[object, ...]:
        """Return the fields that a checkpoint saves."""
        queue = QueueRow.of(self.parked.snapshot()) if self.parked is not None else self.queue
        return self.text, self.breadth, queue, *msgspec.structs.astuple(self)[3:_SAVED]


_SAVED = PatternRecord.__struct_fields__.index("parked")


class PathRecord(msgspec.Struct, array_like=True, gc=False):
    """One path that has parameters."""

    variants: int = 0
    sets: list[int] = []
    """Of parameter names; at most as many as are allowed."""


_K = TypeVar("_K")
_V = TypeVar("_V")


def entry(table: dict[_K, _V], key: _K, make: Callable[[], _V], most: int) -> _V:
    """Return an entry of a table that keeps those used last, made where it is missing."""
    found = table.pop(key, None)
    if found is None:
        found = make()
        if len(table) >= most:
            del table[next(iter(table))]
    table[key] = found
    return found
