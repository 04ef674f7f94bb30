"""Fakes for the seams: what a test of your own filter or storage, or of one stage alone, needs around it.

`FakeFetcher` answers from a script, `ListStorage` keeps what it gets, `Drops` collects what a filter drops, `FailingFilter`
fails, `FakeSearcher` finds what it is told, `message`, `lease` and `page` make the values that go through them::

    drops = Drops()
    assert NoPrinting().sift([message("http://a.localhost/print/1")], drops) == []
    assert drops.reasons() == ["printing version"]
"""

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from larm.errors import StorageError
from larm.kit.threads.progress import Progress
from larm.model.document import Visit
from larm.model.findings import Asked, Findings, WordStatistics
from larm.model.hit import Hit
from larm.model.lease import Lease
from larm.model.message import START, Known, URLMessage
from larm.model.outcome import Fetched, Outcome, Refused, Timing
from larm.model.url import BadUrl, Url, URLNormalizer
from larm.seams import Drop

Script = Outcome | Sequence[Outcome] | Callable[[Lease], Outcome]
"""One outcome for ever; several, of which the last stays; or a function."""

_numbers = itertools.count(1)
_normalizer = URLNormalizer()


def url(text: str) -> Url:
    """The Url of an address, with default rules. Raises BadUrl."""
    return _normalizer.parse(text)


def message(text: str, referrer: str = START, link_type: int = 0, depth: int = 0) -> URLMessage:
    """A message for the address."""
    return URLMessage(url(text), referrer, link_type, depth)


def lease(text: str, *, robots: bool = False, known: Known | None = None) -> Lease:
    """A lease for the address, with a number of its own."""
    about = URLMessage(url(text), known=known)
    return Lease(next(_numbers), about.url.host, about, robots)


def page(body: str | bytes = "", status: int = 200, content_type: str = "text/html; charset=utf-8", **headers: str) -> Fetched:
    """The outcome of a good fetch; ``headers`` with ``_`` for ``-``."""
    data = body.encode() if isinstance(body, str) else body
    fields = {"content-type": content_type} | {name.replace("_", "-").lower(): value for name, value in headers.items()}
    return Fetched(status, fields, data, Timing(0.01, len(data)))


class FakeFetcher:
    """Implements `larm.seams.Fetcher` without a network: the outcome of each address stands in a script.

    Addresses that are not in it get ``otherwise`` (404). A transfer ends at the next `wait`, in the order of `start`, unless
    its address is in ``held``: then after `release`. One thread calls it, apart from `wake` and `release`.
    """

    def __init__(
        self, script: Mapping[str, Script] | None = None, *, otherwise: Script | None = None, held: Iterable[str] = ()
    ) -> None:
        # constant after construction
        self._otherwise: Script = otherwise if otherwise is not None else Refused(404, {}, Timing())
        self._changed = threading.Condition()
        # only the calling thread
        self._script: dict[str, Script] = dict(script or {})
        self.started: list[Lease] = []
        """All leases so far, in order."""
        self.closed = False
        # guarded by self._changed
        self._held = set(held)
        self._flying: deque[Lease] = deque()
        self._woken = False

    def start(self, lease: Lease) -> None:
        """Begin; the outcome is made at `wait`."""
        with self._changed:
            self.started.append(lease)
            self._flying.append(lease)

    def wait(self, seconds: float) -> list[tuple[Lease, Outcome]]:
        """All transfers that can end. Waits only where none can."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken or self._ready_locked(), seconds)
            self._woken = False
            done = self._ready_locked()
            self._flying = deque(lease for lease in self._flying if lease.message.url.access in self._held)
        return [(lease, self._outcome(lease)) for lease in done]

    def wake(self) -> None:
        """End a running (or the next) `wait` early."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def release(self, address: str) -> None:
        """Let the transfers of a held address end."""
        with self._changed:
            self._held.discard(address)
            self._changed.notify_all()

    @property
    def in_flight(self) -> int:
        """Transfers begun and not yet returned."""
        return len(self._flying)

    @property
    def aside(self) -> int:
        """Nothing is looked up."""
        return 0

    def abandon(self) -> list[Lease]:
        """Give all leases back."""
        with self._changed:
            left, self._flying = list(self._flying), deque()
        return left

    def close(self) -> None:
        """Nothing to free; `closed` says that it was called."""
        self.closed = True

    def _ready_locked(self) -> list[Lease]:
        return [lease for lease in self._flying if lease.message.url.access not in self._held]

    def _outcome(self, lease: Lease) -> Outcome:
        address = lease.message.url.access
        script = self._script.get(address, self._otherwise)
        if isinstance(script, Sequence):
            if len(script) > 1:
                self._script[address] = script[1:]
            return script[0]
        return script(lease) if callable(script) else script


