"""Link ranks on a real crawl of 325,557 pages, against its exact PageRank (Laboratory for Web Algorithmics, cnr-2000)."""

from __future__ import annotations

import lzma
import random
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

import pytest

from larm.graph.reader import open_graph
from larm.kit.clock import SystemClock
from larm.store.graph import GraphStorage
from tests.graph.anchors import anchors
from tests.graph.score import kendall_tau
from tests.graph.webs import fingerprint, graph_visits, numbers, page, parse, stored
from tests.shared_data import shared


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_ranks_of_a_real_crawl(tmp_path: Path) -> None:
    """Through the storage, page by page, as a crawl does it."""
    folder = shared("webgraph-cnr2000")
    starts, targets = numbers(folder / "graph.npz", "indptr"), numbers(folder / "graph.npz", "indices")
    exact = numbers(folder / "pagerank085.npz", "pagerank")
    storage = GraphStorage(tmp_path, SystemClock())
    storage.open(None)
    visits = graph_visits(starts, targets)
    while batch := list(islice(visits, 500)):
        storage.store(batch)
    storage.commit()
    storage.close()
    graph = open_graph(tmp_path / "graph")
    assert graph is not None
    assert (graph.pages, graph.links) == (325_557, 3_216_152)

    keys = [parse(f"http://web.test/{number}").fingerprint for number in range(len(exact))]
    best = sorted(range(len(exact)), key=exact.__getitem__, reverse=True)[:1000]
    some = random.Random(1).sample(range(len(exact)), 2000)
    found = sorted(range(len(exact)), key=lambda number: graph.rank(keys[number]), reverse=True)[:1000]
    for name, pages, bar in (("the best 1000", best, 0.99), ("a sample of all", some, 0.99)):
        right = [exact[number] for number in pages]
        ranks = kendall_tau([graph.rank(keys[number]) for number in pages], right)
        degrees = kendall_tau([graph.in_degree(keys[number]) for number in pages], right)
        print(f"Kendall's tau on {name}: ranks {ranks:.4f}, in-degree alone {degrees:.4f}")
        assert ranks >= bar
    overlap = len(set(best) & set(found))
    print(f"of the best 1000: {overlap}")
    assert overlap >= 995


def test_the_ranks_of_wikipedia(tmp_path: Path) -> None:
    """4,604 articles with their names, against PageRank in ten lines of plain Python."""
    with lzma.open(shared("webgraph-wikispeedia", "given", "links.tsv.xz"), "rt", encoding="utf-8") as file:
        pairs = [line.split() for line in file if line.strip() and not line.startswith("#")]
    links: dict[str, list[str]] = {name: [] for pair in pairs for name in pair}
    for source, target in pairs:
        links[source].append(target)
    stored(
        tmp_path, *(page(f"wiki.test/{name}", {f"wiki.test/{to}": unquote(to) for to in out}) for name, out in links.items())
    )
    graph = open_graph(tmp_path / "graph")
    assert graph is not None
    assert (graph.pages, graph.links) == (len(links), len(pairs))

    exact = dict.fromkeys(links, 1 / len(links))
    for _ in range(60):
        kept = sum(exact[name] for name, out in links.items() if not out)
        after = dict.fromkeys(links, (0.85 * kept + 0.15) / len(links))
        for name, out in links.items():
            for target in out:
                after[target] += 0.85 * exact[name] / len(out)
        exact = after
    keys = {name: fingerprint(f"wiki.test/{name}") for name in links}
    some = random.Random(1).sample(sorted(links), 1500)
    tau = kendall_tau([graph.rank(keys[name]) for name in some], [exact[name] for name in some])
    print(f"Kendall's tau on Wikipedia: {tau:.4f}; first: {', '.join(unquote(url[17:]) for url, _ in graph.top(8))}")
    assert tau >= 0.99
    assert [url[17:] for url, _ in graph.top(8)] == sorted(exact, key=exact.__getitem__, reverse=True)[:8]
    named = [name for name in some if graph.in_degree(keys[name])]
    assert all(anchors(graph, keys[name])[0][0] == unquote(name) for name in named)
