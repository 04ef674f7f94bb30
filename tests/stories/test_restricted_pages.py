"""Pages that strangers could not have had: noted when they land, renewed by revisits, and shown to their owner alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from larm.building.searching import opener
from larm.cli import run
from larm.config import SearchSettings
from larm.index.reader import IndexReader
from larm.index.search.shared import SharedSearcher
from larm.index.search.web_pages import WebPages
from larm.model import restriction
from larm.model.findings import Asked
from larm.peers.yacy.library import Library
from larm.store.pages.page_rows import page_rows
from larm.testing.replies import Reply, html
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import run_crawl
from tests.web.conftest import serving

PATHS = ["/open", "/private", "/no-store", "/field", "/age"]
CACHE = {
    "/private": "private, max-age=60",
    "/no-store": "max-age=0, No-Store",
    "/field": 'private="set-cookie"',
    "/age": "public, max-age=3600, x-private=1",
}


def page(path: str, **headers: str) -> Reply:
    return html(f"<title>{path[1:]}</title><p>zeppelin {path[1:]}word", **headers)


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    site = web.host("a.localhost")
    site.page("/", "home", links=PATHS)
    for path in PATHS:
        site.add(path, page(path, **({"Cache_Control": CACHE[path]} if path in CACHE else {})))
    return web.url("a.localhost")


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback counts as an address that anybody reaches."""
    monkeypatch.setattr("larm.fetch.transfer.is_public", lambda _: True)


def notes(directory: Path) -> dict[str, int]:
    """What the page book notes of each page, by path."""
    rows = page_rows(directory / "cachingqueue" / "pages.db")
    return {"/" + row.access.partition("://")[2].partition("/")[2]: row.known.restricted for _, row in rows if row.stored}


def shared(directory: Path, open_to: restriction.OpenTo = "anybody") -> set[str]:
    """Titles that others find; all ways out agree about them."""
    searcher = SharedSearcher("a", opener(SearchSettings())(directory))
    (part,) = WebPages(searcher, open_to).search(Asked(query="zeppelin OR home", number=100))
    reader = IndexReader(directory / "index")
    words = reader.all_words(open_to)
    titles = {hit.title for hit in part.hits}
    assert {title for title in ("open", "private", "no-store", "age") if f"{title}word" in words} <= titles
    library = Library(lambda: [directory], private=open_to == "network").shelved(0.0)
    published = {each.title for source in library.sources if (each := source.read()) is not None}
    assert published == (titles if open_to == "network" else set()), "names below localhost are no names of the web"
    assert len(published) + library.left_out == reader.documents
    return titles


def test_pages_that_their_server_marks_are_for_their_owner_alone(
    tmp_path: Path, web: SyntheticWeb, start: str, public: None
) -> None:
    run_crawl(tmp_path, start)
    marked = {"/private", "/no-store", "/field"}
    assert notes(tmp_path) == {path: restriction.MARKED if path in marked else 0 for path in ["/", *PATHS]}
    assert shared(tmp_path) == {"home", "open", "age"}


