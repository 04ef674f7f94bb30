"""A page that kills the process, as a bug in a C library would: it is read twice, and then the crawl goes on without it."""

from __future__ import annotations

import ctypes
import json
import signal
from pathlib import Path

import pytest

from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, check_stored, lines
from tests.stories.processes import Said, crawl_arguments, larm_says

PAGES = [f"/{number}" for number in range(30)]
BAD = "/bad"


class Crashing:
    """A processor that reads from where nothing is."""

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        if message.url.path_query == BAD:
            ctypes.string_at(0)
        return Document(mime, title="survived")


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    """The bad page stands in the middle of good ones, some of the same kind."""
    site = web.host("a.localhost")
    links = [*PAGES[:15], BAD, *PAGES[15:]]
    site.page("/", links=links)
    for path in PAGES:
        site.page(path)
    for path in (BAD, "/29"):
        site.add(path, Reply(200, {"Content-Type": "application/x-odd"}, b"odd"))
    return web.url("a.localhost")


def crawl(directory: Path, start: str) -> Said:
    directory.mkdir(exist_ok=True)
    (directory / "config.yaml").write_text(f"processing: {{by_mime: {{application/x-odd: '{__name__}:Crashing'}}}}\n")
    return larm_says(*crawl_arguments(directory, [start], {"monitor.tick": "30ms"}))


def test_two_crashes_and_the_rest_of_the_crawl(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    directory = tmp_path / "crawl"
    for times in (1, 2):
        assert crawl(directory, start).status == -signal.SIGSEGV
        assert asked(web)["a.localhost" + BAD] == times
    said = crawl(directory, start)
    assert said.status == 0, said.err
    assert "larm/set_aside" in said.err
    stats = json.loads((directory / "stats.json").read_text())["stats"]
    assert stats["larm/set_aside"] == 1
    errors = [line for number in range(2) for line in lines(directory, f"thread{number}_errors")]
    assert sum("set aside: the process ended while it was read" in line and line.endswith(BAD) for line in errors) == 1
    check_stored(directory, web, pages={f"a.localhost{path}" for path in ["/", *PAGES]})


def test_it_stays_aside_in_a_revisit(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    directory = tmp_path / "crawl"
    for _ in range(2):
        assert crawl(directory, start).status == -signal.SIGSEGV
    for _ in range(2):
        assert crawl(directory, start).status == 0
    check_stored(directory, web, pages={f"a.localhost{path}" for path in ["/", *PAGES]})


def test_other_pages_of_that_moment_are_not_blamed(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    directory = tmp_path / "crawl"
    for _ in range(2):
        assert crawl(directory, start).status == -signal.SIGSEGV
    points = json.loads((directory / "cachingqueue" / "suspects.json").read_text())
    assert list(points) == [start.rstrip("/") + BAD]
