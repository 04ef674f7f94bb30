"""What the parts of a crawl say of one URL: its filters, the rules of robots.txt, the record of its host. Changes nothing.

For ``larm why``, which opens the last checkpoint, on the main thread; and for ``larm ctl why`` of a crawl that runs, on the
control thread: records are looked at under the book's lock.
"""

from collections.abc import Callable, Sequence

from larm.config import Config
from larm.engine.figures.rates import minute
from larm.filters.chain import verdict
from larm.filters.visited import VisitedFilter
from larm.frontier.banded_queue import BandedQueue
from larm.frontier.host import Host
from larm.frontier.hosts import HostBook
from larm.frontier.request_count import limits_of
from larm.frontier.shared_addresses import SharedAddresses
from larm.kit.counted import counted
from larm.kit.disk.caching_queue import QueueState
from larm.model.file_url import FILES
from larm.model.left import HostLeft
from larm.model.message import ORDINARY, URLMessage
from larm.model.url import Url
from larm.seams import Filter

Row = tuple[str, str]
"""Topic and sentence."""


def refusals_of(url: Url, filters: Sequence[Filter], link_type: int = ORDINARY) -> list[tuple[str, str | None]]:
    """What each filter says of it: its name, and why it would not let it pass; None: it would."""
    message = URLMessage(url, link_type=link_type)
    return [(part.name, verdict(part, message)) for part in filters]


def live_rows(
    url: Url,
    refusals: Sequence[tuple[str, str | None]],
    book: HostBook,
    settings: Config,
    addresses: SharedAddresses | None = None,
) -> list[Row]:
    """All of it, in the order in which a URL meets them; ``refusals``: of its filters. ``addresses``: of a crawl that runs."""
    rows = [("address", url.access), ("normalised", url.normalised), ("host", url.host)]
    for name, reason in refusals:
        said = "has passed already; a URL passes once" if name == VisitedFilter.name and reason else reason
        rows.append((f"filter {name}", "passes" if said is None else said))
    with book.lock:
        host = book.find_locked(url.host)
        if host is None:
            return [*rows, ("host state", "never seen by this crawl")]
        rows += [*_address_rows(host, settings, addresses), *_limit_rows(host, settings, book.wall)]
        return [*rows, *_host_rows(host, url, settings, book.wall)]


def queues_of(host: Host) -> dict[int, QueueState[URLMessage]]:
    """By their bands."""
    return {0: host.queue.snapshot()} | (host.queue.snapshots() if isinstance(host.queue, BandedQueue) else {})


def place_in(queue: QueueState[URLMessage], url: Url) -> int:
    """From 1, as far as the ends of the queue tell; 0: it is not there."""
    length = len(queue.front) + len(queue.back) + sum(count for _, count in queue.numbers())
    for end, first in ((queue.front, 1), (queue.back, length - len(queue.back) + 1)):
        for place, each in enumerate(end, first):
            if each.url.normalised == url.normalised:
                return place
    return 0


def _address_rows(host: Host, settings: Config, addresses: SharedAddresses | None) -> list[Row]:
    if not (host.address and settings.frontier.per_address):
        return []
    place, hosts = addresses.place_of(host.key, host.address) if addresses is not None else (0, 0)
    waits = f": number {place} of {hosts} hosts that wait there for their turn" if place else ""
    return [("IP address", f"{host.address}, whose hosts share a delay (frontier.per_address){waits}")]


def _limit_rows(host: Host, settings: Config, wall: Callable[[float], float]) -> list[Row]:
    limits = limits_of(settings.frontier)
    if host.made is None or not any(limits):
        return []
    kinds = (("minute", "request", "per_minute"), ("hour", "request", "per_hour"), ("hour", "byte", "bytes_per_hour"))
    return [
        (f"in its {name}", f"{counted(made, what)} of {most:,} (frontier.{key}), till {minute(wall(over))}")
        for (name, what, key), most, (over, made) in zip(kinds, limits, host.made.state(), strict=True)
        if most
    ]


def _host_rows(host: Host, url: Url, settings: Config, wall: Callable[[float], float]) -> list[Row]:
    scheme = url.access.partition(":")[0]
    origin = host.robots.get(scheme)
    rows: list[Row] = []
    if url.host == FILES:
        rows.append(("robots.txt", "there is none for files"))
    elif origin is None:
        rows.append(("robots.txt", "not asked for yet"))
    elif origin.rules is None:
        rows.append(("robots.txt", f"not known yet, {counted(len(host.parked), 'URL')} waiting for it"))
    else:
        rule = origin.rules.verdict(url.path_query)
        said = (
            "no rule matches" if rule is None else f"line {rule.line}: {'Allow' if rule.allow else 'Disallow'}: {rule.pattern}"
        )
        expires = minute(wall(origin.expires))
        until = "being asked for again" if origin.loading else f"known until {expires}"
        rows.append(("robots.txt", f"{said} ({until})"))
        if origin.rules.crawl_delay:
            rows.append(("crawl delay", f"{origin.rules.crawl_delay:g} s, of robots.txt"))
    if host.blocked:
        rows.append(("blocked", f"as somebody wants it so; 'larm ctl unblock {url.host}' has it asked again"))
    if host.frozen:
        rows.append(("moving", "it goes to another crawl, or comes from one, and is not asked meanwhile"))
    health = f"{counted(host.health, 'time-out')} until it is given up, of {settings.frontier.health}"
    rows.append(("its health", "given up" if host.dormant else health))
    rows.append(("waiting", f"{counted(host.waiting, 'URL')} of its host"))
    if host.is_slowed():
        rows.append(
            ("answers", f"nearly all errors, so it is asked every {host.delay(settings.frontier):g} s (frontier.error_delay)")
        )
    if host.backoffs:
        until = minute(wall(host.next_start))
        rows.append(("left alone", f"until {until}, as it asked for it"))
    left = host.traps.left(host.key) if host.traps is not None else HostLeft(host.key)
    rows += [
        ("held back here", f"{counted(each.urls, 'URL')} of {each.pattern} ({each.state})")
        for each in left.patterns
        if each.urls
    ]
    rows += [("parameter", f"{name} does not change the page here") for name in left.empty_parameters]
    states = queues_of(host)
    for band, state in states.items():
        if place := place_in(state, url):
            rows.append(("queue", f"number {place} of its host's queue" + f", band {band}" * (len(states) > 1)))
    again = [each.message.tries for each in host.delayed if each.message.url.normalised == url.normalised]
    return [*rows, *(("retry", f"failed {counted(tries, 'time')}, will be tried again") for tries in again)]
