"""A revisit asks for its pages in parts, while the river flows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from larm.engine.recrawl import revisit
from larm.engine.recrawl.revisit import Demand, Recrawl
from larm.model.document import Visit
from larm.model.message import UNKNOWN, URLMessage
from larm.store.pages import page_rows
from tests.store.pages.test_share import HOST, PARSE, Crawl, page

NAMES = [f"/{number}" for number in range(200)]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_rows, "_BATCH", 10)
    monkeypatch.setattr(revisit, "_PART", 20)
    monkeypatch.setattr(revisit, "_LOOKED", 15)


def recrawl(
    crawl: Crawl, state: object = None, *, whole: bool = False, starts: Sequence[str] = ("/7", "/new"), share: float = 1.0
) -> Recrawl:
    messages = [URLMessage(PARSE(f"{HOST}{path}")) for path in starts]
    known = state if isinstance(state, dict) else None
    demand = Demand(whole=whole, current=1e9, share=share)
    return Recrawl(crawl.path, messages, demand, crawl.notes.append, PARSE, wall=crawl.clock.wall, state=known)


def part(recrawl: Recrawl) -> list[URLMessage]:
    messages: list[URLMessage] = []
    for batch, reached in recrawl.more():
        messages += batch
        recrawl.go_on(reached)
    return messages


def paths(messages: list[URLMessage]) -> list[str]:
    return [message.url.access.removeprefix(HOST) for message in messages]


def test_a_part_at_a_time_the_start_urls_first_and_each_page_once(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, NAMES)
    run, asked = recrawl(crawl), list[str]()
    first = paths(part(run))
    assert set(first[:2]) == {"/7", "/new"}
    assert len(first) < 30
    while run.begins:
        assert run.goes_on
        asked += paths(part(run))
    assert not run.goes_on
    assert sorted(first + asked) == sorted([*NAMES, "/new"])


def test_what_comes_meanwhile_is_not_asked_for_again_and_a_later_run_goes_on(tmp_path: Path) -> None:
    """Though all of it happens in the same second; a sitemap that speaks of a page meanwhile does not answer for it."""
    crawl = Crawl(tmp_path, NAMES)
    run = recrawl(crawl)
    asked = paths(part(run))
    for number in range(40):  # links of what has come lead there
        crawl.store(page(f"{HOST}/found{number}", "text"))
    crawl.store(Visit(f"{HOST}/lost", url=PARSE(f"{HOST}/lost"), status=500))
    crawl.sitemap(dict.fromkeys(NAMES, crawl.clock.wall() + 5))
    asked += paths(part(run))
    while run.begins:
        run = recrawl(crawl, run.cut(last=True))
        asked += paths(part(run))
    assert sorted(asked) == sorted([*NAMES, "/new"])


def test_a_later_run_asks_for_whole_pages_where_the_first_one_did(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, NAMES)
    run = recrawl(crawl, whole=True)
    messages = part(run)
    run = recrawl(crawl, run.cut(last=True))
    messages += part(run)
    assert all(message.known is not None and message.known.digest <= 0 for message in messages)


def test_how_many_are_current_is_counted_over_all_runs(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, [])
    visits = [page(f"{HOST}{path}", "text") for path in NAMES]
    crawl.store(*[visit if number % 2 else with_age(visit) for number, visit in enumerate(visits)])
    run, asked = recrawl(crawl, starts=("/0",)), list[str]()
    while run.begins:
        asked += paths(part(run))
        run = recrawl(crawl, run.cut(last=True), starts=("/0",))
    assert sorted(asked) == sorted([*NAMES[1::2], "/0"])
    assert crawl.notes == ["99 pages were not asked for, current as their servers say (recrawl.current: 0 asks for all)"]


def with_age(visit: Visit) -> Visit:
    return msgspec.structs.replace(visit, headers={"cache-control": "max-age=86400"})


def test_what_a_killed_run_has_asked_for_after_its_last_checkpoint_is_asked_for_again(tmp_path: Path) -> None:
    """Storages may be ahead of the checkpoint; but what was found for the first time is found again."""
    crawl = Crawl(tmp_path, NAMES)
    run = recrawl(crawl)
    asked = paths(part(run))
    answer(crawl, asked)
    position, state = crawl.book.commit(), run.cut(last=False)
    lost = paths(part(run))
    crawl.book.store([page(f"{HOST}/found{number}", "text") for number in range(40)])
    answer(crawl, lost)
    crawl.book.close()
    crawl.book.open(position)
    run = recrawl(crawl, state)
    while run.begins:
        asked += paths(part(run))
    assert set(lost) < set(asked)
    assert sorted(asked) == sorted([*NAMES, "/new"])


def test_what_was_new_in_the_first_commit_is_found_again_and_so_not_asked_for_by_itself(tmp_path: Path) -> None:
    """Pages, failures and sitemaps, of which no checkpoint has heard. Their links, and what led there, are to come again."""
    crawl = Crawl(tmp_path, NAMES)
    position = crawl.book.commit()
    run = recrawl(crawl, starts=())
    asked, state = paths(part(run)), run.cut(last=False)
    found = [page(f"{HOST}/found{number}", "text") for number in range(40)]
    failed = [Visit(f"{HOST}/lost{number}", url=PARSE(f"{HOST}/lost{number}"), status=500) for number in range(40)]
    crawl.book.store([*found, *failed])
    crawl.sitemap(dict.fromkeys(NAMES, crawl.clock.wall() + 5))
    crawl.book.close()
    crawl.book.open(position)
    run = recrawl(crawl, state, starts=())
    while run.begins:
        asked += paths(part(run))
    assert sorted(asked) == sorted(NAMES)
    assert crawl.rows().keys() == set(NAMES)


def test_other_start_urls_of_a_later_run_are_pages_like_all_others(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, NAMES)
    run = recrawl(crawl, starts=NAMES[:5])
    asked = paths(part(run))
    while run.begins:
        run = recrawl(crawl, run.cut(last=True), starts=NAMES[3:50])
        asked += paths(part(run))
    assert sorted(asked) == sorted(NAMES)


@pytest.mark.parametrize("shares", [(0.1, 1.0), (1.0, 0.5), (0.5, 0.1)], ids=str)
def test_another_share_in_a_later_run_counts_for_all_pages(tmp_path: Path, shares: tuple[float, float]) -> None:
    crawl = Crawl(tmp_path, [*NAMES, *(f"/sitemap{number}.xml" for number in range(200))])
    crawl.clock.advance(100)
    run = recrawl(crawl, share=shares[0], starts=())
    asked = paths(part(run))
    answer(crawl, asked)
    run = recrawl(crawl, run.cut(last=True), share=shares[1], starts=())
    assert run.begins
    while run.goes_on:
        new = paths(part(run))
        answer(crawl, new)
        asked += new
    assert len(asked) == len(set(asked))
    assert len(asked) >= 400 * shares[1]


def test_where_most_pages_are_current_a_part_looks_through_more_of_them(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, [])
    crawl.store(*[with_age(page(f"{HOST}{path}", "text")) for path in NAMES])
    run = recrawl(crawl, starts=("/0",))
    assert paths(part(run)) == ["/0"]
    assert run.begins
    assert part(run) == []
    assert not run.begins


def answer(crawl: Crawl, paths: Sequence[str]) -> None:
    """Every third of them is as it was, every third gone."""
    for number, path in enumerate(paths):
        address, status = f"{HOST}{path}", (0, 304, 404)[number % 3]
        visit = Visit(address, url=PARSE(address), status=status)
        crawl.book.store([visit if status else page(address, "other", revisited=True)])
    crawl.book.commit()


def test_a_start_url_that_was_never_stored_comes_whole(tmp_path: Path) -> None:
    run = recrawl(Crawl(tmp_path, NAMES))
    assert {message.known for message in part(run) if message.url.access == f"{HOST}/new"} == {UNKNOWN}
