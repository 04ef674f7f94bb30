"""RandomWeb: a linked web of any size, made from a seed, that knows what a correct crawl of it fetches.

For whole-crawl and crash tests, and by hand: ``python -m tests.support.random_web --hosts 30 --pages 5000`` serves one until
Ctrl-C and prints its start URL. The pages are the same for the same seed, apart from the port in their links.
"""

import argparse
import random
import sys
import threading
from collections.abc import Iterable
from typing import Self

from larm.testing.web import SyntheticWeb

_WORDS = """
amber anchor apple arch barley basin beacon bell birch bridge brook candle canal carbon cedar chalk clover coast copper
coral cotton crane current delta dune eagle ember engine fern field flint forest fossil gable garden glacier granite
harbour harvest hazel heron hollow honey island ivory jasper juniper kettle lantern larch ledger linen lumber maple
marble meadow mill mineral mortar mountain nettle oak orchard otter oyster paper pebble pepper pine plough pottery
quarry quartz quill rapids raven reed ridge river rope saddle sail salmon salt sand silver slate sparrow spring spruce
steam stone storm straw tallow thistle tide timber tower trout valley velvet village vine violet walnut water wheat
willow winter wool yarrow
""".split()  # noqa: SIM905  a list of so many quotes is no pleasure

Place = tuple[str, str]
"""Host and path."""


class RandomWeb(SyntheticWeb):
    """A SyntheticWeb filled with pages. The crawl starts at `start_urls` and may go to all `hosts`.

    Of the pages, every fiftieth is under ``/private/``, which two thirds of the hosts forbid in robots.txt, and every fortieth
    has no link to it. There is a redirect and a dead link for each fifty pages. A page has ``links`` links or a few more: half
    to its own host, half anywhere, some of them twice, with fragments, or to itself.
    """

    def __init__(self, seed: int, hosts: int, pages: int, *, links: int = 8, port: int = 0, delay: float = 0.0) -> None:
        super().__init__(port)
        # constant after construction
        self.hosts = [f"h{number:02d}.localhost" for number in range(hosts)]
        self._random = random.Random(seed)
        self._counts = (pages, links, delay)
        # constant after __enter__
        self._graph: dict[Place, tuple[Place, ...]] = {}
        self._forbidding: set[str] = set()
        self._without_page: set[Place] = set()  # redirects and dead links

    def __enter__(self) -> Self:
        super().__enter__()
        self._build()
        return self

    @property
    def start_urls(self) -> list[str]:
        """One address, from which everything is reached that can be."""
        return [self.url(self.hosts[0])]

    def expected(self) -> frozenset[str]:
        """What `fetched` must count, each once: pages that can be reached from the start without what robots.txt forbids."""
        return frozenset(host + path for host, path in self._reachable())

    def expected_urls(self) -> frozenset[str]:
        """The same as absolute URLs."""
        return frozenset(self.url(host, path) for host, path in self._reachable())

    def _reachable(self) -> Iterable[Place]:
        start = (self.hosts[0], "/")
        seen, waiting = {start}, [start]
        while waiting:
            for target in self._graph[waiting.pop()]:
                if target not in seen and not (target[1].startswith("/private/") and target[0] in self._forbidding):
                    seen.add(target)
                    waiting.append(target)
        return seen - self._without_page

    def _build(self) -> None:
        pages, links, delay = self._counts
        choose = self._random
        places = self._places(pages)
        linked = [place for number, place in enumerate(places) if number % 40 != 39]
        for host in self.hosts:
            self.host(host).delay = delay
            if choose.random() < 2 / 3:
                self._forbidding.add(host)
                self.host(host).robots("User-agent: *\nDisallow: /private/\n")
        specials = [*self._redirects(linked, pages // 50), *self._dead_links(pages // 50)]
        by_host: dict[str, list[Place]] = {host: [] for host in self.hosts}
        for place in linked:
            by_host[place[0]].append(place)
        targets: dict[Place, list[Place]] = {place: [] for place in places}
        for number, place in enumerate(linked[1:], start=1):  # a tree, or hardly anything would be reachable
            targets[linked[choose.randrange(number)]].append(place)
        for special in specials:
            targets[choose.choice(linked)].append(special)
        for place in places:
            near = by_host[place[0]]
            targets[place] += choose.choices(near, k=links // 2) + choose.choices(linked, k=links - links // 2)
            choose.shuffle(targets[place])
            self._graph[place] = tuple(targets[place])
            self._publish(place)

    def _places(self, pages: int) -> list[Place]:
        """Where the pages are: the first hosts have more of them than the last."""
        weights = [1 / (rank + 3) for rank in range(len(self.hosts))]
        places = [(host, "/") for host in self.hosts]
        owners = self._random.choices(self.hosts, weights, k=max(0, pages - len(places)))
        for number, host in enumerate(owners, start=len(places)):
            if number % 50 == 49:
                places.append((host, f"/private/{number}.html"))
            elif number % 7 == 0:
                places.append((host, f"/page?id={number}"))
            else:
                places.append((host, f"/{self._random.choice(_WORDS)}/{number}.html"))
        return places

    def _redirects(self, linked: list[Place], count: int) -> Iterable[Place]:
        for number in range(count):
            place, target = (self._random.choice(self.hosts), f"/moved/{number}"), self._random.choice(linked)
            self._graph[place] = (target,)
            self._without_page.add(place)
            self.host(place[0]).redirect(place[1], self.url(*target), self._random.choice((301, 302, 307, 308)))
            yield place

    def _dead_links(self, count: int) -> Iterable[Place]:
        for number in range(count):
            place = (self._random.choice(self.hosts), f"/gone/{number}")
            self._graph[place] = ()
            self._without_page.add(place)
            yield place

    def _publish(self, place: Place) -> None:
        host, path = place
        hrefs = []
        for number, (there, target) in enumerate(self._graph[place]):
            href = target if there == host else self.url(there, target)
            hrefs.append(href + "#section" if number % 10 == 9 else href)
        title = " ".join(self._random.choices(_WORDS, k=3))
        text = " ".join(self._random.choices(_WORDS, k=self._random.randrange(30, 200)))
        self.host(host).page(path, title, text, [(href, self._random.choice(_WORDS)) for href in hrefs])


def random_web(seed: int, hosts: int, pages: int, *, links: int = 8, port: int = 0, delay: float = 0.0) -> RandomWeb:
    """A web of so many hosts and pages, as a context manager; see `RandomWeb`. ``delay``: seconds that each answer takes."""
    return RandomWeb(seed, hosts, pages, links=links, port=port, delay=delay)


def main() -> None:
    """Serve one until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.random_web", description="Serve a random web on loopback.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hosts", type=int, default=30)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--delay", type=float, default=0.0, metavar="S", help="seconds that each answer takes")
    options = parser.parse_args()
    with random_web(options.seed, options.hosts, options.pages, port=options.port, delay=options.delay) as web:
        sys.stdout.write(f"{web.start_urls[0]}\n{len(web.expected())} pages to be fetched\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            sys.stdout.write(f"{len(web.log)} requests, {len(web.fetched())} pages\n")


if __name__ == "__main__":
    main()
