"""What strangers learn of pages that are not for them: nothing, not even that they are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.config import FilesSettings, SearchSettings
from larm.fetch.http_client import HttpClient
from larm.index.search.searcher import IndexSearcher
from larm.index.search.several import SeveralSearchers
from larm.index.search.shared import SharedSearcher
from larm.kit.disk.files import is_there
from larm.model.file_url import file_url
from larm.model.findings import Asked, Findings
from larm.model.hit import Hit
from larm.peers.door import Call
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.answering import Answering
from larm.peers.yousearch.answers import Answers
from larm.peers.yousearch.groups import Groups
from larm.peers.yousearch.shares import Shares
from larm.peers.yousearch.visible import Visible
from larm.testing.clock import FakeClock
from tests.index.search.test_several import index


@pytest.fixture
def visible(tmp_path: Path) -> Visible:
    return Visible(Shares([], tmp_path / "peer", FilesSettings()), Groups({}, "", HttpClient()), "anybody")


@pytest.mark.parametrize("query", ["hunter", "eels OR hunter", "hunter) OR (hunter", "-eels", '"my hunter', "huntr", "C♯"])
@pytest.mark.parametrize("page", [1, 2])
def test_files_that_are_not_shared_are_as_if_they_were_not_there(
    tmp_path: Path, visible: Visible, query: str, page: int
) -> None:
    web = {f"http://a.org/{n}": f"A page about eels in ponds, number {n}." for n in range(3)}
    private = {file_url(f"/home/anna/{n}.txt"): "eels and the password is hunter C♯ my hunter" for n in range(9)}
    answers = []
    for name, pages in (("with", {**web, **private}), ("without", web)):
        crawl = index(tmp_path / name, pages)
        assert is_there(crawl / "index" / "meta.json")
        searcher = SharedSearcher("crawl", lambda crawl=crawl: IndexSearcher(crawl, SearchSettings()))
        found = SeveralSearchers(visible.searchers("", {crawl: searcher})).findings(Asked(query=query, number=1, page=page))
        answers.append(
            ([hit.url for hit in found.hits], found.total, found.complete, found.exact, found.notes, found.suggestion)
        )
    assert answers[0] == answers[1]
    assert answers[0][1] == 3 * query.startswith("eels"), "but for pages of the web"


def test_answers_that_are_kept_have_an_end() -> None:
    clock = FakeClock()
    answers = Answers(clock, 300.0)
    usual, huge = (Findings(searcher="a", hits=(Hit(title="x" * size, url="http://a.org/"),)) for size in (10, 300_000))
    for query, found in (("usual", usual), ("huge", huge)):
        answers.put(query, found, clock.monotonic())
    clock.advance(100)
    assert (answers.get("usual", 101), answers.get("huge", 101)) == (usual, None)
    assert answers.get("usual", 100) is None, "a peer has changed since"
    clock.advance(200)
    assert answers.get("usual", 1_000) is None


def test_no_peer_looks_for_advice_that_nobody_takes(tmp_path: Path, visible: Visible) -> None:
    crawl = index(tmp_path / "crawl", {f"http://a.org/{n}": "A page about eels in ponds." for n in range(3)})
    searcher = SharedSearcher("crawl", lambda: IndexSearcher(crawl, SearchSettings()))
    answering = Answering(say.Card("k", "anna"), lambda _: visible.searchers("", {crawl: searcher}), 60)
    (plain,) = searcher.search(Asked(query="eells"))
    (quiet,) = searcher.search(Asked(query="eells", advice=False))
    assert (plain.suggestion, quiet.suggestion, quiet.notes) == ("eels", "", ())
    found = answering.search(Call("k", "192.0.2.1"), Asked(query="eells"))
    assert (found.searcher, found.suggestion, found.hits) == ("anna", "", ())
