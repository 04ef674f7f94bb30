"""Past: how often a page was found changed, and whether sitemaps were right about it. Pure; used by the page book."""

from __future__ import annotations

import msgspec

_DAY = 86_400


class Past(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Of one page. Times are seconds since 1970; 0: not known."""

    since: int = 0
    """When it came first."""
    changes: int = 0
    """So often it had changed, or was gone, when it was asked for again."""
    sitemap: bool = False
    """It is one."""
    claimed: int = 0
    """When it changed by a sitemap (``lastmod``), where it was not asked for since then."""
    heard: int = 0
    """The claim of before, which was looked into."""
    right: int = 0
    """Claims after which it had changed."""
    wrong: int = 0
    """Claims after which it was as before."""

    def seen(self, *, changed: bool) -> Past:
        """It was asked for again."""
        claims = bool(self.claimed)
        return msgspec.structs.replace(
            self,
            changes=self.changes + changed,
            claimed=0,
            heard=self.claimed or self.heard,
            right=self.right + (claims and changed),
            wrong=self.wrong + (claims and not changed),
        )


def claim(past: Past, lastmod: int, fetched: int) -> Past:
    """After a sitemap has said of a page, which came at ``fetched``, when it changed: ``past``, unless that is news.

    Many dates are of a day, and mean all of it.
    """
    until = lastmod + _DAY - 1 if lastmod % _DAY == 0 else lastmod
    return past if until <= fetched or lastmod in (past.heard, past.claimed) else msgspec.structs.replace(past, claimed=lastmod)
