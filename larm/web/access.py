"""Access: who may see and do what. Three kinds of routes: search, the rest that only shows, and what changes something.

On the loopback interface everybody may search and look; what changes something needs the token. With ``require_token`` all of
it does. A public search has no other routes at all, but with both everybody may search, and the rest needs the token. On the
event loop.

Token: the secret of who may change things. In a file that only its owner may read; never in a URL, never in a log.

A program sends it as ``Authorization: Bearer``. A browser sends it once, in a form, and has a cookie from then on, which is
made of the token but does not tell it. Any thread.
"""

import hashlib
import hmac
import os
import secrets
from enum import Enum
from pathlib import Path

from starlette.requests import Request

from larm.errors import StorageError
from larm.kit.disk.secret_file import read_secret

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
    secret = read_secret(path, "token", lambda: secrets.token_urlsafe(_BYTES))
    if len(secret) < _BYTES:
        raise StorageError(f"{path}: too short for a token; remove it, and the next start makes a new one")
    return Token(secret, path)


class Kind(Enum):
    """Of a route."""

    SEARCH = "search"
    SHOW = "show"
    CHANGE = "change"


class Access:
    """Constant after construction."""

    def __init__(self, token: Token, *, public_search: bool = False, require_token: bool = False) -> None:
        self.token = token
        self.only_search = public_search and not require_token
        """There is nothing else here."""
        self._public_search = public_search
        self._require_token = require_token

    @property
    def is_here(self) -> bool:
        """Only users of this machine reach it: nobody else may be let in without a token, or to search."""
        return not (self._public_search or self._require_token)

    def is_stranger(self, request: Request) -> bool:
        """Not signed in where others than users of this machine may search."""
        return not (self.is_here or self.signed_in(request))

    def exists(self, kind: Kind) -> bool:
        """Whether there are such routes."""
        return kind is Kind.SEARCH or not self.only_search

    def allows(self, kind: Kind, request: Request) -> bool:
        """Whether who asks may have this."""
        return not self.needs_token(kind) or self.signed_in(request)

    def needs_token(self, kind: Kind) -> bool:
        """Nobody else may."""
        if kind is Kind.SEARCH and self._public_search:
            return False
        return self._require_token or kind is Kind.CHANGE

    def signed_in(self, request: Request) -> bool:
        """By a header or a cookie; never by the address."""
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self.token.matches(secret.strip())
        return self.token.is_cookie(request.cookies.get(COOKIE, ""))
