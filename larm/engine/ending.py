"""Ending: how a run of a crawl has ended."""

from collections.abc import Sequence

import msgspec

from larm.errors import LarmError

WAITING = "hosts_waiting"
"""The reason of a run that ends since all that is left must wait for long."""


class Ending(msgspec.Struct, frozen=True):
    """What `larm.engine.crawl.Crawl.run` returns."""

    reason: str
    """finished, closespider_pagecount, closespider_timeout, shutdown or failed (Scrapy's words), `WAITING`, or that of
    `larm.engine.allowance` and `larm.engine.disk_floor`."""
    error: LarmError | None = None
    start_fetched: bool = True
    """At least one start URL was fetched, in this or an earlier run."""
    failed_starts: Sequence[str] = ()
    """A line for each start URL that brought no page in this run: what happened."""
    slowest: float = 0.0
    """Seconds that what is left takes at least, by the pace of one host."""
