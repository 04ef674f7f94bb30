"""The wall clock is set between two runs: no delay becomes shorter or longer."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from larm.kit.clock import SystemClock
from larm.ops.observers import build_crawl
from larm.testing.clock import FakeClock
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import WatchedLog, asked, config_of

YEAR = 365 * 86_400.0
DELAY = 0.05
PAGES = [f"/{number}" for number in range(15)]


class SetClock(FakeClock):
    """Real monotonic time, as the fetchers really wait; a wall clock that can be set."""

    def monotonic(self) -> float:
        return SystemClock().monotonic()


def fill(web: SyntheticWeb) -> str:
    site = web.host("a.localhost")
    site.page("/", links=PAGES)
    for path in PAGES:
        site.page(path)
    return web.url("a.localhost")


def test_set_back_or_forward_between_two_runs(tmp_path: Path, web: SyntheticWeb) -> None:
    """A machine that starts without the time: what was left to wait is waited for, no more; never less than the delay."""
    start = fill(web)
    clock = SetClock(SystemClock().wall())
    now = clock.wall()
    for jump in (0, -20 * YEAR, 20 * YEAR, -YEAR):
        clock.set_wall(now + jump)
        crawl = build_crawl(config_of(start, {"frontier.delay": 0.4}), tmp_path, clock=clock)
        count = len(web.requests) + 3
        assert isinstance(web.log, WatchedLog)
        web.log.at(count, crawl.stop)
        assert crawl.run().reason == "shutdown"
    gaps = [later.started - earlier.started for earlier, later in pairwise(web.requests)]
    assert min(gaps) >= 0.4
    assert max(gaps) < 3
    assert max(asked(web).values()) <= 2, "a page that was in the air at a stop is asked for again"
