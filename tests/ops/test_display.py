"""The display: plain lines where stderr is no terminal, redrawn ones where it is."""

from __future__ import annotations

import io
import re

import pytest

from larm.engine.figures.snapshot import Snapshot, StorageFigures, ThreadFigures
from larm.ops.display import Display, details
from larm.testing.clock import FakeClock


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


class Broken(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def display(clock: FakeClock, stream: io.StringIO, *, verbose: bool = False) -> Display:
    def probe() -> Snapshot:
        now = clock.monotonic()
        return Snapshot(
            elapsed=now,
            pages=int(100 * now),
            pages_run=int(100 * now),
            received=int(1024 * 1024 * now),
            waiting=12_345,
            in_flight=2,
            transfers=64,
            hosts_queued=1,
            hosts_waiting=1,
            errors=4,
            threads=(ThreadFigures("larm-fetch-0", "reading", 1.5, "http://a/\x1b[2J", 2048, 3),),
        )

    return Display(probe, clock, stream, verbose=verbose)


def test_piped_there_is_one_line_a_minute(clock: FakeClock) -> None:
    stream = io.StringIO()
    shown = display(clock, stream)
    assert not shown.live
    for _ in range(121):
        clock.advance(1)
        shown.refresh()
    shown.close()
    lines = stream.getvalue().splitlines()
    assert lines == [
        "larm: 1:00  6,000 pages (100.0/s, 1.00 MB/s), 4 errors; 12,345 queued, 2 in the air, 1 host with URLs; "
        "limited by politeness: 1 host is waiting for a delay to pass",
        "larm: 2:00  12,000 pages (100.0/s, 1.00 MB/s), 4 errors; 12,345 queued, 2 in the air, 1 host with URLs; "
        "limited by politeness: 1 host is waiting for a delay to pass",
    ]


def test_who_asks_gets_a_line_at_once(clock: FakeClock) -> None:
    stream = io.StringIO()
    shown = display(clock, stream)
    clock.advance(2)
    shown.refresh()
    assert stream.getvalue() == ""
    shown.hurry()
    shown.refresh()
    clock.advance(1)
    shown.refresh()
    (line,) = stream.getvalue().splitlines()
    assert line.startswith("larm: 0:02  200 pages")


def test_the_end_says_what_it_waits_for(clock: FakeClock) -> None:
    stream = io.StringIO()
    shown = display(clock, stream)
    for _ in range(61):
        clock.advance(1)
        shown.refresh(["larm-store-graph: texts of links, 57 of 100 pages", "larm-page-1: scanning http://a/\x1b[2J"])
    assert stream.getvalue().splitlines() == [
        "larm: 1:00  6,000 pages (100.0/s, 1.00 MB/s), 4 errors; ending; Ctrl-C twice leaves at once, and the same command "
        "does what is left; waits for larm-store-graph: texts of links, 57 of 100 pages; waits for larm-page-1: scanning "
        "http://a/ [2J"
    ]


def test_verbose_lines_come_more_often(clock: FakeClock) -> None:
    stream = io.StringIO()
    shown = display(clock, stream, verbose=True)
    for _ in range(60):
        clock.advance(1)
        shown.refresh()
    assert len(stream.getvalue().splitlines()) == 12


def test_on_a_terminal_the_figures_are_redrawn_in_place(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    stream = Terminal()
    shown = display(clock, stream, verbose=True)
    assert shown.live
    for _ in range(3):
        clock.advance(1)
        shown.refresh()
    shown.close()
    text = stream.getvalue()
    assert "300 pages (100.0/s" in text
    assert "[larm-fetch-0] reading for 1.5 s (http://a/ [2J)" in text, "escape sequences of a URL are harmless"
    assert text.rstrip().endswith("\x1b[?25h") or "\x1b[?25h" in text, "the cursor is shown again"
    assert "\x1b[1A" in text, "redrawn in place"


def test_a_dumb_terminal_gets_plain_lines(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert not display(clock, Terminal()).live


def test_a_broken_stderr_silences_the_display_and_not_the_crawl(clock: FakeClock) -> None:
    shown = display(clock, Broken())
    for _ in range(3):
        clock.advance(60)
        shown.refresh()
    shown.close()


def test_details_name_filters_storages_and_threads() -> None:
    lines = details(
        Snapshot(
            filtered={"scope": 1234},
            storages=(StorageFigures("index", 2048, 4096),),
            checkpoint_seconds=0.25,
            checkpoint_bytes=1536,
            threads=(ThreadFigures("larm-fetch-0"),),
        )
    )
    assert lines[0] == "filtered: scope 1,234; visited: 0"
    assert lines[2] == "storage queues: index 2.00 KB; last checkpoint: 0.25 s, 1.50 KB"
    assert lines[3] == "[larm-fetch-0] idle, 0 tasks, 0.00 Bytes"


def test_what_a_signal_says_stays_above_the_live_lines(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it comes while they are drawn: on a screen there is then the message, and no rest of a line."""
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    shown = display(clock, stream)
    for _ in range(2):
        clock.advance(1)
        shown.refresh()
    shown.interrupt(lambda: stream.write("larm: stopping\n"))
    clock.advance(1)
    shown.refresh()
    shown._drawing = True  # a signal while they are drawn
    shown.interrupt(lambda: stream.write("larm: once more\n"))
    assert "once more" not in stream.getvalue()
    clock.advance(1)
    shown.refresh()
    shown.close()
    assert screen(stream.getvalue()) == ["larm: stopping", "larm: once more"]


def screen(text: str) -> list[str]:
    """What a terminal shows: lines that were not erased."""
    lines, row = [""], 0
    for part in re.findall(r"\x1b\[\??(?:\d+;?)*[A-Za-z]|\r|\n|[^\x1b\r\n]+", text):
        if part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part == "\x1b[1A":
            row -= 1
        elif part == "\x1b[2K":
            lines[row] = ""
        elif not part.startswith("\x1b") and part != "\r":
            lines[row] += part
    return [line for line in lines if line]
