"""The same trouble reads the same everywhere."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import pytest

from larm.kit.disk_failure import disk_failure


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, "x"), "/d: No space left on device: the disk is full; make room"),
        (PermissionError(errno.EACCES, "x"), "/d: Permission denied: it can't be opened or written"),
        (OSError("no number"), "/d: no number: check the disk"),
        (OSError(errno.EIO, "x"), "/d: Input/output error: check the disk"),
        (sqlite3.ProgrammingError("closed"), "/d: closed: check the disk"),
        (RuntimeError("else"), "/d: else: check the disk"),
    ],
)
def test_message(error: Exception, message: str) -> None:
    failure = disk_failure(Path("/d"), error)
    assert str(failure).startswith(message)
    assert failure.exit_status == 3
