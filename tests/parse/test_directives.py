"""What a page and its headers ask of crawlers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.parse.directives import Robots, is_for_us, of_header, of_meta

NOINDEX, NOFOLLOW, NONE = Robots(indexed=False), Robots(follow=False), Robots(indexed=False, follow=False)
JUNE_25 = 1277478000.0  # 2010-06-25 15:00:00 UTC


@pytest.mark.parametrize(
    ("content", "rules"),
    [
        ("noindex", NOINDEX),
        ("NoFollow", NOFOLLOW),
        ("noindex,nofollow", NONE),
        ("noindex nofollow", NONE),
        ("noindex; nofollow", NONE),
        ("none", NONE),
        ("all", Robots()),
        (" index , follow", Robots()),
        ("noindexing", Robots()),
        ("", Robots()),
        ("noarchive", Robots(archive=False)),
        ("nocache", Robots(archive=False)),
        ("nosnippet", Robots(snippet=0)),
        ("max-snippet:-1, max-image-preview:none, max-video-preview: -1", Robots()),
        ("max-snippet: 50, max-snippet:20", Robots(snippet=20)),
        ("max-snippet:50, nosnippet", Robots(snippet=0)),
        ("max-snippet: 99999999999999999999", Robots(snippet=999_999_999)),
        ("unavailable_after: 25 Jun 2010 15:00:00 GMT, nofollow", Robots(follow=False, until=JUNE_25)),
        ("unavailable_after: Friday, 25-Jun-10 15:00:00 UTC", Robots(until=JUNE_25)),
        ("unavailable_after: 25-Jun-2010 08:00:00 PDT", Robots(until=JUNE_25)),
        ("noindex, unavailable_after: 2010-06-25T15:00:00Z", Robots(indexed=False, until=JUNE_25)),
        ("unavailable_after: 2010-06-25 17:00:00+02:00", Robots(until=JUNE_25)),
        ("unavailable_after: 2010-06-25", Robots(until=JUNE_25 - 15 * 3600)),
        ("unavailable_after: one day", Robots()),
        ("googlebot: noindex", NOINDEX),  # only a header has names
    ],
)
def test_meta_robots(content: str, rules: Robots) -> None:
    assert of_meta(content) == rules


@pytest.mark.parametrize(
    ("header", "rules"),
    [
        ("noindex", NOINDEX),
        ("otherbot: noindex, nofollow", Robots()),
        ("nofollow, otherbot: noindex", NOFOLLOW),
        ("larm: noindex", NOINDEX),
        ("LARM: noindex", NOINDEX),
        ("larmbot: noindex", Robots()),
        ("*: noindex", NOINDEX),
        ("otherbot: nofollow, larm: none", NONE),
        ("otherbot: nofollow\nnoindex", NOINDEX),
        ("max-snippet: 5, noindex", Robots(indexed=False, snippet=5)),
        ("otherbot: unavailable_after: 25 Jun 2010 15:00:00 GMT", Robots()),
        ("unavailable_after: 25 Jun 2010 15:00:00 GMT, nofollow", Robots(follow=False, until=JUNE_25)),
    ],
)
def test_x_robots_tag(header: str, rules: Robots) -> None:
    assert of_header(header, "larm") == rules


@pytest.mark.parametrize(
    ("name", "ours"),
    [("robots", True), ("ROBOTS ", True), ("robot", True), ("larm", True), ("Larm", True), ("googlebot", False)],
)
def test_whose_rules_a_meta_holds(name: str, ours: bool) -> None:
    assert is_for_us(name, "larm") is ours


def test_the_strictest_rule_wins() -> None:
    one = of_meta("noindex, max-snippet: 9, unavailable_after: 2010-06-25")
    other = of_header("nofollow, max-snippet: 50, noarchive", "larm")
    assert one.also(other) == other.also(one) == Robots(False, False, False, 9, JUNE_25 - 15 * 3600)


@settings(max_examples=100)
@given(st.text(alphabet="noindex,:;- 0123456789_abcunavailable_after*\n"))
def test_any_text_has_rules(text: str) -> None:
    assert of_header(text, "larm").also(of_meta(text)) is not None
