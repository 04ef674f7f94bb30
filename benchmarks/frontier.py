"""The frontier without network: millions of URLs on many hosts, put, filtered, leased and released.

``python -m benchmarks.frontier [--urls 10000000] [--hosts 100000]``. The real filter chain (length, known paths, scope,
visited, mail, robots, traps), the real host records and queues, a checkpoint every five seconds of CPU; each robots.txt allows
all; no storages. Prints, for every tenth of the way, URLs a second, what each took beside its own making, and the memory of the
process; then the bytes on the disk for each URL known, how long a hundredth of them takes to be leased, and how long the next
process takes to begin.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from pathlib import Path

from larm.config import Config, FiltersSettings, load
from larm.filters.chain import FilterChain
from larm.filters.known_paths import KnownPathsFilter
from larm.filters.length import LengthFilter
from larm.filters.mail_filter import MailFilter
from larm.filters.scope import ScopeFilter
from larm.filters.visited import VisitedFilter
from larm.frontier import resumption
from larm.frontier.checkpoint import CheckpointFile, Following, Header
from larm.frontier.hosts import HostBook
from larm.frontier.politeness import NOTHING
from larm.frontier.queue_row import EMPTY
from larm.frontier.queues import HostQueues
from larm.frontier.robots.desk import Arrival, RobotsDesk
from larm.frontier.robots.rules import ALLOW_ALL
from larm.frontier.traps.desk import TrapDesk
from larm.frontier.traps.limits import trap_rules
from larm.frontier.turns import Turns
from larm.kit.clock import SystemClock
from larm.kit.counters import Counters
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.garbage import collect_rarely
from larm.kit.logs.log_book import LogBook
from larm.kit.threads.tally import Tally
from larm.model.message import URLMessage
from larm.model.outcome import Timing
from larm.model.url import URLNormalizer
from larm.seams import Filter

BATCH = 1000
TICK = 5.0
"""Seconds of this process's CPU between two checkpoints: as on a machine that has nothing else to do."""
KNOWN = 0.5  # of the links found lead to pages that are known already


