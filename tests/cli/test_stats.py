"""``larm stats`` reads what the reporter wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from larm.cluster.card import Card
from larm.cluster.roster import Roster, write_roster
from larm.crawldir.state import QUEUES
from larm.engine.figures.notes import plain
from larm.engine.figures.reporter import Reporter, keep_notes
from larm.engine.figures.snapshot import ClusterFigures, Snapshot, ThreadFigures
from larm.kit.clock import SystemClock
from larm.kit.disk.lock import DirectoryLock
from larm.store.graph import GraphStorage
from larm.testing.clock import FakeClock
from tests.cli.conftest import Larm
from tests.graph.webs import page, stored


def write(directory: Path, reason: str = "", age: float = 0.0) -> None:
    clock = FakeClock()
    clock.set_wall(SystemClock().wall() - age)
    now = Snapshot(
        elapsed=3723.0,
        pages=12_345,
        pages_run=345,
        received=2048,
        waiting=7,
        incoming=1,
        hosts_known=9,
        hosts_waiting=2,
        threads=(ThreadFigures("larm-fetch-0", "getting", 1.0, "http://a.org/\x1b[2J", 11, 5),),
        cpu={"fetching": 0.3, "processing": 0.9},
        counters={"downloader/response_status_count/200": 12, "downloader/response_status_count/404": 3, "retry/count": 0},
        filtered={"scope": 5, "visited": 0},
    )
    reporter = Reporter(lambda: now, clock, directory)
    if reason:
        reporter.finish(reason)
    else:
        reporter.tick()
        reporter.close()


def test_numbers_of_a_running_crawl(larm: Larm, tmp_path: Path) -> None:
    write(tmp_path)
    with DirectoryLock(tmp_path):
        said = larm("stats")
    assert (said.status, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "state: running"
    assert "running time: 1:02:03" in lines
    assert "pages: 12,345 (345 in the last run)" in lines
    assert "queued: 8" in lines
    assert "limited by: politeness: 2 hosts are waiting for a delay to pass" in lines
    assert "errors: 3 x 404" in lines
    assert "dropped: 5 by scope" in lines
    assert not [line for line in lines if "/" in line.partition(":")[0]], "Scrapy's names are for -v"


def test_all_agents_of_a_cluster(larm: Larm, tmp_path: Path) -> None:
    """UBI-22, for people and for programs."""
    figures = ClusterFigures(
        agents=3, working=2, paused=1, pages=1_200, waiting=300, coverage=0.8, overlap=0.0125, sent_per_page=1.5
    )
    reporter = Reporter(lambda: Snapshot(cluster=figures), FakeClock(), tmp_path)
    reporter.finish("finished")
    lines = larm("stats").out.splitlines()
    assert (
        "all agents: 3 agents (2 of them heard), 1 paused: 1,200 pages, 300 URLs to go; coverage 80.0%, overlap 1.25%,"
        " 1.50 URLs sent for each page" in lines
    )
    assert "agents/coverage: 0.8" in larm("stats", "-v").out.splitlines()


def test_whose_figures_they_are(larm: Larm, tmp_path: Path) -> None:
    """And where the other agents are."""
    write(tmp_path)
    (tmp_path / QUEUES).mkdir()
    cards = {"a": Card("192.0.2.1:1", "", "/crawl/one"), "b": Card("192.0.2.2:1", "", "/crawl/two")}
    write_roster(tmp_path / QUEUES, Roster("demo", "a", cards=cards))
    lines = larm("stats").out.splitlines()
    assert lines[:2] == [
        "cluster: agent a of demo; the figures are its own, but for those of all agents",
        "another agent: b at 192.0.2.2:1 (/crawl/two)",
    ]


def test_verbose_adds_zeros_and_threads(larm: Larm, tmp_path: Path) -> None:
    write(tmp_path)
    out = larm("stats", "-v").out
    assert "downloader/response_status_count/200: 12\n" in out
    assert "retry/count: 0" in out
    assert "CPU of the last run: 1.20 s, 3.48 ms a page\nCPU fetching: 0.30 s (25%)\nCPU processing: 0.90 s (75%)\n" in out
    assert "larm-fetch-0: getting http://a.org/ [2J 5 tasks" in out


def test_what_was_said_at_the_end_is_said_again(larm: Larm, tmp_path: Path) -> None:
    """Nobody may have seen it: a schedule's crawl has no terminal, and -q says nothing."""
    keep_notes(tmp_path, [plain("there is no crawl here, and nothing to keep it in")])
    write(tmp_path, "finished")
    keep_notes(tmp_path, [plain("2 pages were left out"), plain("a.org: no such host (DNS)")])
    lines = larm("stats").out.splitlines()
    assert [line for line in lines if line.startswith("at its end")] == [
        "at its end: 2 pages were left out",
        "at its end: a.org: no such host (DNS)",
    ]
    write(tmp_path)
    assert "at its end" not in larm("stats").out, "the next run has not ended"


