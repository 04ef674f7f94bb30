"""A page that kills the process, as a bug in a C library would: it is read twice, and then the crawl goes on without it."""

from __future__ import annotations

import ctypes
import json
import os
import signal
from pathlib import Path

import pytest

from larm.building import reading
from larm.engine.suspects import ENOUGH
from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.parse.reading.poisoned_child import CRASH, POISON
from tests.stories.crawls import asked, check_stored, lines, rows, run_crawl
from tests.stories.processes import Said, crawl_arguments, larm_says

PAGES = [f"/{number}" for number in range(30)]
BAD = "/bad"


class Killed:
    """A processor that is ended from outside, as a system does that runs out of memory."""

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        if message.url.path_query == BAD:
            os.kill(os.getpid(), signal.SIGKILL)
        return Document(mime, title="survived")


class Harmless:
    """Reads it."""

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        return Document(mime, title="survived")


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


def crawl(directory: Path, start: str, processor: type = Crashing, tick: str = "30ms") -> Said:
    directory.mkdir(exist_ok=True)
    own = f"processing: {{by_mime: {{application/x-odd: '{__name__}:{processor.__name__}'}}}}\n"
    (directory / "config.yaml").write_text(own)
    return larm_says(*crawl_arguments(directory, [start], {"monitor.tick": tick}))


def test_two_crashes_and_the_rest_of_the_crawl(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    directory = tmp_path / "crawl"
    for times in (1, 2):
        assert crawl(directory, start).status == -signal.SIGSEGV
        assert asked(web)["a.localhost" + BAD] == times
    said = crawl(directory, start)
    assert said.status == 0, said.err
    assert "pages set aside, because the process that read them ended, more than once: 1" in said.err
    stats = json.loads((directory / "stats.json").read_text())["stats"]
    assert stats["larm/set_aside"] == 1
    errors = [line for number in range(2) for line in lines(directory, f"thread{number}_errors")]
    assert sum("set aside: the process ended while it was read" in line and line.endswith(BAD) for line in errors) == 1
    check_stored(directory, web, pages={f"a.localhost{path}" for path in ["/", *PAGES]})


def test_one_that_was_killed_before_its_first_checkpoint_goes_on_without_it(
    tmp_path: Path, web: SyntheticWeb, start: str
) -> None:
    """The suspect is fetched last and alone, after a checkpoint: its other deaths cost nothing but this page."""
    directory = tmp_path / "crawl"
    web.host("a.localhost").page("/", links=[BAD, *PAGES])
    assert crawl(directory, start, Killed, "1h").status == -signal.SIGKILL
    assert not rows(directory)
    web.log.clear()
    assert crawl(directory, start, Killed, "1h").status == -signal.SIGKILL
    assert list(asked(web))[-1] == "a.localhost" + BAD
    good = {f"a.localhost{path}" for path in ["/", *PAGES]}
    assert set(web.fetched()) == good | {"a.localhost" + BAD}
    assert crawl(directory, start, Killed, "1h").status == -signal.SIGKILL
    said = crawl(directory, start, Killed, "1h")
    assert said.status == 0, said.err
    assert f"ended, more than once: 1 ({start}bad); the next revisit reads each of them again, alone" in said.err
    check_stored(directory, web, pages=good)
    assert all(count == 1 for key, count in web.fetched().items() if key in good), "none of them is fetched again"


def test_who_survives_is_no_suspect(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    directory = tmp_path / "crawl"
    assert crawl(directory, start, Killed).status == -signal.SIGKILL
    said = crawl(directory, start, Harmless)
    assert said.status == 0, said.err
    check_stored(directory, web, pages={f"a.localhost{path}" for path in ["/", BAD, *PAGES]})
    assert json.loads((directory / "cachingqueue" / "suspects.json").read_text()) == {}


def test_page_that_is_set_aside_is_told_by_each_run_and_read_alone_in_the_next_revisit(
    tmp_path: Path, web: SyntheticWeb, start: str
) -> None:
    directory = tmp_path / "crawl"
    told = f"more than once: 1 ({start}bad); the next revisit"
    for _ in range(2):
        assert crawl(directory, start).status == -signal.SIGSEGV
    assert told in crawl(directory, start).err
    why = larm_says("why", "--dir", str(directory), f"{start}bad").out.decode()
    assert "set aside: the process ended while it was read, more than once" in why
    web.log.clear()
    assert crawl(directory, start).status == -signal.SIGSEGV, "a revisit"
    assert list(asked(web))[-1] == "a.localhost" + BAD
    again = crawl(directory, start)
    assert again.status == 0, "it goes on without the page"
    assert told in again.err
    check_stored(directory, web, pages={f"a.localhost{path}" for path in ["/", *PAGES]})
    said = crawl(directory, start, Harmless)
    assert said.status == 0, "another revisit"
    assert told not in said.err
    check_stored(directory, web, pages={f"a.localhost{path}" for path in ["/", BAD, *PAGES]})


def test_other_pages_of_that_moment_are_not_blamed(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    directory = tmp_path / "crawl"
    for _ in range(2):
        assert crawl(directory, start).status == -signal.SIGSEGV
    points = json.loads((directory / "cachingqueue" / "suspects.json").read_text())
    assert list(points) == [start.rstrip("/") + BAD]


@pytest.mark.parametrize(("marker", "read"), [(CRASH, True), (POISON, False)])
def test_html_over_which_larm_itself_ended_is_read_by_html5lib(
    tmp_path: Path, web: SyntheticWeb, monkeypatch: pytest.MonkeyPatch, marker: bytes, read: bool
) -> None:
    """In a process of its own; what ends that as well is set aside. It stays a suspect, for it was not read by larm itself."""
    monkeypatch.setattr(reading, "CHILD", "tests.parse.reading.poisoned_child")
    site = web.host("a.localhost")
    site.page("/", title="one")
    assert run_crawl(tmp_path, web.url("a.localhost")).reason == "finished"
    bad = web.url("a.localhost", BAD)
    suspects = tmp_path / "cachingqueue" / "suspects.json"
    suspects.write_bytes(json.dumps({bad: {"points": ENOUGH}}).encode())
    site.page("/", title="two", links=[BAD])
    site.page(BAD, body=f"{marker.decode()}<title>survived</title><p>text<a href='/last'>last</a>")
    site.page("/last")
    run = run_crawl(tmp_path, web.url("a.localhost"))
    assert run.reason == "finished"
    assert (run.counters.get("processing/careful", 0), run.counters.get("larm/set_aside", 0)) == (int(read), int(not read))
    stored = {row.url for row in rows(tmp_path)}
    assert (bad in stored) is (web.url("a.localhost", "/last") in stored) is read
    told = json.loads(suspects.read_bytes())
    assert (told[bad]["points"], told[bad].get("lost", False)) == (ENOUGH, not read)
