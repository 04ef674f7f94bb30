"""RobotsRules: reading and matching, each rule of RFC 9309 by itself, and against a slow matcher."""

from __future__ import annotations

import gzip
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.frontier.robots.rules import ALLOW_ALL, RobotsRules, Rule


def rules(text: str, token: str = "larm") -> RobotsRules:
    return RobotsRules.parse(text.encode(), token)


def forbidden(text: str) -> list[str]:
    """The Disallow patterns that are for larm."""
    return [rule.pattern for rule in rules(text).rules if not rule.allow]


# -- groups


def test_empty_disallow_forbids_nothing_and_later_groups_are_not_ours() -> None:
    """LARM-59, the vector of the specification."""
    assert forbidden("User-agent: *\nDisallow: /private\nDisallow:\n\nUser-agent: other\nDisallow: /x") == ["/private"]


GROUPS = [
    ("user-AGENT: LaRm\nDISALLOW: /a", ["/a"]),
    ("User-agent: *\nDisallow: /a\nUser-agent: larm\nDisallow: /b", ["/b"]),
    ("User-agent: larm\nDisallow: /b\nUser-agent: *\nDisallow: /a", ["/b"]),
    ("User-agent: larm\nDisallow:\nUser-agent: *\nDisallow: /a", []),
    ("User-agent: larm\nUser-agent: other\nDisallow: /a", ["/a"]),
    ("User-agent: larm\n\nUser-agent: *\nDisallow: /a", ["/a"]),
    ("User-agent: larm\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: larm\nDisallow: /c", ["/a", "/c"]),
    ("User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: *\nDisallow: /c", ["/a", "/c"]),
    ("User-agent: larm/2.1\nDisallow: /a", ["/a"]),
    ("User-agent: larm bot\nDisallow: /a", ["/a"]),
    ("User-agent: larmbot\nDisallow: /a", []),
    ("User-agent: lar\nDisallow: /a", []),
    ("User-agent: *bot\nDisallow: /a", []),
    ("User-agent: * # all\nDisallow: /a", ["/a"]),
    ("Disallow: /a\nUser-agent: *\nDisallow: /b", ["/b"]),
    ("User-agent: other\nSitemap: /s\nUser-agent: larm\nDisallow: /a", ["/a"]),
    ("User-agent: larm\nSitemap: /s\nFoo: bar\nUser-agent: other\nDisallow: /a", ["/a"]),
    ("User-agent: larm\nCrawl-delay: 2\nUser-agent: other\nDisallow: /a", ["/a"]),
    ("", []),
    ("User-agent:\nDisallow: /a", []),
]


@pytest.mark.parametrize(("text", "expected"), GROUPS)
def test_group(text: str, expected: list[str]) -> None:
    """RFC 9309 2.2.1, 2.2.4, LARM-60."""
    assert forbidden(text) == expected


def test_an_empty_token_is_nobody() -> None:
    assert RobotsRules.parse(b"User-agent: 007\nDisallow: /a", "") == ALLOW_ALL


# -- bytes

SPELLINGS = [
    b"User-agent: *\rDisallow: /a",
    b"User-agent: *\r\nDisallow: /a\r\n",
    b"\n\r\n\rUser-agent: *\n\r\rDisallow: /a\r",
    b"\xef\xbb\xbfUser-agent: *\nDisallow: /a",
    "\ufeffUser-agent: *\nDisallow: /a".encode("utf-16-le"),
    "\ufeffUser-agent: *\nDisallow: /a".encode("utf-16-be"),
    "User-agent: *\nDisallow: /a".encode("utf-16-le"),
    b"User-agent: *\0\nDisallow: /a\0",
    gzip.compress(b"User-agent: *\nDisallow: /a", mtime=0),
    gzip.compress(b"User-agent: *\n", mtime=0) + gzip.compress(b"Disallow: /a", mtime=0),
    gzip.compress(b"User-agent: *\nDisallow: /a", mtime=0)[:-8] + bytes(8),
    gzip.compress(b"User-agent: *\nDisallow: /a\n" + random.Random(1).randbytes(1000))[:-700],
    b" \tUser-agent : *\n\x0bDisallow\t:/a \t",
    b"User-agent: *\nDisallow: /a#b",
    b"User-agent *\nDisallow /a",
    b"User-agent *\nDisallow /a # b",
    b"User agent: *\nDisalow: /a",
    b"useragent: *\nDissallow: /a",
    b"User-agent: *\nDisallaw: /a",
    b"User-agent: *\nDiasllow: /a",
    b"User-agent: *\nDisallow: /a\nDisallow\n: /b\nDisallow /c d\nDis allow: /e\n#Disallow: /f",
    b"User-agent: *\nDisallow: /a\n\xff\xfe\xfd: \x80\n<html>Disallow: /b",
    b"User-agent: *\xa0\nDisallow: /a",
]


