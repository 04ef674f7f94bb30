"""A board that gives each visitor a session, and no page twice the same: every page of posts is fetched, and the crawl ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.engine.unloading import COOKIES
from larm.frontier.traps.session_filter import LINKS
from larm.ops.afterwards import explain_url
from larm.ops.left_out import left_out
from larm.testing.replies import Reply, html, moved
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import Run, config_of, run_crawl
from tests.support.webs.boards import Board, Cookies

QUICK: dict[str, object] = {"frontier.per_host": 4, "monitor.tick": "100ms", "storage.chain": ["log"], "crawl.max_pages": 3_000}
HOST = "board.localhost"
TOPICS = 60


def fetched(web: SyntheticWeb, board: Board) -> set[str]:
    return {page for key in web.fetched(HOST) if (page := board.real_page(key.removeprefix(HOST)))}


def crawled(web: SyntheticWeb, board: Board, folder: Path, settings: dict[str, object] | None = None, **how: bool) -> Run:
    run = run_crawl(folder, web.url(HOST), QUICK | (settings or {}), **how)
    assert run.reason == "finished"
    assert fetched(web, board) == board.real
    return run


@pytest.mark.parametrize("each_link", [False, True], ids=["of-page", "of-link"])
@pytest.mark.parametrize("cookies", ["kept", "ignored", "none"])
def test_every_page_of_a_board_is_fetched(tmp_path: Path, web: SyntheticWeb, cookies: Cookies, *, each_link: bool) -> None:
    board = Board(web, TOPICS, cookies, each_link=each_link)
    run = crawled(web, board, tmp_path)
    assert len(web.requests) < 4 * len(board.real)
    assert run.counters.get(COOKIES, 0) == (cookies != "none")
    assert run.last.held_back < 2 * len(board.real)


def test_copies_that_are_left_are_fetched_by_parked_and_come_to_an_end(tmp_path: Path, web: SyntheticWeb) -> None:
    """Copies of lists lead to copies of topics, and these nowhere."""
    board = Board(web, TOPICS, "none")
    left = [crawled(web, board, tmp_path).last.held_back]
    while left[-1] and len(left) < 5:
        before = len(web.requests)
        left.append(crawled(web, board, tmp_path, parked=True).last.held_back)
        assert len(web.requests) - before <= left[-2] + 1  # robots.txt
    assert left[0] > left[-1] == 0


def test_a_session_is_known_to_later_runs(tmp_path: Path, web: SyntheticWeb) -> None:
    board = Board(web, TOPICS, "none")
    crawled(web, board, tmp_path)
    requests = len(web.requests)
    web.host(HOST).page(
        "/new", "New", "A page.", links=[f"/viewtopic.php?f=1&t=1&sid={n:032x}" for n in range(10**6, 10**6 + 50)]
    )
    run_crawl(tmp_path, [web.url(HOST), web.url(HOST, "/new")], QUICK)
    assert len(web.requests) - requests <= 3


def test_links_are_followed_as_they_are_where_repetition_is_not_asked_for(tmp_path: Path, web: SyntheticWeb) -> None:
    """The remedy that is named at the end, tried."""
    board = Board(web, TOPICS, "none")
    run = crawled(web, board, tmp_path)
    assert run.counters[LINKS] > 0
    assert any(note.key == "sessions" for note in left_out(tmp_path, config_of(web.url(HOST)), run.last))
    before = len(web.requests)
    again = run_crawl(
        tmp_path, web.url(HOST), QUICK | {"recrawl.current": 0, "filters.traps.repetition": False, "crawl.max_pages": 300}
    )
    assert LINKS not in again.counters
    known = {request.path for request in web.requests[:before]}
    assert any("sid=" in request.path and request.path not in known for request in web.requests[before:])


def test_why_answers_for_an_address_with_a_session(tmp_path: Path, web: SyntheticWeb) -> None:
    board = Board(web, TOPICS, "none")
    crawled(web, board, tmp_path)
    asked = web.url(HOST, f"{max(board.real)}&sid={7:032x}")
    note, rows = explain_url(config_of(web.url(HOST)), tmp_path, asked)
    assert note.key == "why_fetched"
    assert asked in dict(rows)["session"]


def test_cookies_are_not_kept_where_that_is_forbidden(tmp_path: Path, web: SyntheticWeb) -> None:
    board = Board(web, TOPICS, "kept")
    run = crawled(web, board, tmp_path, {"sites": {HOST: {"keep_cookies": False}}})
    assert COOKIES not in run.counters
    assert not any("cookie" in request.headers for request in web.requests)


def test_no_host_gets_cookies_of_another(tmp_path: Path, web: SyntheticWeb) -> None:
    board = Board(web, 10, "kept")
    other = web.host("other.board.localhost")
    other.page("/", "Other", "A page.", links=[web.url(HOST)])
    start = [web.url("other.board.localhost"), web.url(HOST)]
    run_crawl(tmp_path, start, QUICK)
    assert fetched(web, board) == board.real
    assert all("cookie" not in request.headers for request in web.requests if request.host != HOST)


def test_a_server_that_redirects_to_its_session_loses_no_page(tmp_path: Path, web: SyntheticWeb) -> None:
    """An address without a session leads to the same one with a new session."""
    count = 0

    def answer(request: Request) -> Reply:
        nonlocal count
        count += 1
        path, _, query = request.path.partition("?")
        if "sid=" not in query:
            return moved(f"{path}?sid={count:016x}", 302)
        number = int(path.strip("/") or 0)
        links = "".join(
            f'<a href="/{each}?sid={count:016x}">{each}</a> '
            for each in (2 * number + 1, 2 * number + 2, 0, 1, 2)
            if each < 100
        )
        return html(f"<title>Page {number}</title><p>Page {number} at {count} o'clock.</p>{links}")

    web.host("moving.localhost").otherwise(answer)
    run = run_crawl(tmp_path, web.url("moving.localhost"), QUICK)
    assert run.reason == "finished"
    pages = {key.partition("?")[0] for key in web.fetched("moving.localhost") if "sid=" in key}
    assert pages >= {f"moving.localhost/{each}" for each in range(1, 100)}
    assert len(web.requests) < 400


def test_an_identifier_in_a_cookie_is_no_session(tmp_path: Path, web: SyntheticWeb) -> None:
    """A shop notes the last product in a cookie, and the product's page links to what is said of it."""

    def answer(request: Request) -> Reply:
        path, _, query = request.path.partition("?")
        number = int(query.removeprefix("id=AB") or 0)
        if path != "/product":
            return html(f"<title>{path} {number}</title><p>Nobody has said anything of number {number} yet.</p>")
        own = "".join(f'<a href="/{each}?id=AB{number:06}">{each}</a> ' for each in ("review", "ask", "fit"))
        more = "".join(
            f'<a href="/product?id=AB{each:06}">{each}</a> ' for each in (2 * number + 1, 2 * number + 2) if each < 50
        )
        return html(f"<title>Product {number}</title><p>{own}{more}</p>", Set_Cookie=f"recent=AB{number:06}; path=/")

    web.host("shop.localhost").otherwise(answer)
    run_crawl(tmp_path, web.url("shop.localhost", "/product?id=AB000000"), QUICK)
    assert {f"shop.localhost/review?id=AB{number:06}" for number in range(50)} <= web.fetched("shop.localhost").keys()
