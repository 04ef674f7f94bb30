"""Story 11, the long one: kill -9 at many random moments, and nothing of it can be seen in what the crawl leaves.

Run by ``tox -e crash`` (the short one always); ``LARM_SEED`` chooses another seed, which is printed.
"""

from __future__ import annotations

import functools
import itertools
import os
import random
import signal
from pathlib import Path

import pytest

from larm.testing.request_log import Request, RequestLog
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import ALL_HOSTS, run_crawl, watch
from tests.stories.leftovers import leftovers
from tests.stories.processes import Process, crawl_arguments, larm_says
from tests.stories.test_kill import SCOPE, SETTINGS, checkpointed
from tests.support.random_web import RandomWeb, random_web

SEED = int(os.environ.get("LARM_SEED", "1"))
TICK = 0.1
SLOW, CRAWL_DELAY = "h99.localhost", 1
"""A host that asks for a long delay, so that one that is forgotten shows."""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_25_times_in_5000_pages(tmp_path: Path) -> None:
    with random_web(SEED, hosts=30, pages=5000, delay=0.015) as web:
        fill_slow_host(web, 8)
        web.hosts.append(SLOW)
        story(tmp_path, web, kills=25)


def test_killed_5_times_in_300_pages(tmp_path: Path) -> None:
    with random_web(SEED, hosts=8, pages=300, delay=0.01) as web:
        story(tmp_path, web, kills=5)


def test_a_host_that_was_asked_just_before_the_kill_is_left_alone_afterwards(tmp_path: Path, web: SyntheticWeb) -> None:
    """No checkpoint can know of that request, so the next run waits as if each host had been asked when it began."""
    fill_slow_host(web, 2)
    arguments = crawl_arguments(tmp_path, [web.url(SLOW)], {"monitor.tick": "50ms"})
    with Process(*arguments) as process:
        log = watch(web)
        log.at(3, functools.partial(process.signal, signal.SIGKILL))  # robots.txt and two pages
        assert process.end().status == -signal.SIGKILL
    assert larm_says(*arguments).status == 0
    starts = [request.started for request in log.requests() if request.path != "/robots.txt"]
    assert min(later - earlier for earlier, later in itertools.pairwise(starts)) >= CRAWL_DELAY


def story(directory: Path, web: RandomWeb, kills: int) -> None:
    """Kill, compare, and look at every request of all runs."""
    starts = [*web.start_urls, *([web.url(SLOW)] if SLOW in web.hosts else [])]
    settings = SETTINGS | {"monitor.tick": TICK, "frontier.delay": 0.001}
    run_crawl(directory / "reference", starts, ALL_HOSTS)
    total = len(web.requests)
    moments = [0, *sorted(random.Random(SEED).sample(range(1, total), kills))]
    runs: list[list[Request]] = []
    saved: set[str] = set()
    for before, moment in itertools.pairwise(moments):
        log = watch(web)
        with Process(*crawl_arguments(directory, starts, settings, *SCOPE)) as process:
            log.at(moment - before, functools.partial(process.signal, signal.SIGKILL))
            assert process.end().status == -signal.SIGKILL
        runs.append(web.requests)
        assert not saved & asked_for(web, runs[-1]), "what the checkpoint before had was asked for again"
        saved = checkpointed(directory)
    watch(web)
    said = larm_says(*crawl_arguments(directory, starts, settings, *SCOPE))
    assert said.status == 0, said.err
    runs.append(web.requests)
    again, oldest = lost_work(runs)
    print(
        f"seed {SEED}: {total} requests undisturbed, {again} pages fetched again after {kills} kills;",
        f"the oldest was fetched {oldest:.2f} s before its kill (a tick is {TICK} s)",
    )
    assert oldest < TICK + 3, "more than a tick, and what a checkpoint may take on a busy machine, was lost"
    check_politeness(web, runs)
    assert leftovers(directory) == leftovers(directory / "reference")


def fill_slow_host(web: SyntheticWeb, pages: int) -> None:
    site = web.host(SLOW)
    site.robots(f"User-agent: *\nCrawl-delay: {CRAWL_DELAY}\n")
    site.page("/", links=[f"/{number}" for number in range(pages)])
    for number in range(pages):
        site.page(f"/{number}")


def lost_work(runs: list[list[Request]]) -> tuple[int, float]:
    """Pages that were answered in one run and asked for in a later one, and how long before the kill the oldest was."""
    again, oldest = 0, 0.0
    later: set[str] = set()
    for run in reversed(runs):
        answered = {each.key: each.ended for each in run if each.status == 200 and each.path != "/robots.txt"}
        repeated = answered.keys() & later
        again += len(repeated)
        if repeated:
            oldest = max(oldest, run[-1].started - min(answered[key] for key in repeated))
        later |= {each.key for each in run}
    return again, oldest


def check_politeness(web: RandomWeb, runs: list[list[Request]]) -> None:
    """Over all runs, as a host sees them."""
    log = RequestLog()
    for request in itertools.chain.from_iterable(runs):
        if request.host != SLOW or request.path != "/robots.txt":  # till it is read nobody knows what it asks for
            log.append(request)
    for host in web.hosts:
        assert log.overlaps(host) == 0
    assert log.closest(SLOW) >= CRAWL_DELAY


def asked_for(web: RandomWeb, requests: list[Request]) -> set[str]:
    return {web.url(request.host, request.path) for request in requests}
