"""Hosts that never end: a crawl comes to an end all the same, with all of the real pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

import pytest

from larm.engine.figures.reporter import keep_notes
from larm.ops.afterwards import explain_url
from larm.ops.left_out import left_out
from larm.testing.replies import Reply, html
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import Run, asked, config_of, lines, run_crawl
from tests.stories.processes import larm_says
from tests.support.webs.mazes import deep_relative
from tests.support.webs.named import serve
from tests.support.webs.words import prose

QUICK = {"frontier.delay": 0, "frontier.per_host": 4, "monitor.tick": "100ms"}


def test_a_site_of_which_every_page_is_new_is_fetched_whole(tmp_path: Path, web: SyntheticWeb) -> None:
    """Numbers, parameters, a chain of 300 lists that have no text of their own: nothing is held back."""
    site = web.host("good.localhost")
    for page in range(300):
        site.page(f"/list?page={page}", "News", links=[f"/list?page={page + 1}", f"/news/{page}", f"/news/{page + 300}"])
        for number in (page, page + 300):
            site.page(f"/news/{number}", f"News {number}", prose(80, number))
    run = run_crawl(tmp_path, web.url("good.localhost", "/list?page=0"), {**QUICK, "frontier.per_host": 1})
    assert len(web.fetched()) == 900
    assert run.counters.get("traps/filtered", 0) == 0


KINDS = ("limit", "trap")
"""Of what is held back: beyond a limit, and by a closed pattern."""
SAME = 3_000


def held_web(web: SyntheticWeb, kind: str, pages: int = 150) -> str:
    """Return the start URL of a host with real pages, and a tree of `SAME` others that are all the same."""
    site = web.host("held.localhost")

    def answer(request: Request) -> Reply:
        number = int("".join(filter(str.isdigit, request.path)) or 0)
        links = "".join(f'<a href="/same/{n}">more</a> ' for n in range(number * 3 + 1, number * 3 + 4) if n < SAME)
        return html(f"<title>Same</title><p>Nothing to see here.</p>{links}")

    site.otherwise(answer)
    for number in range(pages):
        site.page(f"/real/{number}", f"Page {number}", prose(60, number))
    links = [f"/real/{number}" for number in range(pages)]
    site.page("/", "Start", "Welcome.", links=[*links, *(["/same/0"] if kind == "trap" else [])])
    return web.url("held.localhost")


def test_what_is_closed_is_told(tmp_path: Path, web: SyntheticWeb) -> None:
    """In the filter's log, by `larm why`, and after a restart."""
    start = held_web(web, "trap", 5)
    run_crawl(tmp_path, start, {**QUICK, "crawl.max_pages": 150})
    said = [line for line in lines(tmp_path, "TrapsFilter") if line.startswith("#")]
    assert any("closed for now: /same/0" in line and line.endswith("said nothing new, and led to others") for line in said)
    note, rows = explain_url(config_of(start), tmp_path, f"{start}same/9999")
    assert note.key == "why_traps"
    assert "went on without anything new" in note.numbers["reason"]
    assert "held back: pattern /same/0" in dict(rows)["filter traps"]
    assert any(topic == "held back here" and "/same/0" in sentence for topic, sentence in rows)


class First(NamedTuple):
    """A crawl of a host, of which something is held back."""

    web: SyntheticWeb
    start: str
    run: Run
    fetched: frozenset[str]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, Path], First]]:
    """Puts the directory of a first crawl of `held_web` into another place. Its web has forgotten the requests."""
    with ExitStack() as stack:

        @cache
        def crawl(kind: str) -> tuple[Path, First]:
            web, folder = stack.enter_context(SyntheticWeb()), tmp_path_factory.mktemp(kind)
            start = held_web(web, kind)
            run = run_crawl(folder, start, settings_of(kind))
            assert run.ending.reason == "finished"
            assert held(run) > 0
            return folder, First(web, start, run, frozenset(web.fetched()))

        def put(kind: str, place: Path) -> First:
            folder, first = crawl(kind)
            copytree(folder, place, dirs_exist_ok=True)
            first.web.log.clear()
            return first

        yield put


