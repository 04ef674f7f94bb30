"""Every way a transfer can end, and what it means: the table, row by row."""

from __future__ import annotations

import gzip
from typing import Any

import pycurl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.fetch.classify import Ending, classify, trust
from larm.model.outcome import Failed, FailReason, Fetched, Moved, NotModified, Outcome, Refused, Timing

TIMING = Timing(1.5, 7)


def ended(status: int, *fields: str, complete: bool = True, **more: Any) -> Outcome:
    lines = [f"HTTP/1.1 {status} X\r\n".encode(), *(f"{field}\r\n".encode() for field in fields)]
    lines = (lines if status else []) + ([b"\r\n"] if complete and status else [])
    ending = {"status": status, "lines": lines, "body": b"", "timing": TIMING, **more}
    return classify(Ending(**ending), wall=1000.0)


def test_200_is_a_page() -> None:
    outcome = ended(200, "Content-Type: text/html", body=b"abc")
    assert outcome == Fetched(200, {"content-type": "text/html"}, b"abc", TIMING)


def test_200_without_a_body_is_an_empty_page() -> None:
    assert ended(200) == Fetched(200, {}, b"", TIMING)


@pytest.mark.parametrize("status", [203, 206, 226, 299, 300])
def test_other_2xx_are_pages_too(status: int) -> None:
    assert isinstance(ended(status, body=b"x"), Fetched)


@pytest.mark.parametrize("status", [204, 205, 301, 307, 400, 401, 403, 404, 410, 418, 429, 451, 500, 503, 599, 600, 999])
def test_what_is_no_page_is_refused(status: int) -> None:
    assert ended(status, "A: b") == Refused(status, {"a": "b"}, TIMING)


def test_a_body_that_was_stopped_is_truncated() -> None:
    outcome = ended(200, body=b"abc", stopped=True, error=pycurl.E_WRITE_ERROR, message="Failed writing")
    assert outcome == Fetched(200, {}, b"abc", TIMING, truncated=True)


def test_a_body_that_breaks_off_counts_when_no_try_follows() -> None:
    broken: dict[str, Any] = {"error": pycurl.E_PARTIAL_FILE, "message": "end of response with 9 bytes missing"}
    assert isinstance(ended(200, body=b"abc", **broken), Failed)
    outcome = ended(200, body=b"abc", last=True, **broken)
    assert outcome == Fetched(200, {}, b"abc", TIMING, truncated=True, flaw="end of response with 9 bytes missing")
    assert isinstance(ended(200, body=b"", last=True, **broken), Failed)
    whole = gzip.compress(b"abc")
    assert ended(200, "Content-Encoding: gzip", body=whole, limit=1_000, last=True, **broken).flaw == ""
    for nothing in ("identity", "utf-8", "gzip"):  # said of a body that is not packed
        outcome = ended(200, f"Content-Encoding: {nothing}", body=b"abc", limit=1_000, last=True, **broken)
        half = Fetched(200, {"content-encoding": nothing}, b"abc", TIMING, truncated=True, flaw=broken["message"])
        assert outcome == half


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (pycurl.E_RECV_ERROR, "Recv failure: Connection reset by peer"),
        (pycurl.E_RECV_ERROR, "OpenSSL SSL_read: unexpected eof while reading, errno 0"),  # no length, no close_notify
    ],
)
def test_what_came_before_a_connection_broke_counts_when_no_try_follows(error: int, message: str) -> None:
    first = ended(200, body=b"words", error=error, message=message)
    assert isinstance(first, Failed)
    assert first.reason is FailReason.DROPPED, "it is tried again"
    last = ended(200, body=b"words", error=error, message=message, last=True)
    assert last == Fetched(200, {}, b"words", TIMING, truncated=True, flaw=message)
    assert isinstance(ended(200, error=error, message=message, last=True), Failed)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (pycurl.E_OPERATION_TIMEDOUT, "slow"),  # a host that drips for ever would be asked again and again
        (pycurl.E_RECV_ERROR, "Malformed encoding found in chunked-encoding"),
        (8, "NUL byte in header"),
        (92, "HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)"),
    ],
)
def test_what_is_no_http_or_too_slow_is_no_page(error: int, message: str) -> None:
    assert isinstance(ended(200, body=b"words", last=True, error=error, message=message), Failed)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (pycurl.E_PARTIAL_FILE, "end of response with 9 bytes missing"),
        (pycurl.E_RECV_ERROR, "OpenSSL SSL_read: unexpected eof while reading, errno 0"),
    ],
)
def test_a_page_with_its_end_tag_is_whole_whatever_its_length(error: int, message: str) -> None:
    """Each page of such a server was asked for three times, and again by each run."""
    body = b"<html>words</HTML>\r\n\n"
    assert ended(200, body=body, error=error, message=message) == Fetched(200, {}, body, TIMING)
    assert isinstance(ended(200, body=body + b"<!-- by", error=error, message=message), Failed)


def test_how_to_trust_a_certificate_is_said_where_that_is_what_is_wrong() -> None:
    """Not where who listens there speaks no TLS: no setting helps then."""
    for error, helps in ((pycurl.E_PEER_FAILED_VERIFICATION, True), (pycurl.E_SSL_CONNECT_ERROR, False)):
        outcome = ended(0, error=error, message="words")
        assert isinstance(outcome, Failed)
        assert outcome.reason is FailReason.TLS
        assert outcome.detail == "words" + "; fetch.insecure_hosts trusts it all the same" * helps


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 300])
def test_3xx_with_a_location_has_moved(status: int) -> None:
    assert ended(status, "Location: ../b?c=d") == Moved(status, "../b?c=d", TIMING)


