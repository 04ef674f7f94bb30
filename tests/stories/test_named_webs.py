"""Of the named webs all real pages are fetched, and those without end come to one; with an index and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.testing.web import SyntheticWeb
from tests.stories.crawls import run_crawl
from tests.support.webs.named import fetched, serve
from tests.support.webs.table import SITES, TRAPS

PAGES, ARTICLES = 150, 150
"""Of a site, and in a trap. Sites are small here, as it should be quick. Of full size a gallery (25 chains of pages without a
word) may be taken for a trap: what is left is told."""
QUICK = {"frontier.delay": 0, "frontier.per_host": 4, "monitor.tick": "100ms"}
CHAINS = {"with an index": {}, "without": {"storage.chain": ["log"]}}
COMMON = ("deep-relative", "redirects", "reported-forum", "soft-404", "session-path")


@pytest.mark.parametrize("chain", CHAINS)
def test_sites_are_fetched_whole(tmp_path: Path, web: SyntheticWeb, chain: str) -> None:
    named = [SITES[name](PAGES) for name in SITES]
    run = run_crawl(tmp_path, [start for each in named for start in serve(each, web)], {**QUICK, **CHAINS[chain]})
    assert run.ending.reason == "finished"
    missing = {each.name: lost for each in named if (lost := len(each.real - fetched(each, web)))}
    assert not missing
    assert len(web.log) <= 1.05 * sum(each.within for each in named) + len(named)


@pytest.mark.parametrize(
    ("name", "chain"),
    [*((name, "without") for name in COMMON), ("calendar-thin", "with an index"), ("pagination", "with an index")],
)
def test_a_trap_ends_and_its_articles_are_found(tmp_path: Path, web: SyntheticWeb, name: str, chain: str) -> None:
    named = TRAPS[name](ARTICLES)
    settings = {**QUICK, **CHAINS[chain], "frontier.per_host": 16, "crawl.max_pages": 6_000}
    run = run_crawl(tmp_path, serve(named, web), settings)
    lost = len(named.real - fetched(named, web))
    print(f"{name}, {chain}: {len(web.log)} requests of {named.budget}, {lost} of {len(named.real)} missing")
    assert run.ending.reason == "finished"
    assert not lost
    assert named.budget is not None
    assert len(web.log) <= named.budget