def settings_of(kind: str) -> dict[str, object]:
    return {**QUICK, "storage.chain": ["log"]} | ({"filters.traps.pages": 50} if kind == "limit" else {})


def held(run: Run) -> int:
    return run.last.held_back


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_is_said_at_the_end_and_by_stats(tmp_path: Path, crawled: Callable[[str, Path], First], kind: str) -> None:
    web, start, run, _ = crawled(kind, tmp_path)
    said = left_out(tmp_path, config_of(start), run.last)
    pattern = {"trap": "/same/0", "limit": "filters.traps.pages: 50"}[kind]
    numbers = {"urls": held(run), "host": f"held.localhost:{web.port}", "patterns": [pattern]}
    assert [(each.key, each.numbers) for each in said if each.key.startswith("left_")] == [
        (f"left_{kind}", numbers),
        ("left_parked", {"said": True}),
    ]
    for _ in range(2):
        stats = larm_says("stats", "--dir", tmp_path)
        assert stats.status == 0
        assert stats.out.decode().count(said[0].text) == 1, "while nobody has said it at the end, and then"
        keep_notes(tmp_path, said)
    table = larm_says("stats", "-v", "--dir", tmp_path).out.decode()
    assert f"left at held.localhost:{web.port}: {held(run):,} of {pattern} ({kind})" in table


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["parked", "switch", "order"])
def test_what_was_held_back_can_be_had_later(
    tmp_path: Path, crawled: Callable[[str, Path], First], kind: str, how: str
) -> None:
    web, start, first, asked_for = crawled(kind, tmp_path)
    later = {
        "parked": {},
        "switch": {"filters.traps.limits": 0} if kind == "limit" else {"filters.traps.repetition": False},
        "order": {"filters.order": ["known_paths", "files", "scope", "length", "visited", "robots"]},
    }[how]
    second = run_crawl(tmp_path, start, {**settings_of(kind), **later}, parked=how == "parked")
    got = set(web.fetched())
    assert len(got - asked_for) >= held(first)
    anew = second.counters["traps/released"] - held(first)
    assert (anew > 0) is (kind == "trap" and how == "parked"), "its patterns are found out once more"
    assert held(second) == 0
    assert len(got | asked_for) == (SAME + 151 if kind == "trap" else 151)


@pytest.mark.parametrize("kind", KINDS)
def test_a_revisit_does_not_ask_for_what_is_held_back(tmp_path: Path, crawled: Callable[[str, Path], First], kind: str) -> None:
    web, start, first, pages = crawled(kind, tmp_path)
    before = held(first)
    second = run_crawl(tmp_path, start, settings_of(kind))
    assert second.ending.reason == "finished"
    assert set(asked(web)) == pages
    assert max(asked(web).values()) == 1
    assert held(second) == before > 0
    assert second.counters.get("traps/released", 0) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_start_url_that_is_held_back_is_asked_for(tmp_path: Path, crawled: Callable[[str, Path], First], kind: str) -> None:
    web, start, first, before = crawled(kind, tmp_path)
    name, numbers = ("real", range(150)) if kind == "limit" else ("same", range(1, SAME))
    linked = [n for n in numbers if kind == "limit" or f"held.localhost/same/{(n - 1) // 3}" in before]
    wanted = next(f"/{name}/{n}" for n in linked if f"held.localhost/{name}/{n}" not in before)
    second = run_crawl(tmp_path, [start, web.url("held.localhost", wanted)], settings_of(kind))
    assert asked(web)[f"held.localhost{wanted}"] == 1
    assert held(first) - 1 <= held(second) <= held(first) + 2
    run_crawl(tmp_path, start, settings_of(kind), parked=True)
    assert asked(web)[f"held.localhost{wanted}"] <= 2, "and once again as it is revisited"


def test_limits_hold_without_an_index(tmp_path: Path, web: SyntheticWeb) -> None:
    starts = serve(deep_relative(10), web)
    settings = {**QUICK, "storage.chain": ["log"], "filters.traps.pages": 500}
    run = run_crawl(tmp_path, starts, settings)
    assert run.ending.reason == "finished"
    assert run.counters["item_scraped_count"] == 501  # the start URL is not counted
