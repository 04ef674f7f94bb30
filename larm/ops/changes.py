"""What the last run of a crawl found new, changed or gone: for ``larm report``. Main thread; a crawl may be running."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from larm.crawldir.state import LOGS, PAGES, QUEUES
from larm.engine.figures.reporter import LOG
from larm.kit.disk.files import is_there
from larm.ops.history import Moment, history
from larm.store.pages.page_row import PageRow
from larm.store.pages.page_rows import page_rows


class Change(NamedTuple):
    """Of a page."""

    what: Literal["new", "changed", "gone", "failing"]
    """Changed is what came with other bytes, though its text may be the same; failing what is found, but not reached."""
    when: int
    """Seconds since 1970."""
    url: str


def begun(moments: Sequence[Moment]) -> int:
    """When the last run did, in seconds since 1970, rounded down; 0: nothing is known of it."""
    return int(moments[-1].wall - moments[-1].elapsed / 1000) if moments else 0


def changes_of(directory: Path) -> Iterator[Change]:
    """In the order of fingerprints. Raises StorageError."""
    since = begun(history(directory / LOGS / LOG))
    book = directory / QUEUES / PAGES
    for _, row in page_rows(book) if is_there(book) else ():
        if change := change_of(row, since):
            yield change


def change_of(row: PageRow, since: int) -> Change | None:
    """None: nothing has become of it since then."""
    if (row.gone or row.forgotten) and (when := row.left_at or row.last.since) >= since:
        return Change("gone", when, row.access)
    if row.stored and row.failing is not None and not row.gone:
        return Change("failing", row.failing.since, row.access)
    if not row.stored or row.gone or row.came < since:
        return None
    return Change("changed" if row.past and row.past.since < since else "new", row.came, row.access)