def test_pages_of_private_addresses_are_for_the_private_network_alone(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    """The name does not count: it is a name as any other."""
    run_crawl(tmp_path, start)
    assert notes(tmp_path)["/open"] == restriction.PRIVATE_ADDRESS
    assert shared(tmp_path) == set()
    assert shared(tmp_path, "network") == {"home", "open", "age"}


@pytest.mark.parametrize(
    "access",
    [{"auth": "${LOGIN}"}, {"headers": {"X-Key": "secret"}}, {"user_agent": "Members/1.0"}, {"cookies": "cookies.txt"}],
    ids=lambda access: next(iter(access)),
)
def test_pages_that_were_asked_for_with_secrets_are_for_their_owner_alone(
    tmp_path: Path, web: SyntheticWeb, start: str, public: None, monkeypatch: pytest.MonkeyPatch, access: dict[str, Any]
) -> None:
    monkeypatch.setenv("LOGIN", "me:secret")
    jar = tmp_path / "cookies.txt"
    jar.write_text("# Netscape HTTP Cookie File\na.localhost\tFALSE\t/\tFALSE\t0\tsession\tsecret\n")
    jar.chmod(0o600)
    site = {"sites": {f"a.localhost:{web.port}": access}}
    run_crawl(tmp_path, start, site)
    assert {note & restriction.CREDENTIALS for note in notes(tmp_path).values()} == {restriction.CREDENTIALS}
    assert shared(tmp_path, "network") == set()
    run_crawl(tmp_path, start, {"recrawl.current": 0})
    assert notes(tmp_path)["/open"] == 0, "a revisit without them had it as well"
    assert "open" in shared(tmp_path)


def test_accept_language_is_no_secret(tmp_path: Path, web: SyntheticWeb, start: str, public: None) -> None:
    run_crawl(tmp_path, start, {"sites": {f"a.localhost:{web.port}": {"headers": {"Accept-Language": "de"}}}})
    assert notes(tmp_path)["/open"] == 0


@pytest.mark.parametrize("validators", [{}, {"ETag": '"1"'}], ids=["200", "304"])
def test_revisit_renews_the_note_though_the_body_is_the_same(
    tmp_path: Path, web: SyntheticWeb, start: str, public: None, validators: dict[str, str]
) -> None:
    site, there = web.host("a.localhost"), []

    def answers(cache: str) -> None:
        def reply(request: Request) -> Reply:
            whole = page("/open", **validators, **({"Cache_Control": cache} if cache else {}))
            return Reply(304, dict(whole.headers)) if "if-none-match" in request.headers else whole

        site.add("/open", reply)

    for cache in ("", "private", "public", "", "no-store", ""):
        answers(cache)
        run_crawl(tmp_path, start, {"recrawl.current": 0})
        there.append("open" in shared(tmp_path))
    # a 304 without Cache-Control keeps what is stored of it (RFC 9111 3.2)
    assert there == [True, False, True, True, False, not validators]


def test_private_page_does_not_hide_an_open_one_with_the_same_text(
    tmp_path: Path, web: SyntheticWeb, start: str, public: None
) -> None:
    site = web.host("a.localhost")
    same = "<title>twin</title><p>zeppelin over the harbour, as told to members and to all others alike"
    site.page("/", "home", links=["/first", "/second"])
    site.add("/first", html(same, Cache_Control="private"))
    site.add("/second", html(same))
    run_crawl(tmp_path, start, {"frontier.per_host": 1})
    assert shared(tmp_path) == {"home", "twin"}


def test_visitors_of_a_public_search_learn_nothing_of_restricted_pages(
    tmp_path: Path, web: SyntheticWeb, start: str, public: None
) -> None:
    run_crawl(tmp_path, start)
    (tmp_path / "token").unlink(missing_ok=True)
    with serving([tmp_path], tmp_path / "token", access={"public_search": True, "require_token": True}) as served:
        url = web.url("a.localhost", "/private")

        def found(query: str, **headers: Any) -> set[str]:
            answer = served.client.get("/api/v1/search", params={"q": query, "n": 50}, **headers).json()
            return {hit["title"] for hit in answer["hits"]} | {str(answer["suggestion"])} | set(answer["notes"])

        assert found("privateword") == found("unheardof")
        assert found("zeppelin") == {"open", "age", "None"}
        assert "private" in found("privateword", headers=served.bearer)
        assert "privateword" not in served.get("/suggest", params={"q": "privatew"}).text
        for path in ("/copy", "/copy/original", "/api/v1/page"):
            assert served.get(path, params={"in": tmp_path.name, "url": url}).status_code == 404, path
        asked = {"query": "privateword", "open_to": "owner"}
        assert served.client.post("/api/v1/findings", json=asked).json()["hits"] == []


def test_original_of_a_page_that_is_gone_is_shown_to_nobody(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    run_crawl(tmp_path, start)
    web.host("a.localhost").status("/open", 451)
    asked = {"in": tmp_path.name, "url": web.url("a.localhost", "/open")}
    with serving([tmp_path], tmp_path / "token") as served:
        assert served.get("/copy/original", params=asked).status_code == 200
        run_crawl(tmp_path, start, {"recrawl.current": 0})
        assert served.get("/copy/original", params=asked).status_code == 404


def test_public_search_of_a_private_cluster_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each member answers its key. In a private group, visitors have an identity of their own (tests/peers/yousearch)."""
    (tmp_path / "config.yaml").write_text("{}")
    options = ["-s", "network.name=walks", "-s", "network.mode=private-cluster"]
    assert run(["serve", str(tmp_path), "--port", "0", "--public-search", *options]) == 2
    assert "network.mode" in capfd.readouterr().err
