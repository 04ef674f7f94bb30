"""Spellings that normalisation folds together: where the first one fails, each other one that is linked gets its turn."""

from __future__ import annotations

import signal
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest

from larm.crawldir.state import QUEUES
from larm.filters.spellings import ROW
from larm.kit.disk.block_store import BlockStore
from larm.testing.replies import Reply, html
from larm.testing.site import Site
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, indexed, once, run_crawl, stored, watch
from tests.stories.processes import Process, crawl_arguments, larm_says

START = "a.localhost/"

PAIRS = [
    ("/d/", "/d/index.html", 403),
    ("/x/y", "/x//y", 404),
    ("/a,b", "/a%2Cb", 500),
    ("/q?", "/q", 410),
    ("/s?a=b+c", "/s?a=b%20c", 404),
    ("/r?to=/x", "/r?to=%2Fx", 500),
    ("/e/default.asp", "/e/index.php", 403),
    ("/m%24n", "/m$n", 404),
    ("/no/x", "/no//x", "robots"),
    ("/itself/%2Cx", "/itself/,x", "itself"),
    ("/ring/%2Cx", "/ring/,x", "ring"),
    ("/dropped/%2Cx", "/dropped/,x", "dropped"),
]


def _fail(site: Site, path: str, failure: int | str) -> None:
    if failure == "itself":
        site.redirect(path, path)
    elif failure == "ring":
        site.redirect(path, "/ring/other")
        site.redirect("/ring/other", path)
    elif failure == "dropped":
        site.add(path, Reply(0, raw=b"", end="reset"))
    elif isinstance(failure, int):
        site.status(path, failure)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("back", [False, True])
def test_other_spelling_gets_its_turn_when_the_first_fails(tmp_path: Path, web: SyntheticWeb, late: bool, back: bool) -> None:
    """Whether its link is on the same page, or is found after the failure; a revisit requests the page that is there."""
    site = web.host("a.localhost")
    pairs = [((good, bad) if back else (bad, good), status) for bad, good, status in PAIRS]
    site.page("/", links=[path for (bad, good), _ in pairs for path in ([bad] if late else [bad, good])] + ["/next"])
    site.add("/next", html("Next. " + "".join(f'<a href="{good}">x</a>' for (_, good), _ in pairs), delay=0.3 * late))
    for (bad, good), failure in pairs:
        _fail(site, bad, failure)
        site.page(good, good, f"The page {good} is here.")
    site.robots("User-agent: *\n" + "".join(f"Disallow: {bad}\n" for (bad, _), failure in pairs if failure == "robots"))
    settings = {"frontier.retries": 1, "frontier.per_host": 4}
    for _ in range(2):
        run_crawl(tmp_path, web.url("a.localhost"), settings)
        for (_, good), _ in pairs:
            assert asked(web)[f"a.localhost{good}"] == 1, good
            assert stored(tmp_path)[web.url("a.localhost", good)] == indexed(tmp_path)[web.url("a.localhost", good)] == 1
        web.log.clear()


@pytest.mark.parametrize("order", list(permutations(["/d/", "/d/index.html", "/d//index.php"]))[::2])
def test_each_spelling_gets_its_turn_once_whatever_their_order(tmp_path: Path, web: SyntheticWeb, order: list[str]) -> None:
    site = web.host("a.localhost")
    site.page("/", links=[*order, *order])
    for path in order:
        site.status(path, 404)
    run_crawl(tmp_path, web.url("a.localhost"))
    found = asked(web)
    assert {START, *(f"a.localhost{path}" for path in order)} <= set(found)
    assert set(found.values()) == {1}
    site.page(order[-1], "Good", "The page is here.")
    run_crawl(tmp_path, web.url("a.localhost"))
    assert web.url("a.localhost", order[-1]) in indexed(tmp_path)


def test_spelling_that_is_not_linked_is_not_requested(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    site.page("/", links=["/d/", "/x/y", "/a,b", "/p+q"])
    run_crawl(tmp_path, web.url("a.localhost"))
    assert asked(web) == once(START, *(f"a.localhost{path}" for path in ("/d/", "/x/y", "/a,b", "/p+q")))


def test_spellings_without_end_are_bounded(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    site.page("/", links=["/x/y", *(f"/x/{'/' * n}y" for n in range(1, 40))])
    run_crawl(tmp_path, web.url("a.localhost"))
    assert sum(asked(web).values()) <= 10


def test_plus_in_a_path_is_no_space(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    paths = ["/C+plus/", "/C%20plus/", "/my+file", "/my%20file"]
    site.page("/", links=[*paths, "/q?a+b", "/q?a%20b"])
    for path in (*paths, "/q?a+b", "/q?a%20b"):
        site.page(path, path, f"The page {path}.")
    run_crawl(tmp_path, web.url("a.localhost"))
    assert asked(web) == once(START, *(f"a.localhost{path}" for path in (*paths, "/q?a+b")))


def test_spelling_that_was_linked_before_a_kill_gets_its_turn_after_it(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    site.page("/", links=["/d/", "/d/index.html", "/x"])
    site.page("/x", "X", "Words.")
    site.page("/d/index.html", "Hub", "The page is here.", links=["/d/1"])
    site.page("/d/1", "One", "Another page.")
    slow = Reply(403, {}, b"", delay=0.3)
    site.add("/d/", slow)
    log = watch(web)
    arguments = crawl_arguments(tmp_path, [web.url("a.localhost")], {"monitor.tick": "50ms"})
    with Process(*arguments) as process:
        log.when(lambda request: request.path == "/d/", lambda: process.signal(signal.SIGKILL))
        process.end()
    assert larm_says(*arguments).status == 0
    for path in ("/d/index.html", "/d/1"):
        key = web.url("a.localhost", path)
        assert stored(tmp_path)[key] == indexed(tmp_path)[key] == 1


def test_failed_request_leaves_no_row_until_another_spelling_is_linked(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    broken = [f"/x/{n}" for n in range(20)]
    site.page("/", links=[*broken, "/late"])
    site.add("/late", html("<a href='/x//7'>x</a>", delay=0.3))
    for _ in range(2):
        run_crawl(tmp_path, web.url("a.localhost"))
        assert asked(web) == once(START, "a.localhost/late", "a.localhost/x//7", *(f"a.localhost{path}" for path in broken))
        with closing(BlockStore(tmp_path / QUEUES, read_only=True)) as store:
            assert len(store.keys(ROW)) == 1
        web.log.clear()
