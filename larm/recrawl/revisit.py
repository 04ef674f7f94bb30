"""Revisit: the pages to ask for again, and, at the end, which of them are to be forgotten (LARM-121).

Both run on the main thread: `Recrawl.due` before the river flows, `Recrawl.gone` after it has run dry and the page book was
committed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from larm.kit.record_table import RecordTable
from larm.model.document import Visit
from larm.model.message import UNKNOWN, URLMessage
from larm.recrawl.page_book import PageRow, decode_row

_BATCH = 1000


class Recrawl:
    """One revisit of a finished crawl."""

    def __init__(
        self,
        path: Path,
        starts: Sequence[URLMessage] | None,
        most_gone: float,
        note: Callable[[str], None],
        *,
        whole: bool = False,
    ) -> None:
        """``path``: the page book. ``note`` takes lines for people.

        ``starts`` are asked for even if they were never stored; None: the revisit has begun in an earlier run.
        ``whole``: some storage has not been given all pages, so none may be answered by "not modified".
        """
        # constant after construction
        self._path = path
        self._starts = starts
        self._most_gone = most_gone
        self._note = note
        self._whole = whole

    def due(self) -> Iterator[list[URLMessage]]:
        """All pages that are known, in batches; nothing where the frontier has them already."""
        if self._starts is None:
            return
        left = {message.url.fingerprint: message for message in self._starts}
        for batch in _rows(self._path):
            for key, _ in batch:
                left.pop(key, None)
            messages = [row.message(key) for key, row in batch]
            yield [msgspec.structs.replace(each, known=UNKNOWN) for each in messages] if self._whole else messages
        if left:
            yield [msgspec.structs.replace(message, known=UNKNOWN) for message in left.values()]

    def gone(self) -> list[Visit]:
        """Pages that answered that they are gone; but of no host more than the share ``most_gone`` at once.

        A site that answers 404 to everything is more often broken than empty. A single page is always believed.
        """
        pages: Counter[str] = Counter()
        lost: dict[str, list[Visit]] = {}
        for batch in _rows(self._path):
            for key, row in batch:
                pages[row.host] += row.stored
                if row.gone:
                    url = row.message(key).url
                    lost.setdefault(row.host, []).append(Visit(page=url.access, url=url, status=row.gone, gone=True))
        for host, visits in list(lost.items()):
            if len(visits) > max(self._most_gone * pages[host], 1):
                del lost[host]
                self._note(
                    f"{host}: {len(visits)} of {pages[host]} pages are gone; none was forgotten, as that is more than "
                    f"recrawl.most_gone ({self._most_gone:g}) allows at once"
                )
        return [visit for visits in lost.values() for visit in visits]


def _rows(path: Path) -> Iterator[list[tuple[int, PageRow]]]:
    table = RecordTable(path)
    try:
        last = -1
        while records := table.after(last, _BATCH):
            last = records[-1].key
            yield [(each.key, decode_row(each.data, path)) for each in records]
    finally:
        table.close()
