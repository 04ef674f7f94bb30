"""CrawlJobs: what a peer crawls because others asked for it, or because its user's browser has seen it (YACY-35, 37, 39).

All of it goes into one directory by a crawl like any other, ``larm crawl``, so robots.txt, delays and filters hold, and its
pages are shared when it has ended. Who names addresses must not lead a crawl into an intranet, so its start URLs open no
private address. A job is in a table, on the disk, before anything follows from it; rounds begin with those that wait, of
one giver each, and what a killed process left waits again. Every giver has a share of the pages of a day, and who is denied
has none.

`add` and `seen` on any thread, all else on ``larm-network-jobs``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml

from larm.building.state import last_header
from larm.config import CONFIG_FILE, Config, load
from larm.enquiries.afterwards import explain_url
from larm.errors import LarmError, StorageError, UsageError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.database import Database
from larm.kit.disk.disk_failure import disk_failures
from larm.model.url import BadUrl, URLNormalizer
from larm.peers.http_client import NoAnswer
from larm.peers.yacy.library import runs, shareable_name
from larm.peers.yacy.node import Node
from larm.peers.yacy.order_book import DEEPEST
from larm.peers.yacy.questions import MOST_ORDERS, ORDERS, RECEIPT, Noted, Orders, OrdersOf, Receipt
from larm.river.budget import SPENT
from larm.storage.reader import StoreLog

OWN = ""
"""In place of a key: of the user's browser."""
_SHARE = 4
"""Part of a day's pages that one giver may have."""
_MOST = 500
"""Jobs in a round."""
_TOGETHER = 10.0
"""Seconds that the pages of a browser wait for more: to begin a crawl takes a second of CPU."""
_PERIOD = 60.0
"""Seconds between two questions to a peer that has orders."""
_DAY = 86_400.0
_KEPT = 30 * _DAY
_SECONDS = 10.0
_TABLES = """
CREATE TABLE IF NOT EXISTS job (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, number INTEGER NOT NULL, url TEXT NOT NULL, depth INTEGER NOT NULL,
    made INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, pages INTEGER NOT NULL DEFAULT 0, said TEXT NOT NULL DEFAULT '');
CREATE UNIQUE INDEX IF NOT EXISTS job_once ON job (key, number, url);
"""
_WAITS, _UNDER_WAY, _DONE, _TOLD = range(4)


class CrawlJob(NamedTuple):
    """One of them."""

    id: int
    key: str
    """Of who gave it; `OWN`."""
    number: int
    """At the giver's."""
    url: str
    depth: int


