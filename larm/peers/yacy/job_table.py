"""JobTable: the addresses that a peer is to crawl for others or for its user's browser, and the results. Thread-safe.

A job is on the disk before anything follows from it. Jobs of a killed process wait again.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from larm.kit.disk.database import Database

OWN = ""
"""In place of a key: the user's browser."""
MOST = 500
"""Number of jobs in a round."""
_KEPT = 30 * 86_400.0
_TABLES = """
CREATE TABLE IF NOT EXISTS job (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, number INTEGER NOT NULL, url TEXT NOT NULL, depth INTEGER NOT NULL,
    made INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, pages INTEGER NOT NULL DEFAULT 0, said TEXT NOT NULL DEFAULT '');
CREATE UNIQUE INDEX IF NOT EXISTS job_once ON job (key, number, url);
"""
_WAITS, _UNDER_WAY, _DONE, _TOLD = range(4)


class CrawlJob(NamedTuple):
    """One address to be crawled."""

    id: int
    key: str
    """Key of the peer that ordered it, or `OWN`."""
    number: int
    """Its number at that peer."""
    url: str
    depth: int


class JobTable:
    """The jobs of one peer; ``path``: its file. Every method may raise StorageError."""

    def __init__(self, path: Path) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._base = Database(path, _TABLES)
        self._base.write("UPDATE job SET state = ? WHERE state = ?", (_WAITS, _UNDER_WAY))

    def add(self, key: str, orders: Sequence[tuple[int, str, int]], now: float) -> int:
        """Add (number, address, depth) of one giver. Return the number of new ones."""
        statement = "INSERT OR IGNORE INTO job (key, number, url, depth, made) VALUES (?, ?, ?, ?, ?)"
        with self._lock, self._base.transaction():
            return sum(self._base.write(statement, (key, *each, int(now))) for each in orders)

    def givers(self, now: float) -> list[tuple[str, int]]:
        """Return (key, time) of the givers with waiting jobs, the oldest first."""
        with self._lock:
            self._base.write("DELETE FROM job WHERE state >= ? AND made < ?", (_DONE, now - _KEPT))
        return self._rows("SELECT key, MIN(made) FROM job WHERE state = ? GROUP BY key ORDER BY 2", _WAITS)

    def waiting(self, key: str) -> list[CrawlJob]:
        """Return the waiting jobs of this giver, as many as a round has."""
        columns = "SELECT id, key, number, url, depth FROM job WHERE state = ? AND key = ? ORDER BY id LIMIT ?"
        return [CrawlJob(*row) for row in self._rows(columns, _WAITS, key, MOST)]

    def has_open(self, key: str) -> bool:
        """Return True if jobs of this giver are not done."""
        return bool(self._rows("SELECT 1 FROM job WHERE key = ? AND state < ? LIMIT 1", key, _DONE))

    def begun(self, jobs: Sequence[CrawlJob]) -> None:
        """Note that these are under way."""
        with self._lock, self._base.transaction():
            self._base.write_many("UPDATE job SET state = ? WHERE id = ?", [(_UNDER_WAY, each.id) for each in jobs])

    def done(self, job: CrawlJob, pages: int, said: str, now: float) -> None:
        """Save the number of pages of a job, and a sentence with the result."""
        state = _TOLD if job.key == OWN else _DONE
        with self._lock:
            self._base.write(
                "UPDATE job SET state = ?, pages = ?, said = ?, made = ? WHERE id = ?", (state, pages, said, int(now), job.id)
            )

    def untold(self) -> list[tuple[int, str, int, int, str]]:
        """Return (id, key, number, pages, sentence) of the results that their givers do not know yet."""
        return self._rows("SELECT id, key, number, pages, said FROM job WHERE state = ?", _DONE)

    def told(self, number: int) -> None:
        """Note that its giver knows the result."""
        with self._lock:
            self._base.write("UPDATE job SET state = ? WHERE id = ?", (_TOLD, number))

    def pages_since(self, moment: float) -> dict[str, int]:
        """Return the number of pages of each giver's jobs since a moment."""
        statement = "SELECT key, SUM(pages) FROM job WHERE state >= ? AND made > ? GROUP BY key"
        return dict(self._rows(statement, _DONE, moment))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()

    def _rows(self, statement: str, *values: object) -> list[Any]:
        with self._lock:
            return self._base.rows(statement, values)
