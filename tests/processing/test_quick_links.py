"""The compiled search for links finds what the plain one finds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.config import Processing
from larm.model.link_memo import LinkMemo
from larm.model.links import MAX_BYTES
from larm.model.url import Url, URLNormalizer
from larm.processing import links
from larm.processing.links import LinkFinder, PageFinder, find
from larm.processing.page import Element
from larm.processing.regular import find_links, read_regular

needs_it = pytest.mark.skipif(find_links is None, reason="there was no C compiler")

hrefs = st.sampled_from(
    ["x", "x#part", "#part", "", "../y?q", "http://b.localhost/z", "//[::bad", "http://", "data:x", "ü", "mailto:a"]
)
plain = st.text(st.characters(min_codepoint=32, max_codepoint=0x17F, exclude_characters="<&"), max_size=12)
texts = st.one_of(plain, st.sampled_from(["t" * 250, "t " * 100 + "t", " a\t\n b\f", "a\x1fb \x1c", "\x01", "a\x7f"]))
more = st.sampled_from(["", " rel=nofollow", " title=x", " rel"])
charsets = st.sampled_from(["", "windows-1252"])
words = st.one_of(st.sampled_from(["Text", " Text\n", "", "t" * 250, "\x1b\u202e", "\ud800", "Zürich"]), st.text(max_size=12))
values = st.dictionaries(
    st.sampled_from(["href", "src", "rel", "xlink:href", "alt", "data", "as", "type"]),
    st.one_of(hrefs, st.sampled_from(["nofollow", "NoFollow me", "stylesheet", "preconnect"]), st.none()),
)
elements = st.lists(
    st.tuples(st.sampled_from(["a", "a", "a", "img", "link", "area", "iframe", "object", "refresh"]), values, words)
)
settings = st.builds(Processing, follow_embedded=st.booleans(), nofollow=st.booleans())


def _page(settings: Processing | None = None, charset: str = "", *, follow: bool = True) -> PageFinder:
    memo = LinkMemo(URLNormalizer())
    return PageFinder(LinkFinder(settings or Processing()), memo.at("http://a.localhost/dir/page.html"), follow, charset)


def _both(found: Sequence[Element], one: PageFinder, other: PageFinder) -> None:
    assert find_links is not None
    for _ in range(2):  # the second time much is known
        quick = find_links(found, one)
        assert quick is None or quick == find(found, other)
    assert one.malformed == other.malformed


@needs_it
@given(elements, settings, st.booleans(), charsets)
def test_both_find_the_same(found: list[Element], settings: Processing, follow: bool, charset: str) -> None:
    _both(found, _page(settings, charset, follow=follow), _page(settings, charset, follow=follow))


@needs_it
@given(
    st.lists(st.tuples(hrefs, st.sampled_from(["", " rel=nofollow", " title=x"]), texts)), st.sampled_from(["", "windows-1252"])
)
def test_both_find_the_same_in_a_page_of_which_nobody_has_made_objects(found: list[tuple[str, str, str]], charset: str) -> None:
    body = "".join(f'<p><a href="{href}"{more}>{text}</a><img src=y></p>' for href, more, text in found)
    reading = read_regular(f"<!DOCTYPE html><html><head></head><body>{body}</body></html>".encode(), text=False)
    assert reading is not None
    assert len(reading.elements) == len(list(reading.elements))
    _both(reading.elements, _page(charset=charset), _page(charset=charset))


@needs_it
def test_an_address_that_is_no_unicode_is_left_to_the_other() -> None:
    """The normaliser makes none."""
    assert find_links is not None
    page = _page()
    page.hrefs["x"] = Url("http://a.localhost/\ud800", "http://a.localhost/", "a.localhost", 1)
    assert find_links([("a", {"href": "x"}, "X")], page) is None
    assert len(find([("a", {"href": "x"}, "X")], page)[0]) == 1


@pytest.mark.parametrize("search", [find, pytest.param(find_links, marks=needs_it)])
def test_what_links_take_is_bounded(monkeypatch: pytest.MonkeyPatch, search: Any) -> None:
    """A long ``<base>`` makes long addresses of short ones."""
    page = PageFinder(LinkFinder(Processing()), LinkMemo(URLNormalizer()).at(f"http://a.localhost/{'x' * 90_000}/"), True, "")
    found, _ = search([("a", {"href": f"{number}"}, "") for number in range(300)], page)
    assert len(found) == MAX_BYTES // (2 * 90_020)
    assert found.size < 2 * MAX_BYTES
    assert list(page.malformed.values()) == [
        f"addresses of links of more than 20 MB; those after the first {len(found)} are ignored"
    ]


@needs_it
@pytest.mark.parametrize(
    "written", ["p. {:04}", "chapter {:04}.12", "fn_{:04}", "{:07}", "function {:06}", "{:06}", "{}", "{:016}"]
)
def test_numbers_are_not_alike(written: str) -> None:
    """No page of footnotes is taken for one that means ill."""
    assert find_links is not None
    texts: list[Element] = [("a", {"href": "x"}, written.format(number)) for number in range(5_000)]
    hrefs: list[Element] = [("a", {"href": written.format(number)}, "") for number in range(5_000)]
    for some in (texts, hrefs):
        found = find_links(some, _page())
        assert found is not None
        assert len(found[0]) == 5_000


def _hash(text: bytes, seed: int) -> int:
    """That of ``links.pxi``."""
    mixed, many = seed ^ len(text), (1 << 64) - 1
    for at in range(0, len(text) - 7, 8):
        mixed = (mixed ^ int.from_bytes(text[at : at + 8], "little")) * 0x9E3779B97F4A7C15 & many
        mixed ^= mixed >> 32
    rest = text[len(text) // 8 * 8 :]
    mixed = (mixed ^ int.from_bytes(rest, "little")) * 0x9E3779B97F4A7C15 & many
    mixed = (mixed ^ mixed >> 32) * 0xC2B2AE3D27D4EB4F & many
    return mixed ^ mixed >> 29


def _alike(seed: int, number: int, bits: int = 11) -> list[str]:
    """Texts that want the same place in a table."""
    found = (f"{each:x}" for each in count() if not _hash(f"{each:x}".encode(), seed) & ((1 << bits) - 1))
    return list(islice(found, number))


SEED = 0x811C9DC5


@needs_it
def test_addresses_that_are_made_to_be_alike() -> None:
    """They are found, and the time stays what it is."""
    found: list[Element] = [("a", {"href": href}, "") for href in _alike(SEED, 400)]
    _both(found, _page(), _page())


@needs_it
def test_texts_that_are_made_to_be_alike() -> None:
    assert find_links is not None
    seed = _hash(b"http://a.localhost/dir/x", SEED)
    found: list[Element] = [("a", {"href": "x"}, text) for text in _alike(seed, 400)]
    assert find_links(found, _page()) is None, "left to the other"
    assert len(find_links(found[:100], _page())[0]) == 100
    finder = LinkFinder(Processing())
    assert len(finder.find(found, LinkMemo(URLNormalizer()).at("http://a.localhost/"), follow=True).links) == 400


def test_the_plain_one_counts_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "find_links", None)
    finder = LinkFinder(Processing())
    found = finder.find([("a", {"href": "x"}, " A ")], LinkMemo(URLNormalizer()).at("http://a.localhost/"), follow=True)
    assert [(link.url.access, link.anchor) for link in found.links] == [("http://a.localhost/x", "A")]