class ListStorage:
    """Implements `larm.seams.Storage` in a list. Position: how many visits are committed.

    ``fail_after``: the store that would exceed so many visits raises StorageError, as a full disk does. ``fail_commit``: so
    does each commit. ``release``: `close` takes until it is set, and `progress` is for the test to move meanwhile. Keeps its
    visits over `close`, so that `open` can be tried again with an older position.
    """

    def __init__(
        self,
        name: str = "list",
        *,
        fail_after: int | None = None,
        fail_commit: bool = False,
        release: threading.Event | None = None,
    ) -> None:
        # constant after construction
        self.name = name
        self.progress = Progress()
        self._release = release
        # only the writer thread; read by the test when that has ended
        self.fail_after = fail_after
        self.fail_commit = fail_commit
        self.visits: list[Visit] = []
        self.committed = 0
        """Visits that the last commit made durable."""
        self.calls: list[str] = []
        """Names of the methods called, in order."""

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Forget what was stored after ``position``."""
        self.calls.append("open")
        self.committed = 0 if position is None else int(position["visits"])
        if self.committed > len(self.visits):
            raise StorageError(f"{self.name}: has {len(self.visits)} visits, the checkpoint says {self.committed}")
        del self.visits[self.committed :]

    def store(self, visits: Sequence[Visit]) -> None:
        """Keep them."""
        self.calls.append("store")
        if self.fail_after is not None and len(self.visits) + len(visits) > self.fail_after:
            raise StorageError(f"{self.name}: no space left for {len(visits)} visits")
        self.visits.extend(visits)

    def commit(self) -> Mapping[str, Any]:
        """Note how far it is."""
        self.calls.append("commit")
        if self.fail_commit:
            raise StorageError(f"{self.name}: can't commit")
        self.committed = len(self.visits)
        return {"visits": self.committed}

    def close(self) -> None:
        """Nothing to close; see ``release``."""
        self.calls.append("close")
        if self._release is not None:
            self._release.wait()

    @property
    def urls(self) -> list[str]:
        """Access URLs of the documents, in the order in which they were stored."""
        return [visit.url.access for visit in self.visits if visit.url is not None and visit.document is not None]


class Drops:
    """A `larm.seams.Drop` that collects."""

    def __init__(self) -> None:
        self.all: list[tuple[URLMessage, str]] = []
        """Messages with their reasons."""

    def __call__(self, messages: Sequence[URLMessage], reason: str) -> None:
        """Note them."""
        self.all.extend((message, reason) for message in messages)

    def reasons(self) -> list[str]:
        """The reasons, in order."""
        return [reason for _, reason in self.all]

    def urls(self) -> list[str]:
        """Access URLs of what was dropped."""
        return [message.url.access for message, _ in self.all]


class FailingFilter:
    """Implements `larm.seams.Filter`, and raises at each batch from number ``after`` on (0: the first)."""

    name = "failing"
    log_name = "FailingFilter"

    def __init__(self, error: Exception | None = None, after: int = 0) -> None:
        self._error = error if error is not None else RuntimeError("the filter is broken")
        self._left = after
        self.batches: list[list[URLMessage]] = []
        """All batches that it was given."""

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:  # noqa: ARG002 - it never comes to that
        """Lets everything pass, then raises."""
        self.batches.append(list(batch))
        if self._left <= 0:
            raise self._error
        self._left -= 1
        return list(batch)

    def explain(self, message: URLMessage) -> str | None:  # noqa: ARG002
        """None."""
        return None


class FakeSearcher:
    """Implements `larm.seams.Searcher`: answers with these hits, when it may."""

    def __init__(self, name: str, *hits: Hit, statistics: WordStatistics | None = None, total: int | None = None) -> None:
        """``total``: pages that it says it has found; None: as many as there are hits."""
        self.name = name
        self.may = threading.Event()
        """It answers as long as this is set, as it is in the beginning."""
        self.may.set()
        self.asked: list[Asked] = []
        """What it was asked for pages."""
        self._hits, self._statistics = hits, statistics
        self._total = len(hits) if total is None else total

    def statistics(self, asked: Asked) -> WordStatistics | None:  # noqa: ARG002 - it says the same to all
        """As given, at once."""
        return self._statistics

    def search(self, asked: Asked) -> Iterator[Findings]:
        """All of it in one part."""
        self.asked.append(asked)
        self.may.wait()
        yield Findings(searcher=self.name, hits=self._hits, total=self._total, complete=self._total)


def normalised(normalizer: URLNormalizer, text: str) -> str:
    """The normalised form; text that is no URL for this crawl comes back unchanged (LARM-34, LARM-35)."""
    try:
        return normalizer.join(text, "").normalised
    except BadUrl:
        return text
