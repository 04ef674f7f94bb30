"""A record becomes what a fetch would have brought."""

from __future__ import annotations

import pytest

from larm.config import FetchSettings
from larm.kit.units import ByteSize
from larm.model.outcome import Fetched, Moved, Refused
from larm.store.archive.answers import Answer, outcome_of, wall_of
from larm.store.archive.scanning import Record

FETCH = FetchSettings(page_size=ByteSize(1_000))


def answer(block: bytes, **headers: str) -> Answer:
    given = {"warc-type": "response", "warc-target-uri": "http://a.org/", "warc-date": "2023-11-14T22:13:20Z"}
    return Answer(Record(0, given | {name.replace("_", "-"): value for name, value in headers.items()}, block))


def body_of(block: bytes) -> bytes:
    outcome = outcome_of(answer(block), None, FETCH, 0.0)
    assert isinstance(outcome, Fetched)
    return outcome.body


def test_a_page_with_its_date_and_address() -> None:
    found = answer(b"HTTP/1.1 200 OK\r\nETag: x\r\n\r\nwords", warc_ip_address="192.0.2.1")
    outcome = outcome_of(found, None, FETCH, 0.5)
    assert isinstance(outcome, Fetched)
    assert (outcome.status, outcome.headers, outcome.body) == (200, {"etag": "x"}, b"words")
    assert outcome.exchange is not None
    assert (outcome.exchange.began, outcome.exchange.address) == (1_700_000_000.0, "192.0.2.1")


@pytest.mark.parametrize(
    ("block", "body"),
    [
        (b"HTTP/1.1 200\r\n\r\nno phrase", b"no phrase"),
        (b"HTTP/1.0 200 OK\nA: b\n\nline feeds", b"line feeds"),
        (b"HTTP/2 200 \r\nserver: x\r\n\r\nsecond", b"second"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n", b"abcde"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunks", b"no chunks"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", b"ab"),
        (b"HTTP/1.1 200 OK\r\nX-Crawl-Transfer-Encoding: chunked\r\n\r\n3\r\nabc", b"3\r\nabc"),
    ],
)
def test_odd_forms(block: bytes, body: bytes) -> None:
    assert body_of(block) == body


def test_other_answers() -> None:
    moved = outcome_of(answer(b"HTTP/1.1 301 Moved\r\nLocation: /b\r\n\r\n"), None, FETCH, 0.0)
    assert isinstance(moved, Moved)
    assert moved.location == "/b"
    assert isinstance(outcome_of(answer(b"HTTP/1.1 404 Not Found\r\n\r\ngone"), None, FETCH, 0.0), Refused)


def test_a_resource_is_a_page() -> None:
    outcome = outcome_of(answer(b"text", warc_type="resource", content_type="text/plain"), None, FETCH, 0.0)
    assert isinstance(outcome, Fetched)
    assert (outcome.headers, outcome.body) == ({"content-type": "text/plain"}, b"text")


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 304 Not Modified\r\nETag: y\r\n\r\n", b"HTTP/1.1 200 OK\r\nETag: y\r\n\r\n"])
def test_a_revisit_has_the_payload_of_its_original(head: bytes) -> None:
    original = answer(b"HTTP/1.1 200 OK\r\nETag: x\r\n\r\nwords")
    outcome = outcome_of(answer(head, warc_type="revisit"), original, FETCH, 0.0)
    assert isinstance(outcome, Fetched)
    assert outcome.body == b"words"
    assert outcome.headers["etag"] == ("y" if head.startswith(b"HTTP/1.1 200") else "x")


def test_limits_hold() -> None:
    outcome = outcome_of(answer(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5_000), None, FETCH, 0.0)
    assert isinstance(outcome, Fetched)
    assert (outcome.truncated, outcome.flaw, len(outcome.body)) == (True, "", 1_000)


@pytest.mark.parametrize("why", ["length", "time", "disconnect"])
def test_a_part_of_a_page_is_not_blamed_on_a_limit_of_ours(why: str) -> None:
    found = outcome_of(answer(b"HTTP/1.1 200 OK\r\n\r\nx", warc_truncated=why), None, FETCH, 0.0)
    assert isinstance(found, Fetched)
    assert (found.truncated, found.body) == (True, b"x")
    assert found.flaw.endswith(f"WARC-Truncated: {why}")
    assert found.exchange
    assert found.exchange.truncated == why


@pytest.mark.parametrize("date", ["", "yesterday", "2023-11-14", "0001-01-01T00:00:00Z", "2023-11-14T22:13:20"])
def test_dates_that_are_none(date: str) -> None:
    with pytest.raises(ValueError, match="its date"):
        wall_of(date)


def test_a_status_that_is_none() -> None:
    with pytest.raises(ValueError, match="status line"):
        answer(b"HTTP/1.1 OK\r\n\r\nwords")
