"""PageRows: the rows of a page book, for who looks at it: ``larm why``, the enquiries, a revisit, hosts that move.

Each call reads what was committed, and a crawl may be running. Any thread; all raise StorageError.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from larm.errors import StorageError
from larm.kit.disk.files import is_there
from larm.kit.disk.table import Table
from larm.store.pages.page_row import PageRow, decode_row, part_of

_BATCH = 1000


def cut_pages(path: Path) -> dict[str, tuple[int, int]]:
    """By the names of `larm.model.cuts`, how many pages were cut, and the largest limit that one was cut by.

    A crawl may be running. Raises StorageError.
    """
    found: dict[str, tuple[int, int]] = {}
    for _, row in page_rows(path):
        for name, limit in row.cuts.items() if row.stored else ():
            count, largest = found.get(name, (0, 0))
            found[name] = count + 1, max(limit, largest)
    return found


class Written(NamedTuple):
    """A row, and when it was written."""

    key: int
    generation: int
    row: PageRow


class PageRows:
    """The rows of a page book, one by one; a crawl may be running. Methods raise StorageError."""

    def __init__(self, path: Path) -> None:
        # constant after construction
        self._path = path
        self._table = Table(path, read_only=True)

    def find(self, key: int) -> PageRow | None:
        """What is known of a page, by its fingerprint; None: it was never asked for, or has not ended."""
        return self.kept([key], left=False).get(key)

    def kept(self, keys: Sequence[int], *, left: bool = True) -> dict[int, PageRow]:
        """Pages whose hosts are another crawl's now, and which this one has still, by fingerprint. Not ``left``: all others."""
        found = self._table.get_many(keys).values()
        rows = {each.key: decode_row(each.data, self._path) for each in found}
        return {key: row for key, row in rows.items() if row.left == left and (row.stored or not left)}

    def of_host(self, host: str) -> Iterator[list[tuple[int, PageRow]]]:
        """Those of a host, by fingerprint, in their order; all that were committed."""
        last = -1
        while records := self._table.children(part_of(host), last, _BATCH):
            last = records[-1].key
            rows = [(each.key, decode_row(each.data, self._path)) for each in records]
            yield [(key, row) for key, row in rows if row.host == host and not row.left]

    def close(self) -> None:
        """A second call does nothing."""
        self._table.close()


def kept_pages(path: Path, keys: Sequence[int]) -> dict[int, PageRow]:
    """As `PageRows.kept`. Raises StorageError."""
    with closing(PageRows(path)) as rows:
        return rows.kept(keys)


def failing_pages(path: Path, keys: Sequence[int]) -> Mapping[int, int]:
    """Return since when revisits have not reached some pages, in seconds since 1970; nothing where the book can't be read."""
    try:
        with closing(PageRows(path)) as rows:
            return {key: row.failing.since for key, row in rows.kept(keys, left=False).items() if row.stored and row.failing}
    except StorageError:
        return {}


def page_row(path: Path, key: int) -> PageRow | None:
    """As `PageRows.find`, for one page; None also where there is no page book."""
    if not is_there(path):
        return None
    with closing(PageRows(path)) as rows:
        return rows.find(key)


def page_rows(path: Path, *, left: bool = False) -> Iterator[tuple[int, PageRow]]:
    """All of them, by fingerprint, in their order; none where there is no page book. Raises StorageError.

    A crawl may be running. ``left``: also those whose hosts are another crawl's now.
    """
    if not is_there(path):
        return
    for batch in page_batches(path, read_only=True, left=left):
        yield from batch


def page_batches(path: Path, *, read_only: bool = False, left: bool = False) -> Iterator[list[tuple[int, PageRow]]]:
    """As `page_rows`, some at a time. Not ``read_only``: by a connection as the run of the crawl itself has."""
    for batch in written(path, read_only=read_only):
        yield [(each.key, each.row) for each in batch if left or not each.row.left]


def written(path: Path, after: int = -1, *, read_only: bool = False) -> Iterator[list[Written]]:
    """All rows with fingerprints higher than ``after``, also of hosts that have left."""
    with closing(Table(path, read_only=read_only)) as table:
        while records := table.after(after, _BATCH):
            after = records[-1].key
            yield [Written(each.key, each.generation, decode_row(each.data, path)) for each in records]


def generation_of(path: Path) -> int:
    """That of the last rows that were written. Raises StorageError."""
    with closing(Table(path)) as table:
        return table.generation