@pytest.mark.parametrize("fields", [(), ("Location:",), ("Location:  ",)])
def test_3xx_to_nowhere_is_refused(fields: tuple[str, ...]) -> None:
    assert isinstance(ended(302, *fields), Refused)


def test_304_is_not_modified_whatever_its_location() -> None:
    assert ended(304, "ETag: x", "Location: /y") == NotModified({"etag": "x", "location": "/y"}, TIMING)


def test_retry_after_travels_with_the_refusal() -> None:
    outcome = ended(503, "Retry-After: Thu, 01 Jan 1970 00:17:40 GMT")
    assert isinstance(outcome, Refused)
    assert outcome.retry_after == 60.0


@pytest.mark.parametrize(
    ("error", "message", "reason"),
    [
        (pycurl.E_OPERATION_TIMEDOUT, "Operation timed out", FailReason.TIMEOUT),
        (pycurl.E_COULDNT_RESOLVE_HOST, "Could not resolve host: x", FailReason.UNRESOLVED),
        (pycurl.E_COULDNT_CONNECT, "Could not connect to server", FailReason.CONNECT),
        (pycurl.E_PARTIAL_FILE, "end of response with 90 bytes missing", FailReason.DROPPED),
        (pycurl.E_GOT_NOTHING, "Empty reply from server", FailReason.DROPPED),
        (pycurl.E_RECV_ERROR, "Recv failure: Connection reset by peer", FailReason.DROPPED),
        (pycurl.E_RECV_ERROR, "Too large response headers: 308159 > 307200", FailReason.PROTOCOL),
        (pycurl.E_RECV_ERROR, "chunk hex-length char not a hex digit: 0x49", FailReason.PROTOCOL),
        (pycurl.E_SEND_ERROR, "Send failure: Broken pipe", FailReason.DROPPED),
        (pycurl.E_SSL_CONNECT_ERROR, "TLS connect error", FailReason.TLS),
        (pycurl.E_PEER_FAILED_VERIFICATION, "self-signed certificate", FailReason.TLS),
        (pycurl.E_UNSUPPORTED_PROTOCOL, "Received HTTP/0.9 when not allowed", FailReason.PROTOCOL),
        (8, "NUL byte in header", FailReason.PROTOCOL),
        (100, "", FailReason.PROTOCOL),
        (92, "HTTP/2 stream 1 was not closed cleanly", FailReason.PROTOCOL),
        (pycurl.E_BAD_CONTENT_ENCODING, "incorrect data check", FailReason.CONTENT),
        (pycurl.E_WRITE_ERROR, "Failed writing received data", FailReason.CONTENT),
        (pycurl.E_URL_MALFORMAT, "URL rejected: Bad hostname", FailReason.URL),
    ],
)
@pytest.mark.parametrize("status", [0, 200])
def test_errors_have_their_reason(error: int, message: str, reason: FailReason, status: int) -> None:
    outcome = ended(status, error=error, message=message)
    assert outcome == Failed(reason, (message or "a header of more than 100 KB") + trust(error), TIMING)


def test_an_error_in_the_body_of_a_404_changes_nothing() -> None:
    assert isinstance(ended(404, error=pycurl.E_BAD_CONTENT_ENCODING, message="bad gzip"), Refused)
    assert isinstance(ended(302, "Location: /a", error=pycurl.E_PARTIAL_FILE), Moved)
    assert isinstance(ended(404, error=pycurl.E_WRITE_ERROR, stopped=True), Refused)


def test_headers_that_broke_off_are_no_answer() -> None:
    assert isinstance(ended(404, complete=False, error=pycurl.E_PARTIAL_FILE, message="x"), Failed)


def test_a_final_answer_must_come() -> None:
    assert isinstance(ended(101), Failed)
    assert isinstance(ended(0), Failed)


def test_a_private_address_is_told_from_a_refused_connection() -> None:
    unopened = (FailReason.PRIVATE, "x is at 10.0.0.1")
    assert ended(0, error=pycurl.E_COULDNT_CONNECT, message="?", unopened=unopened) == Failed(*unopened, TIMING)
    slow = ended(0, error=pycurl.E_OPERATION_TIMEDOUT, message="slow", unopened=unopened)  # a second, public address
    assert slow == Failed(FailReason.TIMEOUT, "slow", TIMING)


def test_details_are_one_clean_line() -> None:
    outcome = ended(0, error=8, message="bad \x1b[31m\r\n header " + "x" * 1000)
    assert isinstance(outcome, Failed)
    assert outcome.detail.startswith("bad [31m header xxx")
    assert len(outcome.detail) == 300


@settings(max_examples=150)
@given(st.integers(0, 999), st.integers(0, 110), st.lists(st.binary(max_size=40), max_size=8), st.booleans(), st.text())
def test_there_is_an_outcome_for_everything(status: int, error: int, lines: list[bytes], stopped: bool, message: str) -> None:
    ending = Ending(status, lines, [b"x"], TIMING, stopped=stopped, error=error, message=message)
    outcome = classify(ending, wall=0.0)
    if isinstance(outcome, Failed):
        assert outcome.detail.isprintable()
