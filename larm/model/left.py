"""HostLeft: what a host was not asked for, as its addresses seem to go on without end. Pure."""

import msgspec

NOFOLLOW = "links/nofollow"
"""Counts pages with links that are not followed, as they or the page say nofollow."""
OPENSEARCH = "links/opensearch"
"""Counts pages that name a description of their search for browsers (OpenSearch), which is no page and is not fetched."""
TOO_DEEP = "links/too_deep"
"""Counts pages with links that are not followed, as they lead deeper than ``crawl.max_depth``, and to what was not seen."""
UNCOMPILED = "processing/uncompiled"
"""Counts pages that html5lib has read, as larm could not be compiled where it was installed."""


class PatternLeft(msgspec.Struct, frozen=True, gc=False):
    """A pattern of addresses."""

    pattern: str
    """``/calendar/0/0``, ``/list?page&sort``, or the setting that they are beyond."""
    state: str
    """``trap``, ``same`` (as without a parameter), ``noindex``, ``limit``, ``closed`` (not decided yet) or ``open``."""
    urls: int
    """That are held back."""


class HostLeft(msgspec.Struct, frozen=True, gc=False):
    """One host."""

    host: str
    urls: int = 0
    """That are held back."""
    lost: int = 0
    """That are not even held back, as too many are already."""
    patterns: tuple[PatternLeft, ...] = ()
    """Those that hold back most first."""
    empty_parameters: tuple[str, ...] = ()
    """Parameters that do not change the text."""