@pytest.mark.parametrize("body", SPELLINGS)
def test_spelling(body: bytes) -> None:
    """Line ends, byte order marks, blanks, comments and common slips."""
    assert [rule.pattern for rule in RobotsRules.parse(body, "larm").rules] == ["/a"]


def test_what_is_packed_has_the_same_limit() -> None:
    bomb = gzip.compress(b"User-agent: *\nDisallow: /a\n" + b"#" * 50_000_000 + b"\nDisallow: /b", mtime=0)
    assert len(bomb) < 100_000
    assert [rule.pattern for rule in RobotsRules.parse(bomb, "larm").rules] == ["/a"]
    assert RobotsRules.parse(b"\x1f\x8bnot at all", "larm") == ALLOW_ALL


def test_an_endless_line_is_cut() -> None:
    pattern = forbidden("User-agent: *\nDisallow: /" + "a" * 100_000)[0]
    assert 16_000 < len(pattern) < 17_000


def test_lines_are_counted_as_an_editor_does() -> None:
    verdict = rules("# one\r\n\r\nUser-agent: *\rAllow: /x\nDisallow: /").verdict("/a")
    assert verdict == Rule(allow=False, pattern="/", line=5)


def test_pattern_is_kept_as_written_in_ascii() -> None:
    assert forbidden("User-agent: *\nDisallow: /été/%7eX*$") == ["/%C3%A9t%C3%A9/%7eX*$"]


# -- Crawl-delay and Sitemap


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("User-agent: *\nCrawl-delay: 10", 10.0),
        ("User-agent: *\nCrawl-delay: 0.5 # half", 0.5),
        ("User-agent: *\ncrawldelay: .5", 0.5),
        ("User-agent: *\nCrawl-delay: 0", 0.0),
        ("User-agent: *\nCrawl-delay: 2\nCrawl-delay: 5\nCrawl-delay: 3", 5.0),
        ("User-agent: *\nCrawl-delay: 9\nUser-agent: larm\nCrawl-delay: 1", 1.0),
        ("User-agent: *\nCrawl-delay: 9\nUser-agent: larm\nDisallow: /a", None),
        ("User-agent: larm\nCrawl-delay: 1\nUser-agent: x\nCrawl-delay: 7\nDisallow: /", 1.0),
        ("User-agent: x\nCrawl-delay: 7\nUser-agent: larm\nDisallow: /", None),
        ("User-agent: larm\nUser-agent: x\nDisallow: /\nCrawl-delay: 7", 7.0),
        ("Crawl-delay: 7\nUser-agent: *\nDisallow: /", None),
        ("User-agent: *\nDisallow: /\nUser-agent: x\nCrawl-delay: 7", None),
        *(
            (f"User-agent: *\nCrawl-delay: {bad}", None)
            for bad in ("-1", "inf", "nan", "1e9", "0x1", "0,5", "a", "", "1_0", "9" * 400)
        ),
    ],
)
def test_crawl_delay(text: str, seconds: float | None) -> None:
    """LARM-61: for the agents right above it, from our group alone."""
    assert rules(text).crawl_delay == seconds


def test_sitemaps_are_for_all() -> None:
    text = "Sitemap: http://a/s.xml\nUser-agent: x\nSite-map: /é.xml\nDisallow: /\nsitemap: http://a/s.xml\nSitemap:"
    assert rules(text).sitemaps == ("http://a/s.xml", "/é.xml")


def test_all_sitemaps_count() -> None:
    assert len(rules("".join(f"Sitemap: /{n}\n" for n in range(3_000))).sitemaps) == 3_000


# -- matching


