"""A storage that asks for it is told of each answer that came over the wire, and what it costs the others: nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from larm.model.document import Visit
from larm.store.base import DocumentStorage
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import check_stored, run_crawl
from tests.support.bad_replies import unavailable

HERE = __name__


class Wire(DocumentStorage):
    """Keeps what was exchanged."""

    exchanges = True
    visits: ClassVar[list[Visit]] = []

    def store(self, visits: Sequence[Visit]) -> None:
        self.visits.extend(visit for visit in visits if visit.exchange is not None)


class Plain(DocumentStorage):
    """Does not ask for it."""

    visits: ClassVar[list[Visit]] = []

    def store(self, visits: Sequence[Visit]) -> None:
        self.visits.extend(visits)


@pytest.fixture(autouse=True)
def _forget() -> None:
    Wire.visits.clear()
    Plain.visits.clear()


def answers() -> Counter[tuple[str, bytes]]:
    """Path and status line of all that came."""
    found = Counter[tuple[str, bytes]]()
    for visit in Wire.visits:
        assert visit.exchange is not None
        found[visit.exchange.url.partition(".localhost")[2].partition("/")[2], visit.exchange.head.split()[1]] += 1
    return found


def site_of(web: SyntheticWeb) -> str:
    site = web.host("a.localhost")
    site.page("/", links=["/1", "/gone", "/old", "/busy"])
    site.page("/1", text="one")
    site.page("/new", text="new")
    site.redirect("/old", "/new")
    site.first("/busy", unavailable(), unavailable())
    site.page("/busy", text="at last")
    return web.url("a.localhost")


def test_all_answers_reach_the_storage_that_asks(web: SyntheticWeb, tmp_path: Path) -> None:
    start = site_of(web)
    chain = {"storage.chain": ["log", "index", f"{HERE}:Wire", f"{HERE}:Plain"]}
    assert run_crawl(tmp_path, start, chain).reason == "finished"
    assert answers() == Counter((request.path[1:], b"%d" % request.status) for request in web.requests)
    assert answers()["busy", b"503"] == 2
    assert answers()["robots.txt", b"404"] == 1
    check_stored(tmp_path, web, pages=[f"a.localhost/{path}" for path in ("", "1", "new", "busy")])
    told = [visit.url.access for visit in Plain.visits if visit.url is not None]
    assert not [url for url in told if url.endswith("/robots.txt")]
    assert sum(url.endswith("/busy") for url in told) == 1
    web.log.clear()
    Wire.visits.clear()
    run_crawl(tmp_path, start, chain)  # a revisit
    assert answers() == Counter((request.path[1:], b"%d" % request.status) for request in web.requests)
    assert answers()["1", b"304"] == 1


def test_where_none_asks_none_is_made(web: SyntheticWeb, tmp_path: Path) -> None:
    run_crawl(tmp_path, site_of(web), {"storage.chain": ["log", f"{HERE}:Plain"]})
    assert Plain.visits
    assert {visit.exchange for visit in Plain.visits} == {None}
