"""Header lines, as libcurl hands them over, and Retry-After."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.fetch.classify import is_success, parse_headers, parse_retry_after

OK = b"HTTP/1.1 200 OK\r\n"
END = b"\r\n"


def test_names_are_lower_case_and_repeated_fields_joined() -> None:
    lines = [OK, b"Content-Type: text/html \r\n", b"Vary: Accept\r\n", b"vary:Cookie\r\n", END]
    assert parse_headers(lines) == ({"content-type": "text/html", "vary": "Accept, Cookie"}, True)


def test_a_name_in_x_robots_tag_holds_for_one_header() -> None:
    lines = [OK, b"X-Robots-Tag: otherbot: none\r\n", b"x-robots-tag:nofollow\r\n", END]
    assert parse_headers(lines) == ({"x-robots-tag": "otherbot: none\nnofollow"}, True)


def test_interim_answers_and_trailers_are_left_out() -> None:
    lines = [b"HTTP/1.1 103 Early Hints\r\n", b"Link: </x>\r\n", END, OK, b"A: b\r\n", END, b"Trailer: t\r\n"]
    assert parse_headers(lines) == ({"a": "b"}, True)


def test_bare_line_feeds_are_as_good() -> None:
    assert parse_headers([b"HTTP/1.0 200 OK\n", b"A: b\n", b"\n"]) == ({"a": "b"}, True)


@pytest.mark.parametrize("lines", [[], [OK], [OK, b"A: b\r\n"], [b"HTTP/1.1 100 Continue\r\n", END, OK]])
def test_a_block_without_its_blank_line_is_not_complete(lines: list[bytes]) -> None:
    assert not parse_headers(lines)[1]


def test_no_control_character_survives() -> None:
    headers, _ = parse_headers([OK, b"A: red\x1b[31m\x07 \xc2\x9bx\x00y\r\n", b"B: 1\rC: 2\r\n", END])
    assert headers == {"a": "red [31m   x y", "b": "1 C: 2"}


@pytest.mark.parametrize(("raw", "text"), [(b"/caf\xc3\xa9", "/café"), (b"/caf\xe9", "/café"), (b"/caf%C3%A9", "/caf%C3%A9")])
def test_raw_bytes_are_utf8_or_else_latin1(raw: bytes, text: str) -> None:
    assert parse_headers([OK, b"Location: " + raw + b"\r\n", END])[0]["location"] == text


def test_all_fields_count() -> None:
    """libcurl bounds them. The last one may be a link that stands nowhere else."""
    many = [OK, *(b"A%d: b\r\n" % number for number in range(10_000)), b"Link: </last>\r\n", END]
    assert parse_headers(many)[1]
    assert parse_headers(many)[0]["link"] == "</last>"
    long = [OK, *(b"A: " + b"x" * 1000 + b"\r\n" for _ in range(300)), END]
    assert parse_headers(long) == ({"a": ", ".join(["x" * 1000] * 300)}, True)


@pytest.mark.parametrize(
    ("lines", "success"),
    [
        ([OK], True),
        ([b"HTTP/2 206 \r\n"], True),
        ([b"HTTP/1.1 300 Multiple Choices\r\n"], True),
        ([b"HTTP/1.1 301 Moved\r\n"], False),
        ([b"HTTP/1.1 404 Not Found\r\n"], False),
        ([b"HTTP/1.1 100 Continue\r\n", END, OK, b"A: b\r\n", END], True),
        ([b"HTTP/1.1 103 Early Hints\r\n", END, b"HTTP/1.1 503 Busy\r\n", END], False),
        ([], False),
    ],
)
def test_success_is_seen_in_the_last_status_line(lines: list[bytes], success: bool) -> None:
    assert is_success(lines) is success


NOVEMBER_1994 = 784111777.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60.0),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60.0),
        ("Sun Nov  6 08:50:37 1994", 60.0),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0.0),
        ("9" * 400, 1e9),
        ("Sun, 06 Nov 9994 08:50:37 GMT", 1e9),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("Sun, 99 Nov 1994 08:50:37 GMT", None),
        ("\N{ARABIC-INDIC DIGIT ONE}", None),
    ],
)
def test_retry_after_in_both_forms(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value, NOVEMBER_1994) == seconds


@settings(max_examples=150)
@given(st.text(max_size=60))
def test_retry_after_takes_any_text(value: str) -> None:
    seconds = parse_retry_after(value, 0.0)
    assert seconds is None or (seconds >= 0 and math.isfinite(seconds))


@settings(max_examples=150)
@given(st.lists(st.binary(max_size=60), max_size=30))
def test_any_bytes_become_clean_headers(lines: list[bytes]) -> None:
    headers, _ = parse_headers(lines)
    assert all(not (char < " " or "\x7f" <= char <= "\x9f") for item in headers.items() for text in item for char in text)


_FIELDS = "A: b|a : c |B:|X-Robots-Tag: none|x-robots-tag: all|no field|: x| : folded|C: ä|E: \x1b\t|HTTP/1.1 200 a: b|"
_LINES = st.sampled_from([OK, b"D: \xff\r\n", b"F: a\n", *(f"{field}\r\n".encode() for field in _FIELDS.split("|"))])
_LINES |= st.just(b"G: " + b"x" * 300 + b"\r\n")


@given(st.lists(_LINES, max_size=8), st.sampled_from([[], [END]]))
def test_ordinary_answers_are_read_line_by_line(lines: list[bytes], end: list[bytes]) -> None:
    """They say what they say when they are read as one text."""
    lines = [OK, *lines, *end]
    assert parse_headers(lines) == parse_headers([b"".join(lines)])
