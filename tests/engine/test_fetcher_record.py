"""thread<N>.log and thread<N>_errors.log (LARM-20, LARM-96)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm.engine.fetcher_record import FetcherRecord
from larm.engine.landed import Landed
from larm.kit.logs.log_book import LogBook
from larm.model.outcome import Outcome, Refused, Timing
from larm.testing.clock import FakeClock
from larm.testing.fakes import lease, page


@pytest.fixture
def book(tmp_path: Path) -> Iterator[LogBook]:
    book = LogBook(tmp_path)
    yield book
    book.close()


def landed(text: str, outcome: Outcome, *, error: bool = False, warnings: tuple[str, ...] = ()) -> Landed:
    return Landed(lease("http://a/x"), outcome, {}, text, error, warnings=warnings)


def lines(book: LogBook, name: str) -> list[str]:
    book.sync()
    return (book.directory / f"{name}.log").read_text().splitlines()


def test_a_line_a_fetch_with_the_time_of_day(book: LogBook) -> None:
    record = FetcherRecord(book, 3, FakeClock(1_000_000))
    record.add(
        [landed("12 ms: 200 5 text/html: http://a/x", page("x")), landed("9 ms: 404: http://a/y", Refused(404, {}, Timing()))]
    )
    assert [re.sub(r"^\d\d:\d\d:\d\d:\d{3}: ", "TIME ", line) for line in lines(book, "thread3")] == [
        "TIME 12 ms: 200 5 text/html: http://a/x",
        "TIME 9 ms: 404: http://a/y",
    ]
    assert lines(book, "thread3_errors") == []


def test_errors_and_warnings_stand_in_the_error_log(book: LogBook) -> None:
    record = FetcherRecord(book, 0, FakeClock(1_000_000))
    record.add([landed("9 ms: 404: http://a/y", Refused(404, {}, Timing()), error=True)])
    record.add([landed("1 ms: 200", page("x"), warnings=("malformed link", "http://a/x: no title"))])
    assert [line.split(": ", 1)[1] for line in lines(book, "thread0_errors")] == [
        "9 ms: 404: http://a/y",
        "10 ms: http://a/x: malformed link",
        "10 ms: http://a/x: no title",
    ]
    assert len(lines(book, "thread0")) == 2


def test_nothing_ended_is_no_line(book: LogBook) -> None:
    record = FetcherRecord(book, 0, FakeClock())
    record.add([])
    assert lines(book, "thread0") == []


def test_figures(book: LogBook) -> None:
    clock = FakeClock()
    record = FetcherRecord(book, 2, clock)
    assert (record.figures().name, record.figures().state) == ("larm-fetch-2", "idle")
    record.now("getting")
    clock.advance(3)
    record.now("getting")
    clock.advance(2)
    record.add([landed("", page("12345")), landed("", page("123"))])
    found = record.figures()
    assert (found.state, found.since, found.received, found.tasks) == ("getting", 5, 8, 2)
    record.now("storing")
    assert record.figures().since == 0
