"""LinkMemo: what it finds is what a plain join finds, only sooner."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.model.link_memo import LinkMemo
from larm.model.url import BadUrl, Url, URLNormalizer

NORMALIZER = URLNormalizer()


def direct(base: str, href: str) -> Url | str | None:
    """The rule without any memory."""
    href = href.partition("#")[0]
    clean = href.strip("".join(map(chr, range(33)))).translate({9: None, 10: None, 13: None})
    if not clean or re.match("(?!https?:)[a-z][a-z0-9+.-]*:", clean, re.IGNORECASE):
        return None
    try:
        return NORMALIZER.join(base, href)
    except BadUrl as error:
        return str(error)


def remembered(memo: LinkMemo, base: str, href: str) -> Url | str | None:
    try:
        return memo.at(base).resolve(href)
    except BadUrl as error:
        return str(error)


@pytest.mark.parametrize(
    ("href", "access"),
    [
        ("x.html", "http://a.org/b/c/x.html"),
        ("./x", "http://a.org/b/c/x"),
        ("../x", "http://a.org/b/x"),
        ("../../../../x", "http://a.org/x"),
        ("..", "http://a.org/b/"),
        ("../..//x", "http://a.org//x"),
        ("/x?y", "http://a.org/x?y"),
        ("//b.org/x", "http://b.org/x"),
        ("/\\b.org/x", "http://b.org/x"),
        ("https://c.org", "https://c.org/"),
        ("HTTP://C.org/d", "http://c.org/d"),
        ("http:x", "http://a.org/b/c/x"),
        ("?x=1", "http://a.org/b/c/d?x=1"),
        ("\t?x=1", "http://a.org/b/c/d?x=1"),
        ("http:", "http://a.org/b/c/d?q=/r/"),
        ("x:y", None),
        ("./x:y", "http://a.org/b/c/x:y"),
        (" x\n.ht\tml ", "http://a.org/b/c/x.html"),
        ("x#y#z", "http://a.org/b/c/x"),
        ("/a b", "http://a.org/a%20b"),
        ("http://u:p@c.org/", "http://c.org/"),
        ("", None),
        (" \t", None),
        ("#", None),
        (" #top", None),
        ("javascript:void(0)", None),
        (" Java\nScript:void(0)", None),
        ("mailto:a@b.c?subject=http://x/", None),
        ("tel:+49", None),
        ("data:text/html,<b>", None),
        ("about:blank", None),
        ("ftp://a.org/", None),
    ],
)
def test_links_of_a_page(href: str, access: str | None) -> None:
    page = LinkMemo(NORMALIZER).at("http://a.org/b/c/d?q=/r/")
    for _ in range(2):
        url = page.resolve(href)
        assert (url.access if url else None) == access


@pytest.mark.parametrize("href", ["http://", "//[", "http://a:b/", "\ud800", "/\ud800", "http://a/\udfff?#x"])
def test_malformed_links_raise_each_time_anew(href: str) -> None:
    page = LinkMemo(NORMALIZER).at("http://a.org/")
    with pytest.raises(BadUrl) as first:
        page.resolve(href)
    with pytest.raises(BadUrl) as second:
        page.resolve(href)
    assert str(first.value) == str(second.value)
    assert first.value is not second.value


def test_pages_share_one_object_per_address() -> None:
    memo = LinkMemo(NORMALIZER)
    found = [
        memo.at("http://a.org/b/c").resolve("../x y"),
        memo.at("http://a.org/d").resolve("/x%20y#1"),
        memo.at("http://b.org/").resolve("http://a.org/x%20y"),
        memo.at("http://a.org/x%20y?z").resolve("http://u@A.org:80/x%20y"),
    ]
    assert found[0] is not None
    assert all(url is found[0] for url in found)


def test_what_leads_to_one_address_from_all_pages_of_a_site_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the links of its menus do."""
    memo = LinkMemo(NORMALIZER)
    hrefs = ("/x?y=1#z", "//c.org/", "http://b.org/d", "https://a.org/ e")
    first = memo.at("http://a.org/b/c")
    found = [first.resolve(href) for href in hrefs]
    second = memo.at("http://a.org/d/e/")
    assert second.site.targets is first.site.targets
    assert second.hrefs.targets is not first.hrefs.targets
    assert all(map(first.keeps, hrefs))
    monkeypatch.setattr(type(second), "_find", None)
    assert [second.resolve(href) for href in hrefs] == found
    assert not second.hrefs


