"""RobotsDesk: which hosts' robots.txt are known, and who waits for one (LARM-53 to LARM-57).

The first message for an origin whose rules are unknown (or older than a day) makes fetching them the host's first task and is
parked; so is every later one, until the answer comes. Rules are set and parked messages released on the handler thread alone,
in one go, so no message can be stranded or overtaken (LARM-55, LARM-56).

`screen` and `settle` run on the handler thread, `load_again` on a fetcher thread, `explain` on any; records are guarded by the
book's lock.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby

import msgspec

from larm.config import RobotsSettings
from larm.frontier.host import Host, OriginRobots
from larm.frontier.hosts import HostBook
from larm.frontier.politeness import next_start
from larm.frontier.robots.rules import RobotsRules
from larm.frontier.turns import Turns
from larm.kit.threads.tally import Tally
from larm.model.file_url import FILES
from larm.model.message import ORDINARY, SITEMAP, START, URLMessage
from larm.model.spellings import longer, shorter
from larm.model.url import Url
from larm.seams import Clock, Drop

BATCH = 1000
"""Messages in one pass of the chain: large enough to share a look-up on the disk, small enough for a checkpoint to wait for."""


class Arrival(msgspec.Struct, frozen=True):
    """Rules on their way from a fetcher thread to the handler thread."""

    host: str
    scheme: str
    rules: RobotsRules | None
    """None: there are no new ones, but who waits shall be judged by those that there are."""
    silent: bool = False
    """See `OriginRobots.silent`."""


class RobotsDesk:
    """The filter of robots.txt (LARM-53 to LARM-61), on the host records. Messages of a host whose rules are not known yet are
    parked with the host's record, and enter the chain again at this filter when the rules have come."""

    name = "robots"
    log_name = "RobotExclusionFilter"

    def __init__(
        self,
        book: HostBook,
        turns: Turns,
        settings: RobotsSettings,
        clock: Clock,
        tally: Tally,
        *,
        anew: bool = False,
        note: Callable[[Sequence[URLMessage]], object] = lambda _: None,
        join: Callable[[str, str], Url] | None = None,
        file: Callable[[Sequence[URLMessage]], Sequence[URLMessage]] = lambda _: (),
    ) -> None:
        """``anew``: what earlier runs were told is asked for again, as they may have left out sitemaps that it names.

        ``note`` is told what is forbidden: later rules may allow it, when no link that is new leads there any more.

        ``join`` makes other spellings of an address that is forbidden: one that is not is asked for in its place, as of all
        the links to it, under whatever name, only the first comes here. ``file``: see `larm.filters.spellings.Spellings.file`.
        """
        # constant after construction
        self._oldest = clock.monotonic() + settings.ttl if anew else 0.0  # when rules of this run may expire
        self._book = book
        self._turns = turns
        self._settings = settings
        self._clock = clock
        self._tally = tally
        self.note = note
        self._join = join
        self._file = file

    # -- the handler thread

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        passing: list[URLMessage] = []
        forbidden: list[URLMessage] = []
        alone: list[URLMessage] = []
        waiting = 0
        self._book.warm(message.url.host for message in batch)
        with self._book.lock:
            for key, group in groupby(batch, lambda message: message.url.host):
                if key == FILES:  # a disk has no robots.txt
                    passing += group
                    continue
                host = self._book.get_locked(key)
                parked: list[URLMessage] = []
                for message in group:
                    rules = self._rules_locked(host, message)
                    if rules is None:
                        parked.append(message)
                    elif rules.allows(message.url.path_query):
                        passing.append(message)
                    else:
                        forbidden.append(message)
                        other = self._in_its_place(message, rules)
                        passing += other
                        if not other:
                            alone.append(msgspec.structs.replace(message, tried=_tried(message)))
                if parked:
                    host.parked.put_many(parked)
                    self._book.put_locked(len(parked))
                    self._turns.schedule_locked(host)
                    if host.counts:
                        waiting += len(parked)
                    else:
                        self._turns.totals.uncounted += len(parked)
        if forbidden:
            drop(forbidden, "robots.txt")
            self.note(forbidden)
        self._tally.rise(waiting)  # the handler lets it fall by all that do not pass
        self._turns.announce()
        self._book.relieve()
        linked = self._file(alone) if alone else ()
        return [*passing, *self.sift(linked, drop)] if linked else passing

    def settle(self, arrival: Arrival) -> Iterator[list[URLMessage]]:
        """Set the rules of an origin; returns the parked messages of its host, which must enter the robots filter now.

        In batches: there may be any number of them, and the filter may park some of them again.
        """
        with self._book.lock:
            host = self._book.get_locked(arrival.host)
            host.arriving.pop(arrival.scheme, None)
            if arrival.rules is None:
                return self._release(host, len(host.parked))
            expires = self._clock.monotonic() + self._settings.ttl
            host.robots[arrival.scheme] = OriginRobots(arrival.rules, expires, silent=arrival.silent)
            crawl_delay = arrival.rules.crawl_delay  # counts from robots.txt on, which was a request, too
            host.next_start = max(host.next_start, next_start(self._clock.monotonic(), 0.0, crawl_delay, 0.0, 0.0))
            self._book.changed_locked(host)
            waiting = len(host.parked)
        return self._release(host, waiting)

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        with self._book.lock:
            host = self._book.find_locked(message.url.host)
            origin = host.robots.get(scheme_of(message.url.access)) if host else None
        if origin is None or origin.rules is None:
            return None
        rule = origin.rules.verdict(message.url.path_query)
        if rule is None or rule.allow:
            return None
        return f"line {rule.line} of {message.url.origin}/robots.txt: Disallow: {rule.pattern}"

    # -- the fetcher threads

    def load_again(self, message: URLMessage) -> None:
        """Another try for a robots.txt, or the address that it moved to."""
        with self._book.lock:
            host = self._book.get_locked(message.url.host)
            host.robots_tasks.append(message)
            self._turns.schedule_locked(host)
        self._turns.announce()

    def _release(self, host: Host, waiting: int) -> Iterator[list[URLMessage]]:
        while waiting:
            with self._book.lock:
                batch: list[URLMessage] = []
                while len(batch) < min(waiting, BATCH):
                    batch += host.parked.take(min(waiting, BATCH) - len(batch))
                if (
                    not host.counts
                ):  # given up or blocked meanwhile: these did not count, and do again until they are back there
                    self._turns.totals.uncounted -= len(batch)
                    self._tally.rise(len(batch))
                self._book.changed_locked(host)
            waiting -= len(batch)
            yield batch
        with self._book.lock:
            self._turns.schedule_locked(host)  # where all were forbidden, nothing else would see that it is at rest
        self._turns.announce()

    def _in_its_place(self, message: URLMessage, rules: RobotsRules) -> list[URLMessage]:
        if self._join is None:
            return []
        tried = _tried(message)
        others = chain(shorter(message.url, self._join), longer(message.url, self._join))
        allowed = next((each for each in others if each.spelling not in tried and rules.allows(each.path_query)), None)
        return [] if allowed is None else [msgspec.structs.replace(message, url=allowed, tried=tried)]

    # -- under the lock

    def _rules_locked(self, host: Host, message: URLMessage) -> RobotsRules | None:
        scheme = scheme_of(message.url.access)
        origin = host.robots.get(scheme)
        if origin is not None and origin.rules is not None:
            now = self._clock.monotonic()
            more = 0 < origin.rules.cut < self._settings.size or origin.expires < self._oldest
            if now < origin.expires <= now + self._settings.ttl and not more:  # the ttl may be shorter than in the last run
                return origin.rules
        if origin is None or not origin.loading:
            host.robots[scheme] = msgspec.structs.replace(origin or OriginRobots(), expires=0.0, loading=True)
            address = robots_url(message.url)
            foreign = message.is_sitemap and message.referrer not in {address.access, START}
            host.robots_tasks.append(URLMessage(address, address.access, SITEMAP if foreign else ORDINARY))
        return None


def _tried(message: URLMessage) -> tuple[int, ...]:
    return (*message.tried, message.url.spelling)


def robots_url(url: Url) -> Url:
    """Where the rules for a URL are; the key of the host record stays, whatever name was used (LARM-41)."""
    address = url.origin + "/robots.txt"
    return Url(address, address, url.host, 0)


def scheme_of(address: str) -> str:
    """http or https."""
    return address.partition(":")[0]
