"""SiteAccess: how requests to one site are sent, where config.yaml says something of it (``sites``). Constant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from larm.fetching.cookies import CookieJar


class SiteAccess(msgspec.Struct, frozen=True):
    """What differs from all other requests. It has secrets: never logged."""

    user_agent: str = ""
    headers: tuple[bytes, ...] = ()
    """Whole lines, without their ends."""
    auth: bytes = b""
    """``name:password``, for basic authentication."""
    proxy: str = ""
    cookies: CookieJar | None = None
    keeps_cookies: bool = False
    """Cookies that answers set are sent again."""

    def __repr__(self) -> str:
        return "<SiteAccess>"

    @property
    def secret_headers(self) -> frozenset[bytes]:
        """Names, in lower case, of headers that no archive may have."""
        return frozenset([line.partition(b":")[0].lower() for line in self.headers])


NOTHING = SiteAccess()
"""Of all other sites."""