def test_what_depends_on_the_whole_base_is_not_taken_for_another_page() -> None:
    memo = LinkMemo(NORMALIZER)
    for href in ("?x=1", "http:", "http:?x", " ?x y", "\n?x", "?x y", "ht\ntp:?x"):
        for base in ("http://a.org/b", "http://a.org/c?d", "http://a.org/c?e"):
            assert remembered(memo, base, href) == direct(base, href)


def test_a_full_memo_starts_anew() -> None:
    memo = LinkMemo(NORMALIZER, size=10)
    page = memo.at("http://a.org/")
    for number in range(35):
        assert page.resolve(f"/{number}") is not None
        assert page.resolve(f"/ {number}") is not None
        assert page.resolve(f"mailto:{number}") is None
        assert len(memo._urls) <= 10
        assert sum(map(len, memo._hrefs.values())) <= 10


def test_what_the_compiled_reader_remembers_counts_as_well() -> None:
    memo = LinkMemo(NORMALIZER, size=10)
    page = memo.at("http://a.org/")
    page.hold(11)
    assert memo.at("http://a.org/").hrefs is not page.hrefs


def test_directories_without_links_are_bounded_too() -> None:
    memo = LinkMemo(NORMALIZER, size=10)
    for number in range(35):
        memo.at(f"http://a.org/{number}/x")
        assert len(memo._hrefs) <= 10


def test_what_is_long_is_not_kept() -> None:
    """Or a hostile page could fill the memory with links of 100,000 characters."""
    normalizer = URLNormalizer()
    memo = LinkMemo(normalizer)
    page = memo.at("http://a.org/" + "d" * 1_000 + "/")
    for href in ("data:," + "x" * 5_000, "mailto:a", "/ " + "x" * 5_000, "/" + "x" * 5_000, "y", "//" + "h" * 5_000 + "/ "):
        assert remembered(memo, page._base, href) == direct(page._base, href)
    assert not memo._urls
    assert not any(memo._hrefs.values())
    assert not page.keeps("/" + "x" * 5_000)
    assert list(memo._hrefs) == ["http://a.org"]
    assert len(normalizer.keys) == 1


def test_a_base_must_be_a_url() -> None:
    memo = LinkMemo(NORMALIZER)
    with pytest.raises(BadUrl):
        memo.at("http://")
    url = memo.at("http://a.org").resolve("x")
    assert url is not None
    assert url.access == "http://a.org/x"


BASES = st.sampled_from(
    [
        "http://a.org/",
        "http://a.org/b",
        "http://a.org/b/c?d/e",
        "https://a.org:8080/b//c/",
        "http://[::1]/x",
        "http://a.org/?",
        "https://b.org/.",
    ]
)
PIECES = st.sampled_from(
    [*"/?#.:\\@%ab A~&=+", "../", "./", "..", "//", "http:", "https://", "http://a.org/", "http://b.org", "mailto:", "x.html",
     "%2e", "%2E/", "\t", "\n", " ", ":80", "ü", "\ud800", "|", "^", "'", "[", "xn--"]
)  # fmt: skip
HREFS = st.lists(PIECES, max_size=6).map("".join)
SHARED = LinkMemo(NORMALIZER, size=500)


@settings(max_examples=600, derandomize=True)
@given(BASES, HREFS)
def test_the_memo_finds_what_a_join_finds(base: str, href: str) -> None:
    """Against a memo full of earlier examples' answers, first as a miss and then as a hit."""
    expected = direct(base, href)
    assert remembered(SHARED, base, href) == expected
    assert remembered(SHARED, base, href) == expected


@pytest.mark.parametrize("origin", ["http://127.0.0.1:41445", "https://[::1]", "http://xn--4ca.org"])
@pytest.mark.parametrize(
    "href", ["x.html", "../y", "/z/index.html?a=b%26c", "./x/../y", "/a b", "?x", "http://127.0.0.1:41445/x"]
)
def test_links_on_hosts_that_are_no_plain_names(origin: str, href: str) -> None:
    base = f"{origin}/b/c/d"
    assert remembered(LinkMemo(NORMALIZER), base, href) == direct(base, href)
