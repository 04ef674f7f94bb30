"""A secret in a file that its owner alone may read. Called at the start, on the main thread."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failures


def read_secret(path: Path, what: str, new: Callable[[], str] | None = None) -> str:
    """Without spaces around it. ``new`` makes one where there is no file. ``what`` it is, for people: ``token``.

    Raises StorageError, also for a file that others can read."""
    with disk_failures(path):
        if new is not None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.exists():
                _make(path, new())
        mode, secret = path.stat().st_mode, path.read_text(encoding="utf-8", errors="replace").strip()
    if mode & 0o077:
        remedy = "" if new is None else ", or remove it for a new one"
        raise StorageError(f"{path}: others than you can read this {what}; 'chmod 600' it{remedy}")
    return secret


def _make(path: Path, secret: str) -> None:
    """Whole, or not at all; where somebody else makes it at the same time, his is there."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "w", encoding="ascii") as opened:
            opened.write(f"{secret}\n")
            opened.flush()
            os.fsync(file)
        try:
            os.link(part, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links, as on USB sticks; of two at the same time the later one's is there
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
