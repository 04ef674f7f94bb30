"""Story 12: the end of a crawl takes as long as it takes, and whatever ends it sooner, the next run completes it."""

from __future__ import annotations

import functools
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from larm.engine.ending import Ending
from larm.engine.patience import HANGS, Patience
from larm.errors import StageError
from larm.graph.reader import open_graph
from larm.index.anchors import ANCHORS, made_of
from larm.index.search.coverage import Coverage, coverage_of
from larm.ops.observers import build_crawl
from larm.parse.apart.reader import DocumentReader
from larm.testing.clock import FakeClock
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.parse.office_files import pdf
from tests.stories.crawls import check_complete, config_of, reference_links, rows, watch
from tests.stories.leftovers import leftovers
from tests.stories.parts import HERE, LongClose
from tests.stories.processes import Process, crawl_arguments, larm_says, plain_lines_every
from tests.support.random_web import RandomWeb, random_web

SCOPE = ("-restrictto", r"http://h\d\d\.localhost:\d+/.*")
OWN = {"storage.chain": ["log", f"{HERE}:LongClose"]}


# -- in this process


@pytest.fixture
def release() -> Iterator[None]:
    LongClose.release.clear()
    yield
    LongClose.release.set()


def ended(
    directory: Path,
    start: str,
    settings: dict[str, object],
    then: Callable[[float], object] = id,
    step: float = 60.0,
) -> tuple[Ending, list[str]]:
    """Crawl; at the end ``step`` seconds pass at each look, and ``then(seconds)`` is called. Also all that was told."""
    clock = FakeClock()
    told: list[str] = []
    crawl = build_crawl(config_of(start, settings), directory)

    def tell(waits: Sequence[str]) -> None:
        told.extend(waits)
        clock.advance(step)
        then(clock.monotonic())

    crawl._patience = Patience(clock, crawl._doing, tell, interval=0.01)
    return crawl.run(), told


