"""Where a page points beside its links: refresh, Link headers, canonical and alternate addresses."""

from __future__ import annotations

import pytest

from larm.config import ProcessingSettings
from larm.model.document import Document
from larm.model.link_memo import LinkMemo
from larm.parse.by_mime import processors
from larm.parse.pointers import header_elements, refresh_target
from larm.testing.fakes import message, page
from tests.parse.pages import document, normalizer

HERE = "http://a.localhost"
NOON = 1277467200.0  # 2010-06-25


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("5; url=/x", "/x"),
        ("0;URL='a b' ", "a b"),
        ('3 ; url = "k"z', "k"),
        ("0,/y", "/y"),
        ("0 /z", "/z"),
        (".5;url=q", "q"),
        ("5", ""),
        ("5;", ""),
        ("5url=x", ""),
        ("url=x", ""),
        ("", ""),
    ],
)
def test_refresh(content: str, target: str) -> None:
    assert refresh_target(content) == target


def test_refresh_is_quick_for_anything() -> None:
    assert refresh_target("1" * 500_000 + "x") == ""
    assert refresh_target("1" + " " * 500_000) == ""


def test_link_header() -> None:
    header = '</a>; rel="next x"; title="a, b", <b>, <c>;rel=preload; as=script, </d>; rel=canonical; anchor="#x"'
    assert header_elements(header, "") == [
        ("link", {"rel": "next x", "title": "a, b", "href": "/a"}, ""),
        ("link", {"href": "b"}, ""),
        ("link", {"rel": "preload", "as": "script", "href": "c"}, ""),
    ]


def _canonical(html: str, **headers: str) -> str | None:
    found = document(html, headers=headers).canonical
    return found and found.access.removeprefix(HERE)


@pytest.mark.parametrize(
    ("html", "canonical"),
    [
        ("<link rel=canonical href=/x#part>", "/x"),
        ("<link rel='Canonical foo' href=x>", "/dir/x"),
        ("<link rel=canonical href=/x><link rel=canonical href=/y>", "/x"),
        ("<link rel=canonical><link rel=canonical href=/y>", "/y"),
        ("<link rel=canonical href=/dir/page.html><link rel=canonical href=/y>", None),  # it says that all is well
        ("<link rel=canonical href='#'>", None),
        ("<link rel=canonical href='http://['><link rel=canonical href=/y>", "/y"),
        ("<link rel=canonical href=mailto:x>", None),
        ("<link rel=canonical media=handheld href=/m>", None),
        ("<link rel=alternate href=/y>", None),
        ("<base href=http://b.localhost/z/><link rel=canonical href=x>", "http://b.localhost/z/x"),
        ("<a rel=canonical href=/x>", None),
    ],
)
def test_canonical(html: str, canonical: str | None) -> None:
    assert _canonical(html) == canonical


def test_the_canonical_address_of_a_header_goes_first() -> None:
    assert _canonical("<link rel=canonical href=/x>", link="<y>; rel=canonical") == "/dir/y"
    assert _canonical("<link rel=canonical href=/x>", link="<y>; rel=next") == "/x"


def test_alternates_in_other_languages() -> None:
    html = """<link rel=alternate hreflang=DE href=/de><link rel=alternate hreflang=x-default href=/>
        <link rel=alternate hreflang=de href=/de><link rel=alternate type=application/rss+xml href=/feed>
        <link rel=stylesheet hreflang=fr href=/s>"""
    found = document(html, headers={"link": "</fr>; rel=alternate; hreflang=fr"}).alternates
    assert [(each.language, each.url.access) for each in found] == [
        ("fr", f"{HERE}/fr"),
        ("de", f"{HERE}/de"),
        ("x-default", f"{HERE}/"),
    ]


def _obeyed(found: Document) -> tuple[bool, bool, bool, int | None]:
    return found.index, found.archive, any(link.follow for link in found.links), found.snippet


@pytest.mark.parametrize(
    ("mime", "body"), [("text/html", "<a href=/x>x</a>"), ("text/plain", "x"), ("application/x-unheard-of", "x")]
)
def test_headers_count_for_all_types(mime: str, body: str) -> None:
    headers = {"x-robots-tag": "noindex, noarchive, max-snippet: 7", "link": "</y>; rel=next"}
    assert _obeyed(document(body, content_type=mime, headers=headers)) == (False, False, True, 7)
    headers["x-robots-tag"] = "none"
    assert _obeyed(document(body, content_type=mime, headers=headers)) == (False, True, False, None)


def test_rules_of_page_and_header_add_up() -> None:
    html = """<meta name=robots content=noarchive><meta name=larm content=nosnippet><meta name=otherbot content=noindex>
        <a href=/x>x</a>"""
    assert _obeyed(document(html)) == (True, False, True, 0)
    assert _obeyed(document(html, headers={"x-robots-tag": "nofollow"})) == (True, False, False, 0)


def test_a_meta_that_stands_for_the_header() -> None:
    html = "<meta http-equiv=X-Robots-Tag content='otherbot: noindex'><meta http-equiv=X-Robots-Tag content='larm: nosnippet'>"
    assert _obeyed(document(html + "<a href=/x>x</a>")) == (True, True, True, 0)


def test_nofollow_may_be_switched_off() -> None:
    html, headers = "<a href=/x>x</a>", {"x-robots-tag": "nofollow"}
    assert _obeyed(document(html, headers=headers, nofollow=False)) == (True, True, True, None)


def test_a_page_whose_time_is_over_is_not_indexed() -> None:
    html = "<meta name=robots content='unavailable_after: 2010-06-25'>"
    parts = processors(LinkMemo(normalizer), ProcessingSettings(), wall=lambda: NOON)
    for day, found in (("2010-06-25", False), ("2010-06-26", True), ("soon", True)):
        headers = {"x-robots-tag": f"unavailable_after: {day}"}
        assert parts.process(message(f"{HERE}/{day}"), page("", **headers)).index is found
    assert not parts.process(message(HERE), page(html)).index