class CrawlJobs:
    """Of one node; ``folder`` is for the table and the directory."""

    def __init__(
        self, folder: Path, node: Node, settings: Config, run: Callable[[Path], None], say: Callable[[str], object]
    ) -> None:
        """``run`` begins the crawl of a directory, as `larm.web.starting.Starting.run`. Raises StorageError."""
        # constant after construction
        self.directory = folder / "jobs"
        self._node = node
        self._settings = settings
        self._a_day = settings.network.crawl_for_others
        self._run = run
        self._say = say
        self._normalizer = URLNormalizer()
        self._lock = threading.Lock()
        # guarded by self._lock
        with disk_failures(self.directory):
            self.directory.mkdir(mode=0o700, exist_ok=True)
        self._base = Database(folder / "jobs.db", _TABLES)
        self._base.write("UPDATE job SET state = ? WHERE state = ?", (_WAITS, _UNDER_WAY))
        # only larm-network-jobs
        self._begun: tuple[list[CrawlJob], int] | None = None
        """What is under way, and how long store.log was before."""
        self._asked: dict[str, float] = {}
        """By key."""

    def add(self, key: str, orders: Sequence[tuple[int, str, int]]) -> int:
        """(number, address, depth) of this giver, on the disk when this returns; how many are new."""
        now = int(self._node.now())
        rows = [(key, number, self._access(url), min(max(0, depth), DEEPEST), now) for number, url, depth in orders]
        with self._lock, self._base.transaction():
            statement = "INSERT OR IGNORE INTO job (key, number, url, depth, made) VALUES (?, ?, ?, ?, ?)"
            return sum(self._base.write(statement, row) for row in rows)

    def seen(self, url: str) -> None:
        """By the user's browser."""
        self.add(OWN, [(0, url, 0)])

    def tick(self) -> None:
        """What is due. Raises StorageError."""
        if self._node.stealthy:
            return
        if self._begun is not None:
            if runs(self.directory):
                return
            self._end(*self._begun)
            self._begun = None
        now = self._node.now()
        self._tell()
        if self._a_day:
            self._fetch(now)
        self._begin(now)

    def close(self) -> None:
        """Close the table."""
        with self._lock:
            self._base.close()

    # -- orders of others

    def _fetch(self, now: float) -> None:
        """Orders of peers that have any, and whose share is not used up."""
        node = self._node
        with node.lock:
            givers = [seed for seed in node.membership.active if seed.orders]
        self._asked = {key: at for key, at in self._asked.items() if now - at < _PERIOD}
        for seed in givers:
            if seed.key in self._asked or not node.has_to_do_with(seed.key) or self._left(seed.key, now) <= 0:
                continue
            self._asked[seed.key] = now
            if self._row("SELECT COUNT(*) FROM job WHERE key = ? AND state < ?", seed.key, _DONE):
                continue
            answer = node.ask(seed.hash, ORDERS, OrdersOf(node.network, MOST_ORDERS), Orders, _SECONDS)
            if isinstance(answer, NoAnswer):
                continue
            orders = answer.orders[:MOST_ORDERS]
            node.count("orders taken", self.add(seed.key, [(each.number, each.url, each.depth) for each in orders]))

    def _tell(self) -> None:
        """Receipts. Who is not there is told when he is; who does not want it is done with."""
        node = self._node
        for number, key, order, pages, said in self._rows(
            "SELECT id, key, number, pages, said FROM job WHERE state = ?", _DONE
        ):
            with node.lock:
                giver = next((seed for seed in node.membership.active if seed.key == key), None)
            if giver is None:
                continue
            receipt = Receipt(node.network, order, pages, said)
            answer = node.ask(giver.hash, RECEIPT, receipt, Noted, _SECONDS)
            if not isinstance(answer, NoAnswer) or answer.refused:
                self._write("UPDATE job SET state = ? WHERE id = ?", _TOLD, number)
                node.count("receipts sent")

    # -- rounds

    def _begin(self, now: float) -> None:
        """The jobs of the giver that has waited for longest, as far as his share goes."""
        if runs(self.directory):
            return  # somebody else has begun one, or one of an earlier server goes on
        self._write("DELETE FROM job WHERE state >= ? AND made < ?", _DONE, now - _KEPT)
        for key, since in self._rows("SELECT key, MIN(made) FROM job WHERE state = ? GROUP BY key ORDER BY 2", _WAITS):
            room = _MOST if key == OWN else self._left(key, now)
            if room <= 0 or (key == OWN and now - since < _TOGETHER):
                continue
            rows = self._rows(
                "SELECT id, key, number, url, depth FROM job WHERE state = ? AND key = ? ORDER BY id LIMIT ?",
                _WAITS,
                key,
                _MOST,
            )
            if self._begin_round([CrawlJob(*row) for row in rows], room):
                return

    def _begin_round(self, jobs: Sequence[CrawlJob], room: int) -> bool:
        """False: nothing of it is to be crawled."""
        header = last_header(self.directory)
        known = set(header.start_urls) if header else set()
        good, old = list[CrawlJob](), list[CrawlJob]()
        for each in jobs:
            why = self._refusal(each)
            if why:
                self._finish(each, 0, why)
            else:
                (old if each.url in known else good).append(each)
        for each in old:
            self._finish(each, 0, self._verdict(each.url))
        if not good:
            return False
        pages = header.counters.get(SPENT, 0) if header else 0
        settings = self._config(good, pages + room)
        try:
            write_atomically(self.directory / CONFIG_FILE, yaml.safe_dump(settings, allow_unicode=True).encode())
            before = _length(self.directory)
            self._mark(good, _UNDER_WAY)
            self._run(self.directory)
        except UsageError as error:
            self._say(f"network {self._node.network}: what others asked for can't be crawled: {error}")
            for each in good:
                self._finish(each, 0, "it could not be crawled")
            return False
        self._begun = good, before
        return True

    def _config(self, jobs: Sequence[CrawlJob], most: int) -> dict[str, object]:
        """Of the directory: the pace is ours, whoever asks for it."""
        crawl, agent, frontier = self._settings.crawl, self._settings.agent, self._settings.frontier
        sites = self._node.trust.denied_sites
        return {
            "agent": {"name": agent.name, "contact": agent.contact},
            "frontier": {"delay": float(frontier.delay)},
            "crawl": {
                "seeds": [{"url": each.url, "scope": "host", "depth": each.depth} for each in jobs],
                "exclude": [f"*://{place}/*" for site in sorted(sites) for place in (site, f"*.{site}")],
                "max_depth": DEEPEST,
                "max_pages": most,
                "private_starts": False,
                "allow_private": self._settings.network.private,
                "private_networks": list(crawl.private_networks),
            },
        }

    def _end(self, jobs: Sequence[CrawlJob], begin: int) -> None:
        hosts: dict[str, int] = {}
        try:
            for entry in StoreLog(self.directory, begin=begin):
                host = urlsplit(entry.url).netloc
                hosts[host] = hosts.get(host, 0) + 1
        except UsageError:
            pass  # not one page was fetched
        pages = [hosts.pop(urlsplit(each.url).netloc, 0) for each in jobs]  # those of a host are counted once
        pages[-1] += sum(hosts.values())  # where an address has led elsewhere
        for each, number in zip(jobs, pages, strict=True):
            self._finish(each, number, self._verdict(each.url))

    def _refusal(self, job: CrawlJob) -> str:
        if job.key in self._node.trust or self._node.trust.denies_page(job.url):
            return "it is not wanted here"
        if shareable_name(job.url, private=self._settings.network.private) is None:
            return "it is no address that anybody could open"
        return ""

    def _verdict(self, url: str) -> str:
        try:
            return explain_url(load(self.directory / CONFIG_FILE), self.directory, url).verdict
        except StorageError:
            raise
        except LarmError as error:
            return str(error)

    def _finish(self, job: CrawlJob, pages: int, said: str) -> None:
        state = _TOLD if job.key == OWN else _DONE
        self._write(
            "UPDATE job SET state = ?, pages = ?, said = ?, made = ? WHERE id = ?",
            state,
            pages,
            said,
            int(self._node.now()),
            job.id,
        )
        self._node.count("pages seen by the browser" if job.key == OWN else "orders carried out")

    def _mark(self, jobs: Sequence[CrawlJob], state: int) -> None:
        with self._lock, self._base.transaction():
            self._base.write_many("UPDATE job SET state = ? WHERE id = ?", [(state, each.id) for each in jobs])

    def _left(self, key: str, now: float) -> int:
        """Pages that this giver may have crawled today, and all together."""
        since = now - _DAY
        own = self._row("SELECT COALESCE(SUM(pages), 0) FROM job WHERE key = ? AND state >= ? AND made > ?", key, _DONE, since)
        of_all = self._row(
            "SELECT COALESCE(SUM(pages), 0) FROM job WHERE key != ? AND state >= ? AND made > ?", OWN, _DONE, since
        )
        return min(self._a_day // _SHARE - own, self._a_day - of_all)

    def _access(self, url: str) -> str:
        try:
            return self._normalizer.parse(url).access
        except BadUrl:
            return url

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._base.rows(statement, values)

    def _row(self, statement: str, *values: object) -> int:
        return int(self._rows(statement, *values)[0][0])

    def _write(self, statement: str, *values: object) -> None:
        with self._lock:
            self._base.write(statement, values)


def _length(directory: Path) -> int:
    try:
        return (directory / "logs" / "store.log").stat().st_size
    except OSError:
        return 0
