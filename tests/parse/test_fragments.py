"""Places in a page, and links to places."""

from __future__ import annotations

from larm.parse.fragments import fragments


def test_places_and_links() -> None:
    found = fragments(
        b"<base href=/b/><h1 id=one>x</h1><a name=two></a><a href='#three'> A  b </a><a href='p#q:~:text=x'>C</a>"
        b"<a href='#top'>up</a><a href='p#'>empty</a><a href='p#:~:text=y'>text</a><map><area href='p#r'></map>"
    )
    assert found.base == "/b/"
    assert found.places == {"one", "two"}
    assert found.links == (("", "three", "A b"), ("p", "q", "C"), ("p", "r", ""))


def test_no_page_at_all() -> None:
    assert fragments(b"") == ("", frozenset(), ())
