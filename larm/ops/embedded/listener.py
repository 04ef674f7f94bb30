"""Listener: the storage that tells a program of pages while a crawl runs, and remembers what could not be had.

Named in ``storage.chain`` by `larm.ops.embedded.crawling`, so it has a thread and a bounded queue like every storage: a program
that takes its time holds up the crawl, and nothing else. Nothing of it is on the disk.
"""

from collections.abc import Callable, Sequence

from larm.model.document import Visit
from larm.ops.embedded.page import Page, PageError
from larm.store.base import DocumentStorage

MOST_ERRORS = 10_000
"""That are remembered: some 3 MB. Of more only the number is."""


class Heard:
    """What a run leaves with its listener. Written by the storage's thread, read when the run has ended."""

    def __init__(self) -> None:
        self.errors: list[PageError] = []
        self.more_errors = 0
        self.failure: BaseException | None = None
        """What ``on_page`` raised."""


class Listener(DocumentStorage):
    """Implements `larm.seams.Storage`."""

    name = "on_page"
    lasting = False

    def __init__(self, on_page: Callable[[Page], object] | None, heard: Heard) -> None:
        # constant after construction
        self._on_page = on_page
        self._heard = heard

    def store(self, visits: Sequence[Visit]) -> None:
        """Tell of each. What ``on_page`` raises ends the crawl."""
        for visit in visits:
            if visit.failure:
                self._note(visit)
            elif visit.document is not None and visit.url is not None and self._on_page is not None:
                try:
                    self._on_page(Page(visit, visit.document))
                except BaseException as error:
                    self._heard.failure = error
                    raise

    def _note(self, visit: Visit) -> None:
        if len(self._heard.errors) < MOST_ERRORS:
            self._heard.errors.append(PageError(visit.page, visit.status, visit.failure, visit.referrer))
        else:
            self._heard.more_errors += 1