class Bench:
    """The parts, and what is measured of them."""

    def __init__(self, folder: Path, config: Config, hosts: int) -> None:
        self.folder = folder
        self.hosts = hosts
        self.clock = SystemClock()
        self.tally = Tally(lambda: None)
        self.store = BlockStore(folder / "queues")
        self.seen = DiskSeenSet(folder / "queues" / "visited.db", 200_000)
        self.logs = LogBook(folder / "logs")
        self.book = HostBook(self.store, config.frontier, self.clock, self.hurry)
        self.arrivals: list[Arrival] = []
        self.traps = TrapDesk(self.book, trap_rules(config.filters.traps), self.tally)
        self.turns = Turns(
            self.book,
            config.frontier,
            self.clock,
            self.tally,
            lambda: None,
            on_served=lambda key: self.arrivals.append(Arrival(key, "", None)),
        )
        self.queues = HostQueues(self.turns, guard=self.traps)
        self.desk = RobotsDesk(self.book, self.turns, config.robots, self.clock, self.tally)
        self.file = CheckpointFile(self.store)
        counters = Counters()
        filters: list[Filter] = [
            LengthFilter(500),
            KnownPathsFilter(FiltersSettings().known_paths),
            ScopeFilter(".*"),
            VisitedFilter(self.seen),
            MailFilter(self.book, self.turns, self.tally),
            self.desk,
            self.traps,
        ]
        self.chain = FilterChain(filters, self.logs.open, counters.add)
        self.normalizer = URLNormalizer()
        self.random = random.Random(1)
        self.began = time.perf_counter()
        self.last_save = 0.0
        self.hurried = False
        self.saves: list[float] = []
        self.cpu = time.process_time()
        self.making = 0.0  # of it, for the messages themselves

    def hurry(self) -> None:
        """Many records wait to be written."""
        self.hurried = True

    def put(self, first: int, last: int) -> None:
        """URLs by number; as many again are found that are known."""
        began, messages = time.process_time(), []
        for number in range(first, last):
            url = self.url(number)
            messages.append(URLMessage(url, f"http://host{number % 977}.example/from/this/page.html", depth=1))
            if number and self.random.random() < KNOWN:
                messages.append(URLMessage(self.url(self.random.randrange(number)), url.access, depth=1))
        self.making += time.process_time() - began
        self.tally.rise(len(messages))
        self.forward(messages)

    def forward(self, messages: list[URLMessage], start: str | None = None) -> None:
        """As the handler does."""
        passing = self.chain.run(messages, start)
        self.queues.add(passing)
        self.tally.fall(len(messages) - len(passing))

    def url(self, number: int):  # type: ignore[no-untyped-def]
        """The same number is the same URL; hosts come in no order."""
        host = number * 2_654_435_761 % self.hosts
        return self.normalizer.parse(f"http://host{host}.example/some/folder/page-{number}.html")

    def take(self, most: int) -> int:
        """Lease and release; the first of each host is its robots.txt."""
        leases = self.queues.lease(most)
        for lease in leases:
            self.queues.release(lease, Timing(), lambda host: NOTHING)  # noqa: ARG005
            if lease.robots:
                self.arrivals.append(Arrival(lease.host, "http", ALLOW_ALL))
        arrivals, self.arrivals = self.arrivals, []
        for arrival in arrivals:
            for parked in self.desk.settle(arrival):
                self.forward(parked, RobotsDesk.name)
        self.tally.fall(sum(not lease.robots for lease in leases))
        return len(leases)

    def save(self, *, at_once: bool = False) -> None:
        """A checkpoint, as the tick thread makes it."""
        now, used = time.perf_counter(), time.process_time()
        if used - self.last_save < TICK and not self.hurried and not at_once:
            return
        retired = self.store.retired()
        cuts, mail, fresh = self.book.cut(), self.book.mail.last_cut, self.seen.cut()
        header = Header(EMPTY, {}, {}, {}, [], "", [], Following("", 0, 0), self.store.next_epoch())
        standing = resumption.standing_of(self.turns, self.traps, 1, self.tally.value) if at_once else None
        self.file.write(header, cuts, fresh, retired, mail, standing)
        self.seen.apply(fresh)
        self.book.trim()
        self.last_save, self.hurried = time.process_time(), False
        self.saves.append(time.perf_counter() - now)

    def close(self) -> None:
        """All files."""
        self.store.close()
        self.seen.close()

    def report(self, what: str, done: int, since: float) -> None:
        """One line."""
        speed = done / (time.perf_counter() - since)
        cpu, self.cpu = time.process_time() - self.cpu, time.process_time()
        making, self.making = self.making, 0.0
        disk = sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file() and file.suffix != ".log")
        longest = max(self.saves, default=0.0)
        print(
            f"{what:28s}{speed:10,.0f} URLs/s {(cpu - making) / done * 1e6:6.1f} us CPU each"
            f" ({making / done * 1e6:.1f} more to make it) {rss():6.0f} MB"
            f" {disk / 1e6:8,.0f} MB on disk, longest save {longest:.2f} s",
            flush=True,
        )


def rss() -> float:
    """Megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier", description=__doc__)
    parser.add_argument("--urls", type=int, default=10_000_000)
    parser.add_argument("--hosts", type=int, default=100_000)
    parser.add_argument("-s", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    options = parser.parse_args()
    collect_rarely()
    folder = Path(tempfile.mkdtemp(prefix="larm-frontier-"))
    try:
        config = load(None, ["frontier.delay=0", *options.settings])
        bench = Bench(folder, config, options.hosts)
        tenth = options.urls // 10
        for part in range(10):
            since = time.perf_counter()
            for first in range(part * tenth, (part + 1) * tenth, BATCH):
                bench.put(first, first + BATCH)
                bench.save()
            bench.report(f"put and filtered {(part + 1) * tenth:,}", tenth, since)
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and file.suffix != ".log")
        print(f"{size / options.urls:.0f} bytes on disk a URL known")
        taken, since = 0, time.perf_counter()
        while taken < options.urls // 100:
            taken += bench.take(64)
            bench.save()
        bench.report(f"leased {taken:,}", taken, since)
        bench.save(at_once=True)
        waiting = bench.tally.value
        bench.close()
        for well in (True, False):
            since, cpu = time.perf_counter(), time.process_time()
            again = Bench(folder, config, options.hosts)
            header, _ = again.file.read() or (None, b"")
            standing = again.file.standing(header) if header is not None and well else None
            if standing is None:
                found = resumption.load_all(again.turns, again.traps, again.file.host_rows())
            else:
                found = resumption.go_on(again.turns, again.traps, standing)
            print(
                f"begun again after {'a good end' if well else 'a kill'} in {time.perf_counter() - since:.2f} s,"
                f" {time.process_time() - cpu:.2f} s CPU: {found:,} URLs wait, {waiting:,} before"
            )
            again.close()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
