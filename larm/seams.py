"""Every place where two stages meet, in the order of the river.

For a crawl, ``larm.building`` alone names the classes behind them. Fakes of what stands around a part are in
``larm.testing``. Filters, processors and storages of your own implement `Filter` (or, more simply, subclass
`larm.filters.chain.MessageFilter`), `Processor` and `Storage`. Beside the river stand `Scorer` and `Searcher`, for searches.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from larm.kit import clock
from larm.model.document import Document, Visit
from larm.model.findings import Asked, Findings, WordStatistics
from larm.model.lease import Lease
from larm.model.message import URLMessage
from larm.model.outcome import Fetched, Outcome

Drop = Callable[[Sequence[URLMessage], str], None]
"""``drop(messages, reason)``: how a filter says that it consumed messages; the chain counts and logs them."""


Clock = clock.Clock
"""Time, so that tests can move it."""


class Filter(Protocol):
    """A listener of the message handler (LARM-43). Called on the handler thread only, a batch at a time."""

    name: str
    """Its name in config.yaml, in `larm why` and in the statistics."""
    log_name: str
    """Its log is ``logs/<log_name>.log`` (LARM-46)."""

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """The messages that go on, in their order; every other one has been dropped, or parked by its own means.

        An exception drops the whole batch (fail closed) and is counted as ``error``.
        """

    def explain(self, message: URLMessage) -> str | None:
        """Why it would drop this message, None if it would let it pass. Changes nothing."""


@runtime_checkable
class Recalling(Filter, Protocol):
    """A filter that knows at once of some URLs that it will drop them, whatever else is in the message.

    Nine of ten links never become messages for that: they are counted, and are in the filter's log."""

    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        """Those of them. Any thread, asked for each page: be quick, and wait for nobody. Who is not sure leaves them out."""


class AddressGate(Protocol):
    """Whether an IP address may be asked now, which several hosts may share; `larm.frontier.shared_addresses`."""

    def admit(self, number: int, ip: str) -> bool:
        """A connection is about to be opened for the lease of this number. False: too early; the lease is given back.

        Any thread, within libcurl: it must not raise, nor take long.
        """


class CrawlOrder(Protocol):
    """Which of the URLs that wait is next (YIOOP-50). The frontier has a queue for each band of a host; band 0 comes first.

    Breadth-first, as a crawl is by default, is not one of these: there messages wait in the order of their arrival.
    """

    fair: bool
    """Hosts of all bands take turns; otherwise a host waits until no host has anything better."""
    generation: int
    """Rises when messages that wait may have to be filed again."""

    def found(self, page: URLMessage, links: Sequence[URLMessage]) -> Sequence[URLMessage]:
        """A page was read, or led elsewhere: its links, of which most are known, as they shall go into the river.

        Called on all threads that fetch or read.
        """

    def file(self, messages: Sequence[URLMessage]) -> Sequence[tuple[int, URLMessage]]:
        """New messages of one host: the band of each, and it as it shall wait. Under the lock of the host records."""

    def file_again(self, message: URLMessage, band: int) -> int:
        """The band of one that waits in ``band``. Under the lock of the host records."""

    def close(self) -> None:
        """After the crawl."""


class Fetcher(Protocol):
    """Many transfers at a time, driven by one thread that calls nothing but these. ``larm.fetch`` makes one a thread."""

    def start(self, lease: Lease) -> None:
        """Begin a transfer; returns at once."""

    def wait(self, seconds: float) -> list[tuple[Lease, Outcome]]:
        """Drive the transfers until at least one has ended, `wake` was called or the time is over."""

    def wake(self) -> None:
        """End a running (or the next) `wait` early; the only method for other threads."""

    @property
    def in_flight(self) -> int:
        """Transfers begun and not yet returned by `wait`."""

    @property
    def aside(self) -> int:
        """Of these, those that take no place of others, as their hosts are being looked up."""

    def abandon(self) -> list[Lease]:
        """Cut all transfers off and give their leases back."""

    def close(self) -> None:
        """Close all connections."""


class Processor(Protocol):
    """Bytes in, a Document out, for the MIME types it is registered for. Called on all threads that fetch or read: no state."""

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """Never raises for bad pages: what can't be read is an empty document with a warning."""


