"""Until when a page is current, as its server says (RFC 9111 4.2). Pure; used by the page book on its writer thread."""

import re
from collections.abc import Mapping
from functools import lru_cache

_MAX_AGE = re.compile(r"""(?:^|,)\s*max-age\s*=\s*"?([0-9]+)""", re.IGNORECASE)
_NEVER = re.compile(r"(?:^|,)\s*no-(?:store|cache)\s*(?:,|$)", re.IGNORECASE)
"""Not ``no-cache="a-field"``, which speaks of that field."""
_FURTHEST = 2**31
"""Seconds; more than that means as much (RFC 9111 1.2.2)."""


def current_until(headers: Mapping[str, str], now: int) -> int:
    """Seconds since 1970; 0: it says nothing, or that the page is to be asked for each time. Names in lower case."""
    control = headers.get("cache-control", "")
    if _NEVER.search(control):
        return 0
    found, expires = _MAX_AGE.search(control), headers.get("expires", "")
    if not (found or expires):
        return 0
    made = date(headers.get("date", "")) or now
    lifetime = int(found[1][:12]) if found else int((date(expires) or made) - made)
    age = headers.get("age", "")
    old = max(int(age[:12]) if age.isascii() and age.isdigit() else 0, int(now - made), 0)  # a cache may have kept it
    seconds = min(lifetime, _FURTHEST) - old
    return now + seconds if seconds > 0 else 0


@lru_cache(maxsize=1_000)
def date(text: str) -> float:
    """Of a header, in seconds since 1970; 0 where it is none, as in ``Expires: 0``."""
    import email.utils  # 2 ms of the start, for what is seldom seen

    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0
