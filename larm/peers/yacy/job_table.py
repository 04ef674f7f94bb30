"""JobTable: what a peer is to crawl for others, or since its user's browser has seen it, and what became of each. Any thread.

On the disk before anything follows from it; what a killed process left under way waits again.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from larm.kit.disk.database import Database

OWN = ""
"""In place of a key: of the user's browser."""
MOST = 500
"""Jobs in a round."""
_KEPT = 30 * 86_400.0
_TABLES = """
CREATE TABLE IF NOT EXISTS job (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, number INTEGER NOT NULL, url TEXT NOT NULL, depth INTEGER NOT NULL,
    made INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, pages INTEGER NOT NULL DEFAULT 0, said TEXT NOT NULL DEFAULT '');
CREATE UNIQUE INDEX IF NOT EXISTS job_once ON job (key, number, url);
"""
_WAITS, _UNDER_WAY, _DONE, _TOLD = range(4)


class CrawlJob(NamedTuple):
    """One of them."""

    id: int
    key: str
    """Of who gave it; `OWN`."""
    number: int
    """At the giver's."""
    url: str
    depth: int


class JobTable:
    """``path``: its file. Every method may raise StorageError."""

    def __init__(self, path: Path) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._base = Database(path, _TABLES)
        self._base.write("UPDATE job SET state = ? WHERE state = ?", (_WAITS, _UNDER_WAY))

    def add(self, key: str, orders: Sequence[tuple[int, str, int]], now: float) -> int:
        """(number, address, depth) of this giver; how many are new."""
        statement = "INSERT OR IGNORE INTO job (key, number, url, depth, made) VALUES (?, ?, ?, ?, ?)"
        with self._lock, self._base.transaction():
            return sum(self._base.write(statement, (key, *each, int(now))) for each in orders)

    def givers(self, now: float) -> list[tuple[str, int]]:
        """Keys of those whose jobs wait, and since when; who has waited for longest first."""
        with self._lock:
            self._base.write("DELETE FROM job WHERE state >= ? AND made < ?", (_DONE, now - _KEPT))
        return self._rows("SELECT key, MIN(made) FROM job WHERE state = ? GROUP BY key ORDER BY 2", _WAITS)

    def waiting(self, key: str) -> list[CrawlJob]:
        """Jobs of this giver, as many as a round has."""
        columns = "SELECT id, key, number, url, depth FROM job WHERE state = ? AND key = ? ORDER BY id LIMIT ?"
        return [CrawlJob(*row) for row in self._rows(columns, _WAITS, key, MOST)]

    def has_open(self, key: str) -> bool:
        """Something of this giver's is not done."""
        return bool(self._rows("SELECT 1 FROM job WHERE key = ? AND state < ? LIMIT 1", key, _DONE))

    def begun(self, jobs: Sequence[CrawlJob]) -> None:
        """They are under way."""
        with self._lock, self._base.transaction():
            self._base.write_many("UPDATE job SET state = ? WHERE id = ?", [(_UNDER_WAY, each.id) for each in jobs])

    def done(self, job: CrawlJob, pages: int, said: str, now: float) -> None:
        """It brought so many pages; a sentence says what became of it."""
        state = _TOLD if job.key == OWN else _DONE
        with self._lock:
            self._base.write(
                "UPDATE job SET state = ?, pages = ?, said = ?, made = ? WHERE id = ?", (state, pages, said, int(now), job.id)
            )

    def untold(self) -> list[tuple[int, str, int, int, str]]:
        """(id, key, number, pages, sentence) of those whose givers do not know yet what became of them."""
        return self._rows("SELECT id, key, number, pages, said FROM job WHERE state = ?", _DONE)

    def told(self, number: int) -> None:
        """Its giver knows."""
        with self._lock:
            self._base.write("UPDATE job SET state = ? WHERE id = ?", (_TOLD, number))

    def pages_since(self, moment: float) -> dict[str, int]:
        """By givers, what their jobs have brought."""
        statement = "SELECT key, SUM(pages) FROM job WHERE state >= ? AND made > ? GROUP BY key"
        return dict(self._rows(statement, _DONE, moment))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()

    def _rows(self, statement: str, *values: object) -> list[Any]:
        with self._lock:
            return self._base.rows(statement, values)
