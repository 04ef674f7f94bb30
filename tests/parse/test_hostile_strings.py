"""larm's own expressions take linear time on strings that repeat what they look for and never end it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from larm.index.accents import accented
from larm.model.document import Document
from larm.model.url import BadUrl, URLNormalizer
from larm.parse.charset import encoding_of
from larm.parse.embedded import in_css, in_page
from larm.parse.hollow import HollowJudge
from larm.parse.html import _FRAME
from larm.parse.sitemap import kind_of_text, read_text

LENGTH = 100_000


def head(text: str) -> object:
    return encoding_of(b"<p>charset" + b" " * 1_024 + text.encode() + b">")


def srcset(text: str) -> object:
    return in_page(f'<img srcset="{text}">', files=True, srcset=True)


def frames(text: str) -> object:
    return _FRAME.findall(text.encode())


def judged(text: str) -> object:
    page = Document("text/html", raw_text="word " * 15)
    return HollowJudge().judge(page, f"<script></script>{text}".encode(), "a.localhost")


def listed(text: str) -> object:
    return read_text(f'http://a.example/1\n{text}"\n').entries, kind_of_text(
        f'http://a.example/1\nhttp://a.example/2\n{text}"\n'
    )


CASES: dict[Callable[[str], object], list[tuple[str, str]]] = {
    head: [("", each) for each in ("<xmp/<", "<title", "<met'a'", "<a'\"", "<script>", "</style><style")],
    in_css: [("url(", " "), ("", "url("), ("", 'url("'), ("@import", " "), ("", "@import '")],
    srcset: [("", ","), ("a", ","), ("", "a (b "), ("", "a b, "), ("a ", "("), ("\xa0", ",")],
    frames: [("", "<frame "), ("<frame ", " ")],
    judged: [
        ("<div id=root><h1>" * 8, each) for each in ("<a-app>", "<a>x", "<!--", "<iframe ", "<noscript>", "<div id=", "<h1>")
    ],
    listed: [("", "/"), ("", ".aa"), ("www.", "a."), ("http://", "/")],
    accented: [("é", "A"), ("", "Aé"), ("é ", "A0")],
    URLNormalizer().canonical: [("", "a."), ("a:", "1."), ("", "a"), ("http://", "a.")],
}


@pytest.mark.parametrize(
    ("read", "begin", "unit"), [(read, *each) for read, cases in CASES.items() for each in (*cases, ("<meta charset=", " "))]
)
def test_hostile_string_is_read_in_linear_time(read: Callable[[str], object], begin: str, unit: str) -> None:
    text, start = begin + unit * (LENGTH // len(unit)), time.process_time()
    with suppress(BadUrl):
        read(text)
    assert time.process_time() - start < 0.5
