"""What larm knows of one URL, for ``larm why``: every filter's verdict, robots.txt, the host's state, what became of the page.

Reads the last checkpoint of a crawl's directory and store.log; a crawl may be running meanwhile. Changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from larm.config import Config
from larm.errors import UsageError
from larm.filters.chain import verdict
from larm.frontier.banded_queue import BandedQueue
from larm.frontier.host import Host
from larm.frontier.hosts import HostBook
from larm.frontier.traps.desk import left_at
from larm.kit.disk.caching_queue import QueueState
from larm.model.file_url import FILES
from larm.model.message import URLMessage
from larm.model.url import Url
from larm.seams import Filter
from larm.storage.reader import StoreLog

Row = tuple[str, str]
"""Topic and sentence."""


def explain(url: Url, filters: Sequence[Filter], book: HostBook, settings: Config, directory: Path) -> list[Row]:
    """Everything there is to say, in the order in which a URL meets it."""
    message = URLMessage(url)
    rows = [("address", url.access), ("normalised", url.normalised), ("host", url.host)]
    for part in filters:
        reason = verdict(part, message)
        rows.append((f"filter {part.name}", "passes" if reason is None else reason))
    with book.lock:
        host = book.find_locked(url.host)
    rows += _host(host, url, settings, book.wall) if host else [("host state", "never seen by this crawl")]
    rows += _page(url, directory)
    return rows


def _host(host: Host, url: Url, settings: Config, wall: Callable[[float], float]) -> list[Row]:
    scheme = url.access.partition(":")[0]
    origin = host.robots.get(scheme)
    rows: list[Row] = []
    if url.host == FILES:
        rows.append(("robots.txt", "there is none for files"))
    elif origin is None:
        rows.append(("robots.txt", "not asked for yet"))
    elif origin.rules is None:
        rows.append(("robots.txt", f"not known yet, {len(host.parked)} URLs wait for it"))
    else:
        rule = origin.rules.verdict(url.path_query)
        said = (
            "no rule matches" if rule is None else f"line {rule.line}: {'Allow' if rule.allow else 'Disallow'}: {rule.pattern}"
        )
        expires = datetime.fromtimestamp(wall(origin.expires)).strftime("%Y-%m-%d %H:%M")
        until = "being asked for again" if origin.loading else f"known until {expires}"
        rows.append(("robots.txt", f"{said} ({until})"))
        if origin.rules.crawl_delay:
            rows.append(("crawl delay", f"{origin.rules.crawl_delay:g} s, of robots.txt"))
    rows.append(("health", "given up" if host.dormant else f"{host.health} of {settings.frontier.health}"))
    rows.append(("waiting here", f"{host.waiting} URLs"))
    if host.backoffs:
        until = datetime.fromtimestamp(wall(host.next_start)).strftime("%Y-%m-%d %H:%M")
        rows.append(("left alone", f"until {until}, as it asked for it"))
    left = left_at(host)
    rows += [("held back here", f"{each.urls:,} URLs of {each.pattern} ({each.state})") for each in left.patterns if each.urls]
    rows += [("parameter", f"{name} does not change the text here") for name in left.empty_parameters]
    states = {0: host.queue.snapshot()} | (host.queue.snapshots() if isinstance(host.queue, BandedQueue) else {})
    for band, state in states.items():
        if place := _place(state, url):
            rows.append(("queue", f"number {place} of its host's queue" + f", band {band}" * (len(states) > 1)))
    again = [each.message.tries for each in host.delayed if each.message.url.normalised == url.normalised]
    return [*rows, *(("retry", f"failed {tries} times, will be tried again") for tries in again)]


def _place(queue: QueueState[URLMessage], url: Url) -> int:
    """From 1, as far as the ends of the queue tell; 0: it is not there."""
    length = len(queue.front) + len(queue.back) + sum(count for _, count in queue.numbers())
    for end, first in ((queue.front, 1), (queue.back, length - len(queue.back) + 1)):
        for place, each in enumerate(end, first):
            if each.url.normalised == url.normalised:
                return place
    return 0


def _page(url: Url, directory: Path) -> list[Row]:
    try:
        log = StoreLog(directory)
    except UsageError:  # the log storage is not in the chain, or has stored nothing yet
        return [("page", "no store.log to look it up in"), *_fetch_lines(url, directory)]
    found = log.find(url.access) or log.find(url.normalised)
    if found is None:
        return [("page", "not stored"), *_fetch_lines(url, directory)]
    return [
        ("page", f"{found.status} {found.mime}, {found.size} bytes, {found.title!r}"),
        ("first link", f"on {found.from_page}"),
        *_fetch_lines(url, directory),
    ]


def _fetch_lines(url: Url, directory: Path) -> list[Row]:
    """The last fetch that a thread's log tells of; of several logs, which have no dates, the latest time of day."""
    ending = f": {url.access}\n".encode()
    last = b""
    for log in sorted((directory / "logs").glob("thread*.log")):
        if log.name.endswith("_errors.log"):
            continue
        with log.open("rb") as lines:
            last = max(last, next(iter(deque((line for line in lines if line.endswith(ending)), 1)), b""))
    return [("last fetch", last.decode("utf-8", "replace").strip())] if last else []