@pytest.mark.parametrize(
    ("lines", "path", "allowed"),
    [
        ("Disallow: /", "/", False),
        ("Disallow: /", "", False),
        ("Disallow: /a", "/a", False),
        ("Disallow: /a", "/ab?c", False),
        ("Disallow: /a", "/A", True),
        ("Disallow: /a/", "/a", True),
        ("Disallow: a", "/a", True),
        ("Disallow: /?q", "?q=1", False),
        ("Disallow: /a\nAllow: /ab", "/abc", True),
        ("Allow: /ab\nDisallow: /a", "/ac", False),
        ("Disallow: /a\nAllow: /a", "/a", True),
        ("Allow: /a\nDisallow: /a", "/a", True),
        ("Disallow: /a\nAllow: /*", "/ab", True),
        ("Disallow: /ab\nAllow: /*", "/ab", False),
        ("Disallow: /a\nDisallow: /ab\nAllow: /abc\nDisallow: /abcd", "/abcx", True),
        ("Disallow: /a\nDisallow: /abc", "/abb", False),
        ("Disallow: /b\nDisallow: /d", "/c", True),
        ("Disallow: /*.gif$", "/x/y.gif", False),
        ("Disallow: /*.gif$", "/x/y.gif?z", True),
        ("Disallow: /*.gif", "/x/y.gif?z", False),
        ("Disallow: /a$", "/a", False),
        ("Allow: /a\nDisallow: /a$", "/a", False),
        ("Disallow: /a$", "/a$", True),
        ("Disallow: /a$b", "/a$bc", False),
        ("Disallow: /a*b$", "/abb", False),
        ("Disallow: /ab*b$", "/ab", True),
        ("Disallow: *", "/a", False),
        ("Disallow: $", "/", True),
        ("Disallow: /a**", "/a", False),
        ("Disallow: /x*$", "/xy", False),
        ("Disallow: /*x*y*z", "/axbycz", False),
        ("Disallow: /*x*y*z", "/axbzcy", True),
        ("Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz", False),
        ("Disallow: /~joe", "/%7Ejoe", False),
        ("Disallow: /%7ejoe", "/~joe", False),
        ("Disallow: /ツ", "/%e3%83%84", False),
        ("Disallow: /%e3%83%84", "/ツ", False),
        ("Disallow: /a%2fb", "/a%2Fb", False),
        ("Disallow: /a%2fb", "/a/b", True),
        ("Disallow: /my file", "/my%20file", False),
        ("Disallow: /a%2A", "/a*", False),
        ("Disallow: /a%2A", "/ab", True),
        ("Disallow: /a%24", "/a$b", False),
        ("Disallow: /a%zz%", "/a%zz%", False),
        ("Disallow: /", "/robots.txt", True),
        ("Disallow: /", "/%72obots.txt", True),
        ("Disallow: /", "/robots.txt?a", False),
        ("Disallow: /", "/a/robots.txt", False),
    ],
)
def test_match(lines: str, path: str, allowed: bool) -> None:
    """RFC 9309 2.2.2 and 2.2.3."""
    assert rules("User-agent: *\n" + lines).allows(path) is allowed


def test_latin_1_patterns_match_latin_1_urls() -> None:
    assert not RobotsRules.parse(b"User-agent: *\nDisallow: /caf\xe9", "larm").allows("/caf%E9/menu")


def test_constants() -> None:
    assert ALLOW_ALL.verdict("/a") is None


def test_rules_survive_storing() -> None:
    """The search structure is not stored, and built anew."""
    before = rules("User-agent: *\nDisallow: /é*b$\nAllow: /a\nCrawl-delay: 2\nSitemap: /s")
    assert not before.allows("/é/b")
    after = msgspec.msgpack.decode(msgspec.msgpack.encode(before), type=RobotsRules)
    assert after == before
    assert not after.allows("/%C3%A9/b")


# -- hostile files


class CountingPath(str):
    """A path that counts how often it is searched."""

    searched = 0

    def find(self, *args: Any) -> int:
        type(self).searched += 1
        return super().find(*args)


