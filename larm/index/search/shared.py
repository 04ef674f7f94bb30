"""SharedSearcher: one index, for any number of threads. Implements `larm.seams.Searcher`.

tantivy's searcher, the link graph and what they remember belong to one thread at a time. So each search under way has an
`IndexSearcher` of its own, which the next one takes over: there are as many as there were searches at a time.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from larm.errors import LarmError
from larm.index.search.searcher import IndexSearcher
from larm.index.search.suggesting import Suggestion
from larm.kit.deadline import OutOfTimeError
from larm.model.findings import Asked, Findings, WordStatistics
from larm.model.page_record import PageLinks, PageRecord
from larm.model.restriction import OpenTo


class SharedSearcher:
    """Opens the index when it is first asked: one that is damaged, or not there yet, is a sentence in the answer."""

    def __init__(self, name: str, opened: Callable[[], IndexSearcher]) -> None:
        """``opened`` makes one for a thread."""
        # constant after construction
        self.name = name
        self._opened = opened
        self._lock = threading.Lock()
        # guarded by self._lock
        self._idle: list[IndexSearcher] = []

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """None where it fails; `search` then says why."""
        try:
            with self._one() as searcher:
                return searcher.statistics(asked)
        except (LarmError, OutOfTimeError):
            return None

    def search(self, asked: Asked, among: Sequence[str] | None = None) -> Iterator[Findings]:
        """Yield one part. ``among``: addresses of the only pages that may be found; None: any."""
        try:
            with self._one() as searcher:
                found = searcher.find(asked, among)
        except OutOfTimeError:
            found = Findings(
                searcher=self.name, exact=False, failure=f"it took longer than {asked.seconds:.3g} s and was stopped"
            )
        except LarmError as error:
            found = Findings(searcher=self.name, exact=False, failure=str(error))
        yield found

    def suggest(self, typed: str, seconds: float | None = None) -> tuple[Suggestion, ...]:
        """What somebody may be about to type; nothing where it fails or takes longer: nobody has asked yet."""
        try:
            with self._one() as searcher:
                return searcher.suggest(typed, seconds)
        except (LarmError, OutOfTimeError):
            return ()

    def page(self, url: str, open_to: OpenTo = "owner") -> PageRecord | None:
        """What the index has of the page with this address, for these readers. Raises StorageError, UsageError."""
        with self._one() as searcher:
            return searcher.page(url, open_to)

    def links(self, url: str) -> PageLinks:
        """Links to and from it. Raises StorageError, UsageError."""
        with self._one() as searcher:
            return searcher.links(url)

    @property
    def known(self) -> int:
        """Pages in the index, as of now; 0 where it fails."""
        try:
            with self._one() as searcher:
                searcher.reload()
                return searcher.documents
        except LarmError:
            return 0

    def is_all_open(self, to: OpenTo) -> bool:
        """Return True if these readers could have had every page; False where the index does not say."""
        try:
            with self._one() as searcher:
                return searcher.is_all_open(to)
        except LarmError:
            return False

    @contextmanager
    def _one(self) -> Iterator[IndexSearcher]:
        """Not given back where it fails: the next one opens the index anew."""
        with self._lock:
            searcher = self._idle.pop() if self._idle else None
        if searcher is None:
            searcher = self._opened()
            searcher.name = self.name
        try:
            yield searcher
        except OutOfTimeError:
            self._give_back(searcher)
            raise
        self._give_back(searcher)

    def _give_back(self, searcher: IndexSearcher) -> None:
        with self._lock:
            self._idle.append(searcher)

    def __repr__(self) -> str:
        return f"<SharedSearcher {self.name}>"
