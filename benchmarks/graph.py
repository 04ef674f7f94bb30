"""The link graph alone: pages of a made-up web into the graph storage, then a snapshot, then look-ups.

``python -m benchmarks.graph [--pages 100000] [--links 100]``. Of a page's links, four of five are those of its site's
menu, as on real sites; the others lead anywhere, half of them to addresses that no page has. Prints the time of the processor
for a page on the storage's thread, for commits and for the last snapshot (with the index of its anchor texts), bytes on the
disk for each link, the peak of memory, and what a look-up takes.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from larm.graph.reader import open_graph
from larm.kit.clock import SystemClock
from larm.model.document import Document, Visit
from larm.model.links import Link, Links
from larm.model.url import URLNormalizer
from larm.store.graph import GraphStorage

SITE = 5_000
"""Pages of a site."""
BATCH = 500


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, before = Path(name), _peak()
        storage = GraphStorage(folder, SystemClock())
        storage.open(None)
        batch: list[Visit] = []
        spent = commits = 0.0
        for number, visit in enumerate(visits(arguments.pages, arguments.links), 1):
            batch.append(visit)
            if len(batch) == BATCH or number == arguments.pages:
                began = process_time()
                storage.store(batch)
                spent += process_time() - began
                batch = []
            if number % 20_000 == 0:  # as every five seconds in a fast crawl
                began = process_time()
                storage.commit()
                commits += process_time() - began
        storage.commit()
        began = process_time()
        storage.close()
        closed = process_time() - began
        graph = open_graph(folder / "graph")
        assert graph is not None
        size = sum(path.stat().st_size for path in (folder / "graph").iterdir())
        print(f"{graph.pages:,} pages, {graph.nodes:,} nodes, {graph.links:,} links")
        print(f"a page: {spent / graph.pages * 1e6:.1f} us; all commits: {commits:.2f} s; the last snapshot: {closed:.2f} s")
        print(f"disk: {size / graph.links:.1f} bytes a link; memory: {_peak():.0f} MB at most, {before:.0f} MB before")
        some = random.Random(2)
        keys = [URLNormalizer().parse(_address(some.randrange(arguments.pages))).fingerprint for _ in range(2_000)]
        graph.rank(keys[0])
        for what, look in (("rank", graph.rank), ("anchors", graph.anchors), ("in_links", graph.in_links)):
            began = process_time()
            for key in keys:
                look(key)
            print(f"{what}: {(process_time() - began) / len(keys) * 1e6:.1f} us")


def visits(pages: int, links: int) -> Iterator[Visit]:
    """Pages as a crawl reads them: equal addresses are one object, texts are not."""
    choose, parse = random.Random(1), URLNormalizer().parse
    menu: list[tuple[int, int]] = []
    for number in range(pages):
        if number % SITE == 0:
            known = {}
            menu = [(choose.randrange(number, min(number + SITE, pages)), word) for word in range(links * 4 // 5)]
        goals = [*menu, *((choose.randrange(2 * pages), choose.randrange(pages)) for _ in range(links - len(menu)))]
        found = []
        for goal, word in goals:
            url = known.get(goal)
            if url is None:
                url = parse(_address(goal))
                if goal // SITE == number // SITE:
                    known[goal] = url
            found.append(Link(url, 0, f"about number {word}"))
        url = parse(_address(number))
        yield Visit(url.access, Links.of(found), url, status=200, document=Document("text/html"))


def _address(number: int) -> str:
    return f"http://site{number // SITE}.example/pages/{number}.html"


def _peak() -> float:
    """MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    main()