def test_numbers_of_a_finished_crawl(larm: Larm, tmp_path: Path) -> None:
    write(tmp_path, "closespider_pagecount", age=7200)
    out = larm("stats").out
    assert out.startswith("state: stopped at --max-pages\nfigures from: 2:00:0")
    assert "limited by" not in out


def test_a_crawl_that_was_killed_is_not_said_to_run(larm: Larm, tmp_path: Path) -> None:
    """Its lock says so at once: nobody has it."""
    write(tmp_path)
    DirectoryLock(tmp_path).close()
    out = larm("stats").out
    assert out.startswith("state: not running any more")
    assert "limited by" not in out


def test_a_crawl_that_is_held_up_is_not_said_to_have_ended(larm: Larm, tmp_path: Path) -> None:
    write(tmp_path, age=600)
    with DirectoryLock(tmp_path):
        assert larm("stats").out.startswith("state: running, but without new figures")


def test_json_is_the_whole_file(larm: Larm, tmp_path: Path) -> None:
    write(tmp_path, "finished")
    assert json.loads(larm("stats", "--json").out) == json.loads((tmp_path / "stats.json").read_bytes())


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff"])
def test_a_damaged_file_is_one_line(larm: Larm, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "stats.json").write_bytes(content)
    said = larm("stats")
    assert (said.status, said.out, said.err.count("\n")) == (3, "", 1)
    assert "stats.json" in said.err


@pytest.mark.parametrize("content", [b"{}", b'{"figures": {}, "stats": {}}'])
def test_a_file_of_another_version_is_shown_as_far_as_it_goes(larm: Larm, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "stats.json").write_bytes(content)
    assert larm("stats", "-v").status == 0


def test_the_link_graph(larm: Larm, tmp_path: Path) -> None:
    write(tmp_path)
    assert "link graph" not in larm("stats").out
    stored(tmp_path, page("a", ["b", "c"]), page("b"))
    lines = larm("stats").out.splitlines()
    assert "link graph: 2 pages, 1 that were not fetched" in lines
    assert "links: 2; 1 page without" in lines
    assert "rank 1.11: http://b.test/" in larm("stats", "-v").out.splitlines()
    assert "not complete" not in larm("stats").out
    (tmp_path / "graph" / "snapshot").write_bytes(b"")
    assert "link graph: " in larm("stats").out


def test_a_link_graph_that_is_not_complete(larm: Larm, tmp_path: Path) -> None:
    write(tmp_path)
    position = stored(tmp_path, page("a", {"b": "of b"}), page("b"))
    storage = GraphStorage(tmp_path, FakeClock())
    storage.open(position)
    storage.store([page("a", {"c": "of c"}), page("c"), page("d")])
    storage.commit()
    sentence = "the link graph and the texts of links are of 1 of 4 pages, so what matters most may not come first; "
    assert f"not complete: {sentence}" in larm("stats").out
    storage.close()