class Storage(Protocol):
    """Where documents leave the river. All calls come from the storage's own writer thread, in this order:
    open, (store | commit)*, close.

    One that may take long has an attribute ``progress`` (`larm.kit.threads.progress.Progress`), which says what it is about.

    One whose attribute ``exchanges`` is true gets each answer as it was transferred, as `Visit.exchange`; so it is also given
    visits without a document for answers that others are not told of: robots.txt, 304, what is tried again.

    One that has a method ``checkpoint`` beside `commit` is asked by it at all checkpoints but the last of a run: what was
    stored is to be durable then, it need not be visible yet.

    One that has a method ``checkpoint_rows`` is asked by it after each commit for rows of the block store, by key: they are
    written in one transaction with the position that the commit returned.

    One whose attribute ``lasting`` is false keeps nothing, so no checkpoint knows it, and it may come and go between runs."""

    name: str

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Begin, or go on at ``position`` (what the last checkpoint's `commit` returned): what was written later is undone.

        None: a new crawl, nothing is there yet. Raises StorageError.
        """

    def store(self, visits: Sequence[Visit]) -> None:
        """Write a batch: of each visit the links first, then the document. Raises StorageError, which ends the crawl."""

    def commit(self) -> Mapping[str, Any]:
        """Make all that was stored durable and visible; returns the position for `open`: str, int and nested mappings."""

    def close(self) -> None:
        """After the last commit. Must not raise for what was never stored. It may take as long as it gets on; a process that is
        ended meanwhile has all that was committed, and should complete the rest when it runs again."""


class Stateful(Protocol):
    """What has state that must be in step with the frontier's: it joins the cut of each checkpoint, and is in its header.

    What it said last is given to it when the crawl is continued, by the wiring; the header keeps it for a part that is not in a
    run. Called by the thread that saves checkpoints."""

    name: str
    """Its key in the header, for good."""

    def cut(self, *, last: bool) -> object:
        """A copy of its state: what msgpack knows. In the gate's cut, while all others wait: be quick, wait for nobody.

        ``last``: that of the run's last checkpoint."""

    def saved(self) -> None:
        """What `cut` returned is on the disk. Raises StorageError."""


class EndPolicy(Protocol):
    """Who decides whether a crawl that has nothing left to do is over: ``crawl.on_idle``, or others that may send it more.

    Set as `larm.engine.steering.Steering.policy` before the crawl runs."""

    def may_end(self) -> bool:
        """It is over if nothing is left. Any thread, at once: it waits for nobody, and is asked again by `Steering.ask_again`.

        False: the crawl waits for more, also where all that is left waits for very long."""


class FoundPage(Protocol):
    """A page that a search has found, as a `Scorer` sees it."""

    @property
    def url(self) -> str:
        """Its address."""

    @property
    def title(self) -> str:
        """As it came."""

    @property
    def body(self) -> str:
        """The main text."""

    @property
    def description(self) -> str:
        """What it says of itself."""

    @property
    def mime(self) -> str:
        """Such as ``text/html``."""

    @property
    def language(self) -> str:
        """ISO 639-1; empty where it is not known."""

    @property
    def modified(self) -> int:
        """Seconds since 1970; 0: not known. So is `fetched`."""

    @property
    def fetched(self) -> int:
        """When it was fetched."""

    @property
    def size(self) -> int:
        """Bytes."""


class Scorer(Protocol):
    """What a page is worth beside its words: the score of a classifier, say (YIOOP-69). Called on the thread that searches."""

    def score(self, page: FoundPage) -> float:
        """A number up to a million; times its weight it is added to the score. Asked of each candidate: be quick."""


class Searcher(Protocol):
    """Who answers searches: an index, several as one, another machine. Called on any thread, by several at a time.

    Neither method raises where a search fails: that is a sentence in ``failure``, and the others' answers go on.
    """

    name: str
    """Who answers, for people."""

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """How many pages have the words of the query; None where that can't be said: its scores are then its own."""

    def search(self, asked: Asked) -> Iterator[Findings]:
        """The parts of the answer, as they come: one or more for each index that was asked, also for one that fails."""
