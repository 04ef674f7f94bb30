"""The figures under the names that users of Scrapy know, for the end of a crawl and for ``stats.json``. Pure.

What the crawl counted under such a name itself (`Snapshot.counters`) is taken as it is; the rest is derived.
"""

from datetime import UTC, datetime
from typing import Any

import msgspec

from larm.engine.figures.machine import memory_peak
from larm.engine.figures.snapshot import Snapshot

_FILTERS = {
    "scope": "offsite/filtered",
    "visited": "dupefilter/filtered",
    "robots": "robotstxt/forbidden",
    "length": "urllength/request_ignored_count",
    "depth": "depth/request_ignored_count",
}
"""Where Scrapy has a name for what a filter drops; others are ``filter/NAME``."""


def summary(now: Snapshot, reason: str, wall: float) -> dict[str, Any]:
    """Name -> int, float or text, sorted by name; ``wall`` is the moment of the snapshot, in seconds since 1970.

    ``reason`` empty: the crawl is still running.
    """
    derived: dict[str, Any] = {
        "downloader/request_count": now.requests,
        "downloader/response_bytes": now.received,
        "elapsed_time_seconds": round(now.elapsed, 3),
        "item_scraped_count": now.pages_run,
        "larm/pages_in_all_runs": now.pages,
        "larm/errors": now.errors,
        "larm/hosts": now.hosts_known,
        "larm/hosts_given_up": now.hosts_given_up,
        "larm/urls_visited": now.visited,
        "larm/urls_left": now.queued + now.in_flight,
        "memusage/max": memory_peak(),
        "start_time": _moment(wall - now.elapsed),
    }
    if now.cluster is not None:
        derived |= {f"agents/{name}": value for name, value in msgspec.structs.asdict(now.cluster).items() if name != "holds"}
    if reason:
        derived |= {"finish_reason": reason, "finish_time": _moment(wall)}
    counters = dict(now.counters)
    for name, count in now.filtered.items():
        counters.pop(f"{name}/filtered", None)  # or it would be there twice
        derived[_FILTERS.get(name, f"filter/{name}")] = count
    return dict(sorted((derived | counters).items()))


def summary_lines(stats: dict[str, Any]) -> list[str]:
    """One ``name: value`` a line, for a person; zeros left out."""
    return [f"  {name}: {value}" for name, value in stats.items() if value != 0]


def _moment(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="seconds")
