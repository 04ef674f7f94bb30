"""``larm crawl``: what is said, and the exit statuses (design: 0, 1, 2, 3, 4, 130)."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from larm.cli.signals import stopping_by_signal
from larm.engine.figures.reporter import Reporter
from larm.engine.figures.snapshot import Snapshot
from larm.errors import ConfigError, LarmError, StageError, StorageError
from larm.testing.clock import FakeClock
from tests.cli.conftest import FakeEnding, FakeWiring, Larm

CRAWL = ("crawl", "-start", "http://example.org/")


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        (FakeEnding("finished"), 0),
        (FakeEnding("closespider_pagecount"), 0),
        (FakeEnding("closespider_timeout"), 0),
        (FakeEnding("failed"), 1),
        (FakeEnding("failed", StageError("larm-fetch-0 died")), 1),
        (FakeEnding("failed", StorageError("disk full")), 3),
        (FakeEnding("finished", start_fetched=False), 4),
        (FakeEnding("shutdown"), 130),
        (FakeEnding("shutdown", start_fetched=False), 130),
    ],
)
def test_how_a_crawl_ended_is_its_exit_status(larm: Larm, wiring: FakeWiring, ending: FakeEnding, status: int) -> None:
    wiring.crawl.ending = ending
    said = larm(*CRAWL)
    assert said.status == status
    if ending.error:
        assert f"larm: {ending.error}\n" in said.err


def test_the_end_is_a_few_sentences(larm: Larm, wiring: FakeWiring) -> None:
    said = larm(*CRAWL)
    assert said.err.splitlines()[-2:] == [
        "larm: finished: 12 pages in this run, 42 in ., 0:01",
        "larm: next: 'larm search WORDS'; all figures: 'larm stats'",
    ]


def test_notes_first_and_a_summary_in_scrapys_names_last_with_v(larm: Larm, wiring: FakeWiring) -> None:
    said = larm(*CRAWL, "-v")
    assert said.out == "", "results go to stdout, everything else to stderr"
    lines = said.err.splitlines()
    assert lines[0] == "larm: scope: the hosts of the start URLs"
    assert "larm: finished: 12 pages in this run, 42 in ., 0:01" in lines
    for expected in (
        "  downloader/request_count: 14",
        "  downloader/response_status_count/200: 12",
        "  finish_reason: finished",
        "  elapsed_time_seconds: 1.5",
    ):
        assert expected in lines


@pytest.mark.parametrize("ending", [FakeEnding(), FakeEnding("closespider_pagecount")])
def test_quiet_says_nothing_but_errors(larm: Larm, wiring: FakeWiring, ending: FakeEnding) -> None:
    wiring.crawl.ending = ending
    assert larm(*CRAWL, "-q") == (0, "", "")


def test_what_quiet_does_not_say_is_kept(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    Reporter(Snapshot, FakeClock(), tmp_path).finish("finished")
    wiring.crawl.ending.failed_starts.append("http://example.org/: refused")
    larm(*CRAWL, "-q")
    assert "at its end: http://example.org/: refused" in larm("stats").out


def test_quiet_says_errors(larm: Larm, wiring: FakeWiring) -> None:
    wiring.crawl.ending = FakeEnding("failed", StorageError("disk full"))
    assert larm(*CRAWL, "-q") == (3, "", "larm: disk full\n")


@pytest.mark.parametrize(
    ("error", "status"), [(ConfigError("bad rule"), 2), (StorageError("locked"), 3), (LarmError("odd"), 1)]
)
def test_an_error_at_start_is_one_line(larm: Larm, wiring: FakeWiring, error: LarmError, status: int) -> None:
    wiring.failure = error
    assert larm(*CRAWL) == (status, "", f"larm: {error}\n")


def test_a_message_with_escape_sequences_does_not_reach_the_terminal(larm: Larm, wiring: FakeWiring) -> None:
    wiring.failure = ConfigError("bad \x1b[2J\nrule")
    assert larm(*CRAWL).err == "larm: bad [2J rule\n"


def test_a_directory_that_somebody_has_removed(
    larm: Larm, wiring: FakeWiring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiring.failure = FileNotFoundError(2, "No such file or directory")  # type: ignore[assignment]  # of os.getcwd
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    said = larm(*CRAWL)
    assert said == (2, "", "larm: the current directory is no longer there: change into another one\n")


def test_a_bug_is_one_line_and_its_traceback_is_in_the_logs(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    (tmp_path / "d" / "logs").mkdir(parents=True)
    wiring.failure = ZeroDivisionError("oh\nno")  # type: ignore[assignment]
    said = larm(*CRAWL, "--dir", "d")
    assert said.status == 1
    assert said.err == "larm: unexpected ZeroDivisionError: oh no (where: d/logs/crash.log)\n"
    assert "Traceback" in (tmp_path / "d" / "logs" / "crash.log").read_text()


@pytest.mark.parametrize("command", [["why", "http://a.org/"], ["check"]])
def test_traceback_is_in_a_temporary_file_when_a_command_only_reads(
    command: list[str], larm: Larm, wiring: FakeWiring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("larm.ops.afterwards.explain_url", fail)
    monkeypatch.setattr("larm.building.wiring.check", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    logs = tmp_path / "d" / "logs"
    logs.mkdir(parents=True)
    said = larm(*command, "--dir", "d")
    (story,) = tmp_path.glob("larm-crash-*.log")
    assert (said.status, said.err) == (1, f"larm: unexpected ZeroDivisionError: oh (where: {story})\n")
    assert "Traceback" in story.read_text()
    assert not [*logs.iterdir()]


def test_a_bug_where_there_are_no_logs(larm: Larm, wiring: FakeWiring) -> None:
    wiring.failure = ZeroDivisionError("oh")
    said = larm(*CRAWL)
    assert said.err == "larm: unexpected ZeroDivisionError: oh (-v shows where)\n"
    assert "Traceback" in larm(*CRAWL, "-v").err


def test_ctrl_c_while_the_crawl_is_being_built(larm: Larm, wiring: FakeWiring) -> None:
    wiring.failure = KeyboardInterrupt()  # type: ignore[assignment]
    assert larm(*CRAWL) == (130, "", "larm: interrupted\n")


def test_a_crawl_that_larm_ctl_stopped_was_not_interrupted(larm: Larm, wiring: FakeWiring) -> None:
    wiring.crawl.ending = FakeEnding("shutdown")
    said = larm(*CRAWL)
    assert said.status == 130
    assert "larm: stopped: " in said.err
    assert "interrupted" not in said.err


@pytest.mark.usefixtures("hangups_heard")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_stops_the_crawl(larm: Larm, wiring: FakeWiring, number: signal.Signals) -> None:
    wiring.crawl.during = lambda: os.kill(os.getpid(), number)
    wiring.crawl.ending = FakeEnding("shutdown")
    handler = signal.getsignal(number)
    said = larm(*CRAWL)
    assert (said.status, said.err.splitlines()[-1]) == (130, "larm: interrupted; the same command continues the crawl")
    assert wiring.crawl.stopped == 1
    assert signal.getsignal(number) is handler, "given back"


def test_the_second_signal_leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []
    asked: list[int] = []
    monkeypatch.setattr(os, "_exit", left.append)
    monkeypatch.setattr(sys, "stderr", None)
    with stopping_by_signal(lambda: asked.append(1)):
        os.kill(os.getpid(), signal.SIGINT)
        assert (asked, left) == ([1], [])
        os.kill(os.getpid(), signal.SIGTERM)
        assert (asked, left) == ([1], [130])


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2])
def test_who_asks_by_a_signal_how_it_is_going_does_not_end_the_crawl(number: signal.Signals) -> None:
    """Both end a process that has no handler for them."""
    asked: list[str] = []
    earlier = signal.getsignal(number)
    for show in (None, lambda: asked.append("shown")):
        with stopping_by_signal(lambda: asked.append("stopped"), show=show) as came:
            os.kill(os.getpid(), number)
        assert came == []
    assert asked == ["shown"]
    assert signal.getsignal(number) is earlier


def test_nohup_is_respected() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopping_by_signal(lambda: None):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
