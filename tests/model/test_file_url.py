"""file: URLs: one spelling for each path, and never a way from the web to a file."""

from __future__ import annotations

import os

import ada_url
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.model.file_url import FILES, PLAIN, file_path, file_url
from larm.model.link_memo import LinkMemo
from larm.model.url import BadUrl, OtherScheme, Url, URLNormalizer
from larm.testing.fakes import normalised

NORMALIZER = URLNormalizer(files=True)
WEB = URLNormalizer()

names = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda name: name not in (".", "..")
)
paths = st.lists(names, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


@pytest.mark.parametrize(
    ("text", "access"),
    [
        ("file:///a/b.html", "file:///a/b.html"),
        ("FILE:///a/b c.txt", "file:///a/b%20c.txt"),
        ("file:/a", "file:///a"),
        ("file://localhost/a", "file:///a"),
        ("file:///a/../../b/./c/", "file:///b/c/"),
        ("file:///a/%2e%2E/b", "file:///b"),
        ("file:///%41%7e/%c3%bc", "file:///A~/%C3%BC"),
        ("file:///ü", "file:///%C3%BC"),
        ("file:///a//b", "file:///a/b"),
        ("file:///a?b#c", "file:///a"),
        ("file:///a%3Fb", "file:///a%3Fb"),
        ("file:///a+b/index.html", "file:///a+b/index.html"),
        ("file:///a%2Bb", "file:///a+b"),
        ("file:///100%", "file:///100%25"),
        ("file:", "file:///"),
    ],
)
def test_one_spelling(text: str, access: str) -> None:
    url = NORMALIZER.parse(text)
    assert (url.access, url.normalised, url.host) == (access, access, FILES)
    assert normalised(NORMALIZER, access) == access
    assert (url.origin, url.path_query, url.hostname) == ("file://", access[7:], "")


@pytest.mark.parametrize("text", ["file://host/a", "file://127.0.0.1/a", "file:///a%00b", "file:///a%2f..%2fb", "file:///%2Fa"])
def test_what_is_no_file_of_this_machine(text: str) -> None:
    with pytest.raises(OtherScheme):
        NORMALIZER.parse(text)


@pytest.mark.parametrize(
    ("page", "href", "expected"),
    [
        ("file:///docs/a/b.html", "/x.html", "file:///docs/x.html"),
        ("file:///docs/a/b.html", " /x/../y.html?z#q", "file:///docs/y.html"),
        ("file:///docs/a.html", "/../../y", "file:///docs/y"),
        ("file:///docs/a/b.html", "/docs/y.html", "file:///docs/y.html"),
        ("file:///docs/a/b.html", "x.html", "file:///docs/a/x.html"),
        ("file:///docs/a/b.html", "file:///x.html", "file:///x.html"),
        ("file:///other/b.html", "/x.html", "file:///x.html"),
    ],
)
def test_absolute_path_on_page_below_web_root_leads_below_it(page: str, href: str, expected: str) -> None:
    assert URLNormalizer(files=True, web_roots=["file:///docs/"]).join(page, href).access == expected


@settings(max_examples=300)
@given(paths, st.booleans())
def test_a_path_and_its_url(path: str, folder: bool) -> None:
    path += "/" * folder
    access = file_url(path)
    assert access.isascii()
    assert file_path(access) == path
    if "|" not in path:  # C| means C: there
        assert NORMALIZER.parse(access).access == access
        assert ada_url.normalize_url(access) == access


def test_names_in_no_encoding() -> None:
    """Bytes that are no UTF-8 survive."""
    path = os.fsdecode(b"/a/\xff\xfe.txt")
    assert file_url(path) == "file:///a/%FF%FE.txt"
    assert file_path(file_url(path)) == path


@settings(max_examples=300)
@given(st.from_regex(PLAIN, fullmatch=True))
def test_the_fast_way_says_what_the_standard_says(text: str) -> None:
    slow = WEB.canonical(text)
    assert slow is None
    assert NORMALIZER.canonical(text) == NORMALIZER.join("file:///x", text)


def test_only_a_person_or_a_file_leads_to_a_file() -> None:
    assert NORMALIZER.join("file:///a/b", "c").access == "file:///a/c"
    assert NORMALIZER.join("file:///a/b", "file:///c").access == "file:///c"
    assert NORMALIZER.join("file:///a/b", "http://a.org/c").access == "http://a.org/c"
    for normalizer, base in ((NORMALIZER, "http://a.org/"), (NORMALIZER, "https://a.org/"), (WEB, "file:///a/b")):
        for href in ("file:///etc/passwd", "FILE:/etc/passwd", "file://localhost/etc/passwd"):
            with pytest.raises(OtherScheme):
                normalizer.join(base, href)
    with pytest.raises(OtherScheme):
        WEB.parse("file:///a")


def resolved(memo: LinkMemo, base: str, href: str) -> Url | str | None:
    try:
        return memo.at(base).resolve(href)
    except BadUrl as error:
        return str(error)


HREFS = [
    "x",
    "../x",
    "../../../../x",
    "/x/y",
    "//host/x",
    "",
    "#a",
    "x#a",
    "?q",
    "x?q",
    "file:///e/p",
    "a b",
    "./c:d",
    "c%41",
    "ü",
]


@pytest.mark.parametrize("href", [*HREFS, "http://a.org/", "mailto:x", "file:x", " FILE:///x ", "\\x", ".", ".."])
def test_links_of_files(href: str) -> None:
    """As a plain join finds them, whatever is remembered."""
    memo = LinkMemo(NORMALIZER)
    base = "file:///a/b/c.html"
    clean = href.strip().partition("#")[0]
    try:
        expected = NORMALIZER.join(base, href) if clean and not clean.startswith("mailto") else None
    except BadUrl:
        expected = None
    for _ in range(2):
        assert resolved(memo, base, href) == expected


def test_a_page_on_the_web_can_not_name_a_file() -> None:
    """Not by a link, and not by its base either; also if the same memo knows the file."""
    memo = LinkMemo(NORMALIZER)
    assert resolved(memo, "file:///a/b", "/etc/passwd") == NORMALIZER.parse("file:///etc/passwd")
    for href in ("file:///etc/passwd", "file:/etc/passwd", " \tfi\nle:///etc/passwd", "FILE:///etc/passwd"):
        assert resolved(memo, "http://a.org/", href) is None
