"""Learned: pages that searches have brought from elsewhere, kept as an index of their own (YACY-38, 49).

So what was found once is found again at once, also in stealth, and after a restart. It is bounded, it is not the user's own
index, and it is shared with nobody: others have it from its authors. What was learned is forgotten after as long as an item
lives, with its author, and with its site. The table is written after the index, which goes back to what the table knows.

`note` on any thread; all else on the thread that shares, but for `searcher`, which is for any.
"""

import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from larm.config import SearchSettings
from larm.index.search.searcher import IndexSearcher
from larm.index.search.shared import SharedSearcher
from larm.index.writer import IndexWriter
from larm.kit.disk.database import Database
from larm.kit.disk.disk_failure import disk_failures
from larm.model.findings import Asked, Findings
from larm.model.url import URLNormalizer
from larm.peers.yacy.item import LIFE
from larm.peers.yacy.local import parsed
from larm.peers.yacy.page import Page
from larm.peers.yacy.trust import Trust

_TABLES = """
CREATE TABLE IF NOT EXISTS page (normalised TEXT PRIMARY KEY, author TEXT NOT NULL, learned INTEGER NOT NULL) WITHOUT ROWID;
"""
_MEMORY = 15_000_000
_MOST_WAITING = 1_000
_PERIOD = 10.0
"""Seconds between two commits."""
_LOOK = 3_600.0
"""Seconds between two looks for what is over."""


class _Borrowed(SharedSearcher):
    """Its pages come from the network, which has the say about them."""

    def search(self, asked: Asked) -> Iterator[Findings]:
        """One part; what these pages lack, or that there is none yet, is news to nobody."""
        for found in super().search(asked):
            yield msgspec.structs.replace(found, borrowed=True, notes=())


class Learned:
    """In ``folder``; at most ``most`` pages, beyond which nothing more is learned."""

    def __init__(self, folder: Path, name: str, settings: SearchSettings, most: int, trust: Trust) -> None:
        """Raises StorageError."""
        # constant after construction
        with disk_failures(folder):
            folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        self._most = most
        self._trust = trust
        self._normalizer = URLNormalizer()
        self.searcher = _Borrowed(f"network {name}, kept here", partial(IndexSearcher, folder, settings))
        # only the sharing thread, after construction
        self._base = Database(folder / "pages.db", _TABLES)
        self._written = self._looked = float("-inf")
        self._denied = (trust.denied, trust.denied_sites)
        self._lock = threading.Lock()
        # guarded by self._lock
        self._waiting: list[tuple[str, Page]] = []
        self._forget = False
        self.pages = self._count()
        """That are kept."""
        self.passed_over = 0
        """That were not learned, as there is no room."""
        if not self._base.generation:
            self._change([], [])

    def note(self, found: Sequence[tuple[str, Page]]) -> None:
        """Pages with their authors, whose signatures were checked."""
        with self._lock:
            room = min(_MOST_WAITING, self._most - self.pages) - len(self._waiting)
            self._waiting += found[: max(0, room)]
            self.passed_over += max(0, len(found) - max(0, room))

    def forget(self) -> None:
        """All of it, at the next tick."""
        with self._lock:
            self._forget = True

    def tick(self, now: float) -> None:
        """What is due. Raises StorageError."""
        denied = (self._trust.denied, self._trust.denied_sites)
        with self._lock:
            forget, self._forget = self._forget, False
            late = bool(self._waiting) and now - self._written >= _PERIOD
            new, self._waiting = (self._waiting, []) if late and not forget else ([], [] if forget else self._waiting)
        over: list[str] = []
        if forget or denied != self._denied or now - self._looked >= _LOOK:
            self._denied, self._looked = denied, now
            rows = self._base.rows("SELECT normalised, author, learned FROM page")
            over = [url for url, author, at in rows if forget or self._is_over(url, author, now - at)]
        if new or over:
            self._written = now
            self._change([(author, page) for author, page in new if author not in self._trust], over, now)

    def close(self) -> None:
        """Close the table."""
        self._base.close()

    def _is_over(self, normalised: str, author: str, age: float) -> bool:
        return age >= LIFE or author in self._trust or self._trust.denies_page(normalised)

    def _change(self, new: Sequence[tuple[str, Page]], over: Sequence[str], now: float = 0.0) -> None:
        writer = IndexWriter(self._folder / "index", _MEMORY, 1)
        writer.open(self._base.generation or None)
        try:
            rows = []
            for author, each in new:
                for page in parsed([each], self._normalizer):
                    writer.add(page)
                    rows.append((page.url.normalised, author, int(now)))
            for normalised in over:
                writer.delete(normalised)
            generation = writer.commit()
        finally:
            writer.close()
        with self._base.transaction():
            self._base.write_many("INSERT OR REPLACE INTO page VALUES (?, ?, ?)", rows)
            self._base.write_many("DELETE FROM page WHERE normalised = ?", [(each,) for each in over])
            self._base.generation = generation
        with self._lock:
            self.pages = self._count()

    def _count(self) -> int:
        return int(self._base.row("SELECT COUNT(*) FROM page")[0])
