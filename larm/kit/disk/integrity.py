"""check_database: an SQLite file is whole, or refused. Called on the main thread before a crawl is continued.

SQLite finds damage where it happens to read it, and where damage leaves something readable it does not find it at all.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failure


def check_database(path: Path) -> None:
    """Read all of it, some 300 MB a second; nothing where there is none. Raises StorageError."""
    if not path.exists() or not path.stat().st_size:
        return
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            found = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    except UnicodeDecodeError:  # of a message that quotes the damage
        found = "its schema can't be read"
    except (OSError, sqlite3.Error) as error:
        raise disk_failure(path, error) from error
    if found != "ok":
        raise StorageError(f"{path}: the database is damaged ({' '.join(found.split())}); check the disk, then start over")
