"""Token: the secret of who may change things. In a file that only its owner may read; never in a URL, never in a log.

A program sends it as ``Authorization: Bearer``. A browser sends it once, in a form, and has a cookie from then on, which is
made of the token but does not tell it. Any thread.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failure

COOKIE = "larm_session"
_BYTES = 32


class Token:
    """Constant after construction."""

    def __init__(self, secret: str, path: Path) -> None:
        self.path = path
        self._secret = secret.encode()
        self.cookie = hmac.new(self._secret, b"larm serve: session", hashlib.sha256).hexdigest()
        """The value of the cookie of who has signed in; it outlives a restart of the server."""

    def matches(self, text: str) -> bool:
        """Compared in constant time."""
        return hmac.compare_digest(text.encode("utf-8", "replace"), self._secret)

    def is_cookie(self, text: str) -> bool:
        """Of somebody who has signed in."""
        return hmac.compare_digest(text.encode("utf-8", "replace"), self.cookie.encode())

    def __repr__(self) -> str:
        return f"<Token in {self.path}>"


def default_path() -> Path:
    """Of this user."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "larm" / "token"


def open_token(path: Path) -> Token:
    """The one in the file, made where there is none. Raises StorageError, also for a file that others can read."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(file, "w", encoding="ascii") as new:
                new.write(secrets.token_urlsafe(_BYTES) + "\n")
                new.flush()
                os.fsync(file)
        if path.stat().st_mode & 0o077:
            raise StorageError(f"{path}: others than you can read this token; 'chmod 600' it, or remove it for a new one")
        secret = path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError as error:
        raise disk_failure(path, error) from error
    if len(secret) < _BYTES:
        raise StorageError(f"{path}: too short for a token; remove it, and the next start makes a new one")
    return Token(secret, path)