@pytest.mark.usefixtures("release")
def test_a_storage_is_waited_for_and_named(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("a.localhost").page("/")
    said = "larm-store-LongClose: closes"

    def let_go(seconds: float) -> None:
        if seconds > HANGS / 2:
            LongClose.release.set()

    ending, told = ended(tmp_path, web.url("a.localhost"), OWN, let_go)
    assert (ending.reason, ending.error) == ("finished", None)
    assert said in told


@pytest.mark.usefixtures("release")
def test_a_storage_that_hangs_is_named_and_ends_the_crawl(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("a.localhost").page("/")
    ending, _ = ended(tmp_path, web.url("a.localhost"), OWN)
    assert ending.reason == "failed"
    assert isinstance(ending.error, StageError)
    assert "10:00 in larm-store-LongClose: closes: it hangs" in str(ending.error)
    assert "the same command" in str(ending.error)


def test_a_document_that_takes_minutes_is_waited_for_by_a_stop(
    web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in another process, where nothing is to be seen of it but the time that it takes of the processor."""
    poisoned = functools.partial(DocumentReader, child="tests.stories.poisoned_child")
    monkeypatch.setattr("larm.parse.apart.reader.DocumentReader", poisoned)
    site = web.host("a.localhost")
    site.page("/", links=["/1.pdf"])
    site.add("/1.pdf", Reply(200, {"Content-Type": "application/pdf"}, pdf("HANG", ["x"])))
    settings: dict[str, object] = {"processing.documents.timeout": "1500ms", "crawl.max_time": "500ms"}
    ending, told = ended(tmp_path, web.url("a.localhost"), settings, step=5)
    assert (ending.reason, ending.error) == ("closespider_timeout", None)
    scanning = f"scanning {web.url('a.localhost', '/1.pdf')}"
    assert {f"larm-document-{number}: {scanning}" for number in (0, 1)} & set(told)
    assert len(told) > 10
    assert [row.url.rpartition("/")[2] for row in rows(tmp_path)] == ["", "1.pdf"]


# -- processes

STOPPED_AT = """
import larm.index.anchors as anchors, threading
fill = anchors._fill
def slow(path, pages, progress, total):
    def until(after):
        for number, page in enumerate(pages(after)):
            if number == {pages}:
                threading.Event().wait()
            yield page
    anchors._KEPT = anchors._TOLD = 1
    fill(path, until, progress, total)
anchors._fill = slow
"""
"""Python for a process whose end stops for ever while it indexes the texts of links."""
KILLED_AT = """
import os, signal, sys, threading
from larm.store.graph import GraphStorage
import larm.index.anchors as anchors
anchors._KEPT = 10
calls, count, close = {calls}, 0, GraphStorage.close
def watch(frame, event, argument):
    global count
    count += 1
    if count == calls:
        os.kill(os.getpid(), signal.SIGKILL)
def closing(storage):
    sys.setprofile(watch)
    close(storage)
    sys.setprofile(None)
    open({note!r}, "w").write(str(count))
GraphStorage.close = closing
"""
"""The same of one that is killed at that call or return of a function within the graph's end; it notes how many there are."""


def whole(directory: Path) -> tuple[object, ...]:
    """What an end makes, and all before it; `ranks` apart, as they depend a little on the order of pages."""
    graph = open_graph(directory / "graph")
    assert graph is not None
    assert made_of(directory / ANCHORS) == graph.generation
    assert coverage_of(directory).complete
    assert not [path.name for path in directory.iterdir() if path.suffix in (".new", ".old")]
    assert sorted(path.name for path in (directory / "graph").iterdir()) == ["links.journal", "snapshot"]
    texts = {page: sorted(found) for page, found in graph.all_texts()}
    return texts, leftovers(directory)


def ranks(directory: Path) -> dict[int, float]:
    """Of all pages to which there are links."""
    graph = open_graph(directory / "graph")
    return {page: graph.rank(page) for page, _ in graph.all_texts()} if graph else {}


@pytest.fixture(scope="module")
def served() -> Iterator[RandomWeb]:
    with random_web(5, hosts=6, pages=120, delay=0.0) as web:
        yield web


def test_a_second_ctrl_c_leaves_the_end_and_the_same_command_completes_it(served: RandomWeb, tmp_path: Path) -> None:
    """Without asking for a page again, though the crawl is finished; only the run after that one revisits it."""
    arguments = crawl_arguments(tmp_path, served.start_urls, {}, *SCOPE)
    with Process(*arguments, before=f"{plain_lines_every(0.1)}\n{STOPPED_AT.format(pages=30)}") as process:
        while "larm-last" in (line := process.wait_for_line("texts of links")):
            assert "ending; Ctrl-C twice leaves at once" in line  # the last checkpoint is not written yet
        process.signal(signal.SIGINT)
        process.wait_for_line("stopping (again to leave at once: what came since")
        process.signal(signal.SIGINT)
        said = process.end()
    assert said.status == 130
    assert said.last == "larm: left at once; the same command goes on from the last checkpoint"
    covered = coverage_of(tmp_path)
    assert covered == Coverage(covered.pages, covered.pages, 0)
    missing = f"the texts of links are of 0 of {covered.pages} pages"
    assert missing in larm_says("stats", "--dir", str(tmp_path)).out.decode()
    assert missing in larm_says("search", "--dir", str(tmp_path), "page").err
    watch(served)
    said = larm_says(*arguments)
    assert said.status == 0, said.err
    assert "is finished; its link graph and the texts of links are now completed" in said.err
    assert served.requests == []
    whole(tmp_path)
    assert "not complete" not in larm_says("stats", "--dir", str(tmp_path)).out.decode()
    assert "is finished and is now revisited" in larm_says(*arguments).err
    assert served.requests != []


def test_killed_at_any_moment_of_the_end(served: RandomWeb, tmp_path: Path) -> None:
    """Again and again, until there is an end; it is the same as that of a crawl that nobody disturbs."""
    links = reference_links(served, tmp_path / "links")

    def run(directory: Path, calls: int) -> int:
        before = KILLED_AT.format(calls=calls, note=str(tmp_path / "calls"))
        return larm_says(*crawl_arguments(directory, served.start_urls, None, *SCOPE), before=before).status

    assert run(tmp_path / "reference", 0) == 0
    expected, calls = whole(tmp_path / "reference"), int((tmp_path / "calls").read_text())
    moments = random.Random(7)
    statuses = [run(tmp_path / "killed", moments.randrange(1, calls)) for _ in range(3)]
    assert set(statuses) <= {0, -signal.SIGKILL}  # each run has less left, and may be done before its moment
    assert statuses[0] == -signal.SIGKILL
    assert run(tmp_path / "killed", 0) == 0
    check_complete(tmp_path / "killed", served, links)
    assert whole(tmp_path / "killed") == expected
    assert ranks(tmp_path / "killed") == pytest.approx(ranks(tmp_path / "reference"), rel=1e-3)
