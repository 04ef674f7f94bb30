"""CrawlJobs: the crawls of a peer for others, and of pages that its user's browser has seen (YACY-35, 37, 39).

All pages go into one directory by an ordinary ``larm crawl``, so robots.txt, delays and filters hold. They are shared when it
has ended. Its start URLs open no private address, since strangers name them. A round has the waiting jobs of one giver
(`larm.peers.yacy.job_table`). Each giver has a share of the pages of a day, and a denied one has none.

`add` and `seen` on any thread, all else on ``larm-network-jobs``.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from larm.config import CONFIG_FILE, Config, load
from larm.crawldir.state import last_header
from larm.engine.allowance import SPENT
from larm.errors import LarmError, StorageError, UsageError
from larm.fetch.http_client import NoAnswer
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failures
from larm.model.url import BadUrl, URLNormalizer
from larm.ops.afterwards import explain_url
from larm.peers.yacy.job_table import MOST, OWN, CrawlJob, JobTable
from larm.peers.yacy.library import runs, shareable_name
from larm.peers.yacy.node import Node
from larm.peers.yacy.order_book import DEEPEST
from larm.peers.yacy.questions import MOST_ORDERS, ORDERS, RECEIPT, Noted, Orders, OrdersOf, Receipt
from larm.store.reader import StoreLog

_SHARE = 4
"""Part of a day's pages for one giver."""
_TOGETHER = 10.0
"""Seconds that the pages of a browser wait for more, since the start of a crawl takes a second of CPU."""
_PERIOD = 60.0
"""Seconds between two questions to a peer that has orders."""
_DAY = 86_400.0
_SECONDS = 10.0


class CrawlJobs:
    """The jobs of one node; ``folder`` is for the table and the directory."""

    def __init__(
        self, folder: Path, node: Node, settings: Config, run: Callable[[Path], None], say: Callable[[str], object]
    ) -> None:
        """``run`` begins the crawl of a directory, as `larm.web.starting.Starting.run` does. Raises StorageError."""
        # constant after construction
        self.directory = folder / "jobs"
        self._node = node
        self._settings = settings
        self._private = settings.serve.private == "network"
        self._a_day = settings.network.crawl_for_others
        self._run = run
        self._say = say
        self._normalizer = URLNormalizer()
        with disk_failures(self.directory):
            self.directory.mkdir(mode=0o700, exist_ok=True)
        self.table = JobTable(folder / "jobs.db")
        # only larm-network-jobs
        self._begun: tuple[list[CrawlJob], int] | None = None
        """Jobs under way, and the bytes of store.log before."""
        self._asked: dict[str, float] = {}
        """Time of the last question to each peer, by key."""

    def add(self, key: str, orders: Sequence[tuple[int, str, int]]) -> int:
        """Save (number, address, depth) of one giver. Return the number of new ones."""
        rows = [(number, self._access(url), min(max(0, depth), DEEPEST)) for number, url, depth in orders]
        return self.table.add(key, rows, self._node.now())

    def seen(self, url: str) -> None:
        """Add a page that the user's browser has seen."""
        self.add(OWN, [(0, url, 0)])

    def tick(self) -> None:
        """Do what is due. Raises StorageError."""
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
        self.table.close()

    # -- orders of others

    def _fetch(self, now: float) -> None:
        """Fetch orders of peers that have some, and whose share is not used up."""
        node = self._node
        with node.lock:
            givers = [seed for seed in node.membership.active if seed.orders]
        self._asked = {key: at for key, at in self._asked.items() if now - at < _PERIOD}
        for seed in givers:
            if seed.key in self._asked or not node.deals_with(seed.key) or self._left(seed.key, now) <= 0:
                continue
            self._asked[seed.key] = now
            if self.table.has_open(seed.key):
                continue
            answer = node.ask(seed.hash, ORDERS, OrdersOf(node.network, MOST_ORDERS), Orders, _SECONDS)
            if isinstance(answer, NoAnswer):
                continue
            orders = answer.orders[:MOST_ORDERS]
            node.count("orders taken", self.add(seed.key, [(each.number, each.url, each.depth) for each in orders]))

    def _tell(self) -> None:
        """Send receipts. A giver that is away gets its receipt later; one that refuses it gets none."""
        node = self._node
        for number, key, order, pages, said in self.table.untold():
            with node.lock:
                giver = next((seed for seed in node.membership.active if seed.key == key), None)
            if giver is None:
                continue
            receipt = Receipt(node.network, order, pages, said)
            answer = node.ask(giver.hash, RECEIPT, receipt, Noted, _SECONDS)
            if not isinstance(answer, NoAnswer) or answer.refused:
                self.table.told(number)
                node.count("receipts sent")

    # -- rounds

    def _begin(self, now: float) -> None:
        """Begin the jobs of the giver that has waited for longest, within its share."""
        if runs(self.directory):
            return  # another process has begun one, or one of an earlier server goes on
        for key, since in self.table.givers(now):
            room = MOST if key == OWN else self._left(key, now)
            if room <= 0 or (key == OWN and now - since < _TOGETHER):
                continue
            if self._begin_round(self.table.waiting(key), room):
                return

    def _begin_round(self, jobs: Sequence[CrawlJob], room: int) -> bool:
        """Begin a round. Return False if none of it is to be crawled."""
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
            self.table.begun(good)
            self._run(self.directory)
        except UsageError as error:
            self._say(f"network {self._node.network}: what others asked for can't be crawled: {error}")
            for each in good:
                self._finish(each, 0, "it could not be crawled")
            return False
        self._begun = good, before
        return True

    def _config(self, jobs: Sequence[CrawlJob], most: int) -> dict[str, object]:
        """Return the settings of the directory. The pace is this peer's, for all givers."""
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
                "private_networks": ["all"] if self._private else ["no-starts", *crawl.private_networks],
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
        pages[-1] += sum(hosts.values())  # pages of redirects to other hosts
        for each, number in zip(jobs, pages, strict=True):
            self._finish(each, number, self._verdict(each.url))

    def _refusal(self, job: CrawlJob) -> str:
        if shareable_name(job.url, private=self._private) is None:
            return "it is no address that anybody could open"
        if job.key in self._node.trust or self._node.trust.denies_page(job.url):
            return "it is not wanted here"
        return ""

    def _verdict(self, url: str) -> str:
        try:
            return explain_url(load(self.directory / CONFIG_FILE), self.directory, url).verdict
        except StorageError:
            raise
        except LarmError as error:
            return str(error)

    def _finish(self, job: CrawlJob, pages: int, said: str) -> None:
        self.table.done(job, pages, said, self._node.now())
        self._node.count("pages seen by the browser" if job.key == OWN else "orders carried out")

    def _left(self, key: str, now: float) -> int:
        """Return the number of pages left today, for this giver and for all."""
        pages = self.table.pages_since(now - _DAY)
        of_all = sum(number for giver, number in pages.items() if giver != OWN)
        return min(self._a_day // _SHARE - pages.get(key, 0), self._a_day - of_all)

    def _access(self, url: str) -> str:
        try:
            return self._normalizer.parse(url).access
        except BadUrl:
            return url


def _length(directory: Path) -> int:
    try:
        return (directory / "logs" / "store.log").stat().st_size
    except OSError:
        return 0
