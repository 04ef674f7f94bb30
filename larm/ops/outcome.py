"""How a run ended, in a few sentences for a person. Pure; the figures behind them are in ``stats.json``, and in ``-v``."""

from collections.abc import Iterator

from larm.engine.figures.rates import duration
from larm.engine.figures.snapshot import Snapshot
from larm.kit.counted import counted
from larm.ops.cluster_line import cluster_line

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
_RAISED = {"closespider_pagecount": "raise --max-pages, and ", "bytes_spent": "raise --max-bytes (limits.bytes), and "}
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


def outcome(now: Snapshot, reason: str, directory: str, slowest: float = 0.0) -> Iterator[str]:
    """At most five: pages; those of all agents; what a revisit found; errors by kind; what waits, and why.

    ``slowest``: seconds that what is left takes at least, whatever the pace was.
    """
    seconds = f", {duration(now.elapsed)}" if now.elapsed >= 1 else ""
    yield f"{how(reason)}: {counted(now.pages_run, 'page')} in this run, {now.pages:,} in {directory}{seconds}"
    if now.cluster is not None and now.cluster.agents:
        yield f"all agents: {cluster_line(now.cluster)}"
    counters = now.counters
    changed = [
        f"{counters[name]:,} {word}"
        for name, word in (
            ("revisit/changed", "changed"),
            ("revisit/same_text", "with the same text as before"),
            ("revisit/unchanged", "unchanged"),
            ("revisit/gone", "gone"),
            ("revisit/redirected", "redirecting for now ('larm why URL' says where to)"),
        )
        if counters.get(name)
    ]
    if changed:
        news = counters.get("revisit/changed") or counters.get("revisit/gone")
        lists = "; 'larm report --changes' lists them" if news else ""
        yield f"revisited: {', '.join(changed)}{lists}"
    if said := errors_of(counters):
        where = "; 'larm links --broken' says where links to these are" if now.pages else ""
        yield f"errors: {said}{where}"
    left = now.queued + now.in_flight
    if left and now.idle and not (now.hosts_given_up or now.cluster):
        waits = f"{counted(left, 'URL')} wait{'s' * (left == 1)} at hosts that are blocked"
        yield f"{waits}: 'larm ctl unblock HOST' asks for them while the crawl runs"
    elif left:
        given_up = "1 host was" if now.hosts_given_up == 1 else f"{now.hosts_given_up:,} hosts were"
        shut = f"what {counted(now.hosts_shut, 'blocked host')} {'has' if now.hosts_shut == 1 else 'have'} waits for"
        why = "; 'larm links --broken' says why" if now.pages else ""
        about = [f"{given_up} given up{why}"] * bool(now.hosts_given_up) + [f"{shut} 'larm ctl unblock HOST'"] * bool(
            now.hosts_shut
        )
        hosts = f" ({'; '.join(about)})" if about else ""
        pace = ""
        if now.pages_run >= _PACED:
            paced = left * now.elapsed / now.pages_run
            pace = f", {duration(paced)} at this pace" if paced > slowest else f", {duration(slowest)} by the pace of one host"
        does = "goes on" if now.pages or not now.hosts_given_up else "tries again"
        then = f"{_RAISED.get(reason, '')}the same command {does}"
        yield f"{counted(left, 'URL')} wait{'s' * (left == 1)} for the next run{hosts}{pace}: {then}"


def next_step(now: Snapshot, reason: str) -> str:
    """What can be done with the crawl; empty where nothing can."""
    if not now.pages or reason == "failed":
        return ""
    everywhere = " --cluster" if now.cluster is not None and now.cluster.agents > 1 else ""
    return f"next: 'larm search{everywhere} WORDS'; all figures: 'larm stats'"


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
