"""Orders of a crawl on 4,604 articles of Wikipedia: how much of all PageRank came early."""

from __future__ import annotations

import pytest

from tests.conformance.orders import MOMENTS, crawl, good_seeds, wikispeedia
from tests.shared_data import shared


@pytest.mark.parametrize(
    ("order", "bars"), [("opic", (1.1, 1.05, 1.02)), ("pagerank", (0.99, 1.05, 1.02)), ("host-budget", None)]
)
def test_better_pages_come_earlier(order: str, bars: tuple[float, ...] | None) -> None:
    """Compared to breadth-first, after a tenth, a quarter and half of the pages; all fetch the same pages in the end."""
    web = wikispeedia(shared("webgraph-wikispeedia").parent)
    (seed,) = good_seeds(web, 1)
    shares = {}
    pages = {}
    for name in ("breadth-first", order):
        fetched = list(crawl(web, name, seed))
        pages[name] = sorted(fetched)
        whole = sum(web.rank[page] for page in fetched)
        shares[name] = [sum(web.rank[page] for page in fetched[: int(len(fetched) * moment)]) / whole for moment in MOMENTS]
        print(
            f"{name}: "
            + ", ".join(f"{share:.3f} after {moment:.0%}" for moment, share in zip(MOMENTS, shares[name], strict=True))
        )
    assert pages[order] == pages["breadth-first"]
    gains = [mine / theirs for mine, theirs in zip(shares[order], shares["breadth-first"], strict=True)]
    assert bars is None or all(gain >= bar for gain, bar in zip(gains, bars, strict=True)), gains
