"""Access: who may see and do what. Three kinds of routes: search, the rest that only shows, and what changes something.

On the loopback interface everybody may search and look; what changes something needs the token. With ``require_token`` all of
it does. A public search has no other routes at all, but with both everybody may search, and the rest needs the token. On the
event loop.
"""

from __future__ import annotations

from enum import Enum

from starlette.requests import Request

from larm.web.token import COOKIE, Token


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
