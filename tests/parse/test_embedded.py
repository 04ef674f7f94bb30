"""What a page is made of: srcset, backgrounds, style sheets; asked for only where somebody wants the files."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.model.links import Links
from larm.parse.embedded import in_css, in_page
from tests.parse.pages import document, links


def found(html: str) -> list[str]:
    return in_page(html, files=True, srcset=True)


@pytest.mark.parametrize(
    ("html", "addresses"),
    [
        ("<video src=v poster='p q'>", ["p q"]),
        ("<TABLE BACKGROUND=t><td background='d&amp;e'>", ["t", "d&e"]),
        ("<img srcset='a 1x, b,c 2x, d 100w'>", ["a", "b,c", "d"]),
        ("<source srcset='a , b'>", ["a", "b"]),
        ("<img srcset='data:image/gif;base64,AA= 1x, b'>", ["data:image/gif;base64,AA=", "b"]),
        ("<blockquote cite=c><q>x</q>", ["c"]),
        ("<param name=movie value=m><param name=width value=9>", ["m"]),
        ("<applet archive='a.jar, b.jar' code=c>", ["c", "a.jar", "b.jar"]),
        ("<iframe srcdoc='<video poster=s>'>", ["s"]),
        ("<p style='background: url(u)'>", ["u"]),
        ("<style>a { b: url('u') }</style><!-- <td background=c> --><td background=d>", ["d", "u"]),
        ("<script>'<td background=s>'</script><td background=d>", ["d"]),
        ("<svg><image xlink:href=i /></svg>", ["i"]),
        ("<p class=x>text</p><a href=y>z</a>", []),
    ],
)
def test_in_page(html: str, addresses: list[str]) -> None:
    assert found(html) == addresses


def test_in_css() -> None:
    css = "@import 'a.css'; @import url(b.css) screen; @font-face { src: url( \"c\" ), url('d') } x { y: url() }"
    assert in_css(css) == ["a.css", "b.css", "c", "d"]


def test_followed_only_where_wanted() -> None:
    html = "<base href=/b/><td background=x><img src=i srcset='j 2x'>"
    assert links(html) == [("/b/i", 0, "", False)]
    assert links(html, srcset=True) == [("/b/i", 0, "", False), ("/b/j", 0, "", False)]
    assert links(html, follow_embedded=True) == [("/b/i", 0, "", True), ("/b/x", 0, "", True)]
    assert links(html, follow_embedded=True, srcset=True, parser="html5lib")[-1] == ("/b/j", 0, "", True)


def test_a_style_sheet_has_links() -> None:
    css = "a { b: url(x.png) } @import url('http://[');"
    assert document(css, content_type="text/css").links == Links()
    sheet = document(css, content_type="text/css", follow_embedded=True)
    assert [(link.url.path_query, link.follow) for link in sheet.links] == [("/dir/x.png", True)]
    assert (sheet.index, len(sheet.warnings), sheet.text) == (False, 1, "")


@settings(max_examples=100)
@given(st.text(alphabet="<>\"'=!- abcimgsrcsetstyle/(),"))
def test_any_text_has_addresses(html: str) -> None:
    assert isinstance(found(html), list)
    assert isinstance(in_css(html), list)


@pytest.mark.parametrize(
    "piece", ["<a b='", '<a "', "<!--", "<style>", "<script>", "<", "url(", "<img srcset='", "@import '", "( "]
)
def test_nothing_takes_long(piece: str) -> None:
    began = time.perf_counter()
    found(piece * 200_000)
    in_css(piece * 200_000)
    found(f'<img srcset="{piece.replace(chr(34), "") * 300}">' * 100)
    assert time.perf_counter() - began < 5
