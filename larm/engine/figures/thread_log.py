"""One line of ``logs/ThreadMonitor.log`` (LARM-82). Pure; called by the reporter.

The columns and their order are LARM's, so that scripts made for it go on working; ``bytesPerThread``, which LARM wrote without
naming it, has a name here, and what larm adds stands at the end. All sizes are plain bytes: the file is for spreadsheets,
`larm.engine.figures.rates.size` is for people.
"""

from larm.engine.figures.machine import Memory
from larm.engine.figures.snapshot import Snapshot
from larm.kit.logs.log_book import time_of_day

COLUMNS = (
    "time",  # milliseconds since 1970
    "overallBytesRead",
    "overallTasksRun",
    "urlsQueued",  # for the handler
    "urlsWaiting",  # in the queues of the hosts
    "isWorkingOnMessage",  # true or false
    "urlsScopeFiltered",
    "urlsVisitedFiltered",
    "urlsREFiltered",  # by robots.txt
    "memUsed",
    "memFree",
    "totalMem",
    "nrHosts",  # with URLs in their queue
    "visitedSize",
    "visitedStringSize",  # larm keeps fingerprints, so: bytes that they take
    "bytesPerThread",  # separated by commas
    "urlLengthFiltered",
    "checkpointMs",  # what the last checkpoint took; the crawl goes on meanwhile
    "checkpointBytes",
    "pages",  # of all runs
    "errors",  # fetches that failed, and answers of 400 and more
)


def header(wall: float, elapsed: float) -> str:
    """The first line: it begins like all others and explains the columns that follow."""
    return _prefix(wall, elapsed) + ";".join(COLUMNS) + "\n"


def line(now: Snapshot, wall: float, memory: Memory) -> str:
    """The figures of one tick; ``wall`` in seconds since 1970."""
    values = (
        int(wall * 1000),
        now.received,
        sum(thread.tasks for thread in now.threads) if now.threads else now.requests,
        now.incoming,
        now.waiting,
        "true" if now.handler_busy else "false",
        now.filtered.get("scope", 0),
        now.filtered.get("visited", 0),
        now.filtered.get("robots", 0),
        memory.used,
        memory.free,
        memory.total,
        now.hosts_queued,
        now.visited,
        now.visited_bytes,
        ",".join(str(thread.received) for thread in now.threads),
        now.filtered.get("length", 0),
        int(now.checkpoint_seconds * 1000),
        now.checkpoint_bytes,
        now.pages,
        now.errors,
    )
    return _prefix(wall, now.elapsed) + ";".join(map(str, values)) + "\n"


def _prefix(wall: float, elapsed: float) -> str:
    """``hh:mm:ss:mmm;<ms since start>;``, as all logs have it."""
    return f"{time_of_day(wall)};{int(elapsed * 1000)};"