@pytest.mark.parametrize("pattern", ["*a" * 8_000 + "b", "/" + "*a*a*a*a*" * 100 + "b$", "*" * 16_000 + "b"])
def test_hostile_stars_cost_one_search_a_piece(pattern: str) -> None:
    """A path is never searched more often than it has characters."""
    CountingPath.searched = 0
    path = CountingPath("/" + "a" * 400)
    assert rules(f"User-agent: *\nDisallow: {pattern}").allows(path)
    assert CountingPath.searched <= len(path) + 1


def test_a_hundred_thousand_rules() -> None:
    many = rules("User-agent: *\n" + "".join(f"Disallow: /dir{number}/\nAllow: /dir{number}/x\n" for number in range(50_000)))
    assert len(many.rules) == 100_000
    assert not many.allows("/dir49999/a")
    assert many.allows("/dir49999/xyz")
    assert many.allows("/dir50000/")


def test_a_chain_of_prefixes() -> None:
    text = "User-agent: *\n" + "".join(f"Disallow: /{'a' * length}\n" for length in range(1, 1_000))
    verdict = rules(text).verdict("/" + "a" * 500 + "b")
    assert verdict is not None
    assert len(verdict.pattern) == 501


# -- properties


@settings(max_examples=300)
@given(
    st.one_of(
        st.binary(),
        st.lists(
            st.sampled_from(
                [
                    b"User-agent:",
                    b"disallow",
                    b"Allow: ",
                    b"Crawl-delay: ",
                    b"Sitemap:",
                    b"*",
                    b"$",
                    b"%",
                    b"/",
                    b"larm",
                    b" ",
                    b":",
                    b"#",
                    b"\r",
                    b"\n",
                    b"\0",
                    b"\xff\xfe",
                    b"\xef\xbb\xbf",
                    b"\xe9",
                    b"1e999",
                    b"\xd8\x00",
                ]
            )
        ).map(b"".join),
    ),
    st.text(),
)
def test_any_bytes_and_any_path_will_do(body: bytes, path: str) -> None:
    found = RobotsRules.parse(body, "larm")
    msgspec.msgpack.encode(found)
    assert found.allows(path) in (True, False)


UNITS = ["/", "a", "b", "?", "%2F", "%2f", "%61", "%C3%A9", "%c3%a9", "é", "%24", "%2A", "%7B", "{"]
PATTERNS = st.lists(st.sampled_from([*UNITS, "*", "$", "**"]), max_size=8).map(lambda units: "/" + "".join(units))
PATHS = st.lists(st.sampled_from([*UNITS, "*", "$"]), max_size=10).map(lambda units: "/" + "".join(units))
SAME = {"%61": "a", "%2f": "%2F", "%c3%a9": "%C3%A9", "é": "%C3%A9", "%7B": "{"}


def spelt(text: str) -> str:
    for other, one in SAME.items():
        text = text.replace(other, one)
    return text


def slow_match(pattern: str, path: str) -> int:
    """Length of the pattern if it matches, -1 otherwise: all ways to read the stars are tried, one character at a time."""
    pattern, path = (spelt(text) for text in (pattern, path))
    path = path.replace("%2A", "\x01").replace("*", "\x01").replace("%24", "\x02").replace("$", "\x02")
    end = pattern.endswith("$")
    body = (pattern[:-1] if end else pattern).replace("%2A", "\x01").replace("%24", "\x02").replace("$", "\x02")
    places = {0}
    for sign in body:
        if sign == "*":
            places = {later for place in places for later in range(place, len(path) + 1)}
        else:
            places = {place + 1 for place in places if path[place : place + 1] == sign}
    return len(body) + end if (len(path) in places if end else places) else -1


@settings(max_examples=400)
@given(st.lists(st.tuples(st.booleans(), PATTERNS), min_size=1, max_size=8), PATHS)
def test_verdict_is_that_of_a_slow_matcher(lines: list[tuple[bool, str]], path: str) -> None:
    text = "User-agent: *\n" + "".join(f"{'Allow' if allow else 'Disallow'}: {pattern}\n" for allow, pattern in lines)
    strengths = [(slow_match(pattern, path), allow) for allow, pattern in lines]
    length, allow = max(strengths)
    verdict = rules(text).verdict(path)
    if length < 0:
        assert verdict is None
    else:
        assert verdict is not None
        assert (length, allow) == (slow_match(verdict.pattern, path), verdict.allow)
        assert lines[verdict.line - 2][0] == verdict.allow
