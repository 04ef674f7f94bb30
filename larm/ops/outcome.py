"""How a run ended, in a few notes for a person. Pure; the figures behind them are in ``stats.json``, and in ``-v``."""

from collections.abc import Iterator

from larm.engine.figures.notes import Note, note
from larm.engine.figures.snapshot import ClusterFigures, Snapshot

_STATUS = "downloader/response_status_count/"
_FAILED = "downloader/exception_type_count/"
_ENDS = {
    "closespider_pagecount": "stopped at --max-pages",
    "closespider_timeout": "stopped at --max-time",
    "bytes_spent": "stopped at --max-bytes",
    "shutdown": "stopped",
    "failed": "failed",
    "disk_nearly_full": "stopped before the disk is full",
    "hosts_waiting": "stopped, as all that is left must wait for long",
}
_RAISED = {"closespider_pagecount": "raise --max-pages", "bytes_spent": "raise --max-bytes (limits.bytes)"}
"""Limits of all runs together: with the same ones the next run would end at once."""
_EMPTY = ("204", "205")
"""Statuses that bring no page, though nothing failed."""
_MOST = 6
"""Kinds of errors that are named."""
_PACED = 20
"""Pages in a run by which the time of those that wait is told: less says little."""


def how(reason: str) -> str:
    """How a run ended, by its `Ending.reason`, in a few words."""
    return _ENDS.get(reason, reason)


def outcome(now: Snapshot, reason: str, directory: str, slowest: float = 0.0) -> Iterator[Note]:
    """At most five: pages; those of all agents; what a revisit found; errors by kind; what waits, and why.

    ``slowest``: seconds that what is left takes at least, whatever the pace was.
    """
    counters, pages, given_up, shut = now.counters, bool(now.pages), now.hosts_given_up, now.hosts_shut
    seconds = now.elapsed if now.elapsed >= 1 else 0
    yield note("ended", how=how(reason), run=now.pages_run, pages=now.pages, directory=directory, seconds=seconds)
    if now.cluster is not None and now.cluster.agents:
        yield note("agents", figures=cluster_line(now.cluster))
    kinds = ("changed", "same_text", "unchanged", "gone", "redirected")
    revisited = {kind: counters.get(f"revisit/{kind}", 0) for kind in kinds}
    if any(revisited.values()):
        yield note("revisited", **revisited, news=bool(revisited["changed"] or revisited["gone"]))
    if kinds_of_errors := errors_of(counters):
        yield note("errors", kinds=kinds_of_errors, pages=pages)
    left = now.queued + now.in_flight
    if left and now.idle and not (given_up or now.cluster):
        yield note("waits_blocked", urls=left)
    elif left:
        hosts = [note("hosts_given_up", hosts=given_up, pages=pages)] * bool(given_up)
        hosts += [note("hosts_shut", hosts=shut)] * bool(shut)
        pace = left * now.elapsed / now.pages_run if now.pages_run >= _PACED else 0.0
        times = {"pace": pace, "slowest": 0.0} if pace > slowest else {"pace": 0.0, "slowest": slowest if pace else 0.0}
        again = bool(given_up and not pages)
        yield note("waits", urls=left, hosts=hosts, **times, limit=_RAISED.get(reason, ""), again=again)


def next_step(now: Snapshot, reason: str) -> list[Note]:
    """What can be done with the crawl; empty where nothing can."""
    everywhere = now.cluster is not None and (now.cluster.agents > 1 or now.cluster.pages > now.pages)
    return [note("next", everywhere=everywhere)] if now.pages and reason != "failed" else []


def errors_of(counters: dict[str, int]) -> str:
    """How many there were of each kind, the most frequent first; empty where there were none."""
    errors = sorted(_errors(counters), key=lambda each: -each[0])
    more = f" and {len(errors) - _MOST} more kinds" if len(errors) > _MOST else ""
    return ", ".join([f"{count:,} x {kind}" for count, kind in errors[:_MOST]]) + more


def _errors(counters: dict[str, int]) -> Iterator[tuple[int, str]]:
    for name, count in counters.items():
        if count and name.startswith(_STATUS) and (name[len(_STATUS) :] >= "400" or name.endswith(_EMPTY)):
            yield count, name[len(_STATUS) :]
        elif count and name.startswith(_FAILED):
            yield count, name[len(_FAILED) :]


def cluster_line(now: ClusterFigures) -> str:
    """Pages, what is left, and the measures of crawls by several (UBI-22)."""
    heard = "" if now.working in {0, now.agents} else f" ({now.working:,} of them heard)"
    paused = f", {now.paused:,} paused" if now.paused else ""
    recovered = f", {now.recovered:,} pages not fetched again" if now.recovered else ""
    agents = f"{now.agents:,} agent" + "s" * (now.agents != 1)
    return (
        f"{agents}{heard}{paused}: {now.pages:,} pages, {now.waiting:,} URLs to go; coverage {now.coverage:.1%}, "
        f"overlap {now.overlap:.2%}, {now.sent_per_page:.2f} URLs sent for each page{recovered}"
    )
