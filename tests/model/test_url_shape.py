from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from larm.model.url_shape import (
    chosen_pattern,
    form_of,
    generalised,
    numbered,
    parts_of,
    patterns_of,
    repeats,
    without,
    without_echo,
)


@pytest.mark.parametrize(
    ("path", "patterns"),
    [
        ("/", ["/**"]),
        ("/about", ["/**"]),
        ("/calendar/2026/05", ["/calendar/0/0", "/calendar/0/**", "/calendar/**", "/**"]),
        ("/calendar/day/2026-05-01", ["/calendar/day/ID", "/calendar/day/**", "/calendar/**", "/**"]),
        ("/a/b/c/d.html", ["/a/b/c/**", "/a/b/**", "/a/**", "/**"]),
        ("/list?sort=up&page=3", ["/list?page&sort", "/list?*", "*?page&sort", "/**"]),
        ("/x;jsessionid=6E16038CD8F33513?n=1", ["/x?;jsessionid&n", "/x?*", "*?;jsessionid&n", "/**"]),
        ("/commit/0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", ["/commit/ID", "/commit/**", "/**"]),
        ("/%D9%82%D9%84%D9%85/x", ["/%D9%82%D9%84%D9%85/**", "/**"]),  # a word in Arabic letters has no digits
        ("/%E7%AC%AC3%E7%AB%A0", ["/%E7%AC%AC0%E7%AB%A0", "/**"]),
        ("/decade/facade/feedbeef", ["/decade/facade/**", "/decade/**", "/**"]),  # letters alone are words
    ],
)
def test_patterns(path: str, patterns: list[str]) -> None:
    assert [each.text for each in patterns_of(parts_of("http://a.test" + path))] == patterns


def test_a_view_is_narrower_than_its_shape() -> None:
    parts = parts_of("http://a.test/list7?sort=up&page=3&part2=all")
    assert chosen_pattern(parts, {"sort": "up", "part2": "all"})[:2] == ("/list0?page&part0=all&sort=up", 0)
    assert chosen_pattern(parts, {}).text == patterns_of(parts)[0].text


def test_parameters() -> None:
    parts = parts_of("http://a.test/p;v=1/q;w?b=2&a=1;c&&=x")
    assert parts == ("http://a.test", "/p/q", {";v": "1", ";w": "", "b": "2", "a": "1", "c": ""})
    other = parts_of("http://a.test/p/q;w;v=1?c&a=1&b=7")
    assert form_of(without(parts, ["b"])) == form_of(without(other, ["b"])) != form_of(without(parts, ["a"]))


def test_segments_with_digits() -> None:
    parts = parts_of("http://a.test/s-0a1b/news/5.html?x=1")
    assert numbered(parts) == {"/s-0/**": 0, "/*/*/0.html": 2}
    assert without(parts, ["/s-0/**", "x"]) == ("http://a.test", "/news/5.html", {})
    assert without(parts_of("http://a.test/2026"), ["/0"]).path == "/"
    assert numbered(parts_of("http://a.test/aB3x9/(S(x1y2))/y-1-b/z")) == {"/0/**": 0, "/*/(S(0))/**": 1, "/*/*/y-0-b/**": 2}
    assert numbered(parts_of("http://a.test/news/?x=5")) == {}


@pytest.mark.parametrize(
    ("path", "count"),
    [("/", 0), ("/abc/x/x/x/x", 1), ("/img/3/9/2/2/0/img", 2), ("/aaa/bbb/aaa/bbb/aaa/bbb/aaa/", 4), ("/2019/12/12/12/12", 1)],
)
def test_repeated_segments(path: str, count: int) -> None:
    assert repeats(path) == count


@settings(max_examples=100)
@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=60))
@example("?*")
@example("1/**")
@example("%1/%D9%88")
def test_any_address_has_patterns(tail: str) -> None:
    parts = parts_of("http://a.test/" + tail)
    texts = [each.text for each in patterns_of(parts)]
    assert texts[-1] == "/**"
    assert len(set(texts)) == len(texts)
    numbers = re.sub("%[0-9A-Fa-f]{2}", "", generalised(tail))
    assert not any(digit in numbers for digit in "123456789")
    parts_of(tail)


def test_a_text_without_its_own_address() -> None:
    address = "http://a.test/find/x%20y?q=red+shoes&n=1"
    text = "Nothing at /find/x%20y?q=red+shoes&n=1 (/find/x y) for red shoes, page 1"
    assert without_echo(text, address).split() == ["Nothing", "at", "(", ")", "for", ",", "page", "1"]
