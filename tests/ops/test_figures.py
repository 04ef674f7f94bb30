"""Rates, sizes, durations, memory, and the text that may reach a terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.engine.figures import machine
from larm.engine.figures.machine import Cores, cores_now, memory_now, memory_peak
from larm.engine.figures.rates import Rates, duration, size
from larm.engine.figures.reporter import summary, summary_lines
from larm.engine.figures.snapshot import Snapshot
from larm.kit.clock import SystemClock
from larm.kit.printable import printable


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0.00 Bytes"),
        (1023, "1023.00 Bytes"),
        (1024, "1.00 KB"),
        (1536, "1.50 KB"),
        (5 * 1024**2, "5.00 MB"),
        (3 * 1024**3, "3.00 GB"),
        (5000 * 1024**3, "5000.00 GB"),
    ],
)
def test_sizes_have_units_of_1024_and_two_decimals(count: int, text: str) -> None:
    """LARM-83."""
    assert size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0:00"),
        (7.9, "0:07"),
        (725, "12:05"),
        (3723, "1:02:03"),
        (176523, "2 d 1:02:03"),
        (1e20, "more than ten years"),
        (float("inf"), "more than ten years"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_average_goes_over_the_last_ten_intervals_only() -> None:
    """LARM-78: ten samples of five seconds; what was before them is forgotten."""
    rates = Rates(10)
    for tick in range(31):
        pages = 1000 * min(tick, 20) + 5 * max(tick - 20, 0)
        rates.add(Snapshot(elapsed=5.0 * tick, pages_run=pages, received=100 * pages))
    average = rates.average()
    assert (average.pages, average.received, average.seconds) == (1.0, 100.0, 50.0)


def test_no_average_before_there_are_two_samples() -> None:
    rates = Rates(10)
    assert rates.average().pages == 0
    rates.add(Snapshot(elapsed=3.0, pages_run=9))
    assert rates.average().pages == 0


def test_memory_is_that_of_this_process() -> None:
    now = memory_now()
    assert 1_000_000 < now.used <= memory_peak() * 1.1
    assert now.used < now.total
    assert now.free < now.total


def test_escape_sequences_and_direction_marks_do_not_reach_a_terminal() -> None:
    title = "a\x1b]0;own\x07ed\x1b[2J\u202egnp.exe\x9b31m\r\nnext\ttab \ud800"
    assert printable(title) == "a ]0;own ed [2Jgnp.exe 31m next tab \N{REPLACEMENT CHARACTER}"


@given(st.text(alphabet=st.characters()))
def test_printable_text_is_one_line_of_printable_characters(text: str) -> None:
    clean = printable(text)
    assert printable(clean) == clean
    assert not any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000 for c in clean)
    clean.encode()


def test_the_summary_speaks_scrapys_names() -> None:
    counters = {"downloader/response_status_count/200": 7, "scope/filtered": 5}
    now = Snapshot(elapsed=12.3456, requests=9, pages_run=7, received=700, filtered={"scope": 5, "own": 1}, counters=counters)
    stats = summary(now, "finished", 1_700_000_012.3456)
    assert stats["downloader/request_count"] == 9
    assert stats["downloader/response_status_count/200"] == 7
    assert stats["finish_reason"] == "finished"
    assert stats["elapsed_time_seconds"] == 12.346
    assert stats["start_time"] == "2023-11-14T22:13:20+00:00"
    assert stats["finish_time"] == "2023-11-14T22:13:32+00:00"
    assert stats["offsite/filtered"] == 5
    assert stats["filter/own"] == 1
    assert "scope/filtered" not in stats, "counted once, under one name"
    assert "  item_scraped_count: 7" in summary_lines(stats)
    assert not any("larm/errors" in line for line in summary_lines(stats)), "zeros are left out"


def test_a_running_crawl_has_no_finish_reason() -> None:
    assert "finish_reason" not in summary(Snapshot(), "", 0.0)


def test_the_peak_where_proc_does_not_tell_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sandboxes have a ``/proc/self/status`` of fewer lines."""
    (tmp_path / "status").write_text("Name:\tlarm\nVmRSS:\t5 kB\n")
    monkeypatch.setattr(machine, "_STATUS", tmp_path / "status")
    assert memory_peak() > 1_000_000


def test_the_peak_is_ours_and_not_that_of_who_started_us() -> None:
    """Linux keeps the parent's peak in getrusage over exec."""
    ballast = b"x" * 300_000_000
    program = "from larm.engine.figures.machine import memory_peak; print(memory_peak())"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    assert 1_000_000 < int(said) < len(ballast)


def test_how_busy_the_machine_was_between_two_samples() -> None:
    rates = Rates(10)
    assert rates.machine == 0
    rates.add(Snapshot(elapsed=1.0), 0.0, Cores(100, 1_000))
    rates.add(Snapshot(elapsed=2.0), 0.0, Cores(190, 1_100))
    assert rates.machine == 0.9
    rates.add(Snapshot(elapsed=3.0), 0.0, Cores())
    assert rates.machine == 0


def test_the_cores_of_this_machine() -> None:
    began, before = SystemClock().monotonic(), cores_now()
    while (now := cores_now()).busy == before.busy and before.all and SystemClock().monotonic() < began + 30:
        pass
    assert 0 < now.share(before) <= 1 or not before.all
