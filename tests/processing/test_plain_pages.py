"""Plain pages, taken apart in one pass: to the character as it is done with their text with marks."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from larm.processing.regular import COMPILED, read_regular
from tests.processing.both_readers import differences, is_plain

pytestmark = pytest.mark.skipif(not COMPILED, reason="installed without a C compiler")


def _page(body: str | bytes) -> bytes:
    body = body.encode() if isinstance(body, str) else body
    return b"<!DOCTYPE html><html><head><title>T</title></head><body>" + body + b"</body></html>"


_LONG = "text, " * 40

PLAIN = {
    "nothing": "",
    "white space": " \n\x1c\t<br>\xa0\u2003 ",
    "no boxes": "one <b>two</b><p>three<ul><li>four</ul>",
    "menus": "<nav>Menu</nav>one two three<div class=menu>four</div>" + _LONG + "<footer>Foot</footer>",
    "menus in menus": "<nav>a<div class=menu>b</div>c</nav>one two three<nav><nav>d</nav></nav>" + _LONG,
    "a main part": "<div>Top</div><nav>Menu</nav><main>one two three<nav>in</nav> four</main>",
    "a main part in a menu": "<nav>a<main>b</main>c</nav>" + _LONG,
    "a small main part": "<main>a</main>text, text",
    "many menus around a main part": "<nav>a b c d e f g h i j k l m n o p q r s</nav><main>t</main>",
    "a light box": "a<div class=entry-content>b</div>c\x1cd\x1de\x0bf\x0cg",
    "menus with nothing in them": "<nav></nav>\xa0<nav> </nav>a<header></header>" + _LONG,
    "a menu that is furniture": "<aside>a</aside>" + _LONG,
    "links": "<a href=x>a</a>b<a href=y>\u65e5</a>\x01<a href=z>\x01</a>\x01\xe9 and text",
    "all sizes of characters": "a\xe9\u65e5\U0001f600<nav>a\xe9\u65e5\U0001f600</nav>a\xe9\u65e5\U0001f600" * 3 + _LONG,
    "headings": "<nav><h2>a</h2></nav><h1>b \x01\x1cc</h1>" + _LONG,
}
OTHERS = {
    "half menus": "<nav>Menu Menu Menu</nav>text",
    "nothing but menus": "<nav>Menu</nav>",
    "furniture": "<div class=sponsored>a</div>" + _LONG,
    "furniture within a menu": "<nav><div class=sponsored>a</div></nav>" + _LONG,
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain(name: str) -> None:
    assert is_plain(_page(PLAIN[name]))
    assert not differences(_page(PLAIN[name]))


@pytest.mark.parametrize("name", OTHERS)
def test_others(name: str) -> None:
    assert is_plain(_page(OTHERS[name])) is False
    assert not differences(_page(OTHERS[name]))


@pytest.mark.parametrize("body", ["<div class=menu><p>a<ul><li>b", "<main>a<nav>b", "<nav><a href=x>c</a>"])
def test_boxes_that_stay_open(body: str) -> None:
    page = f"<html><head></head><body>{_LONG}{body}".encode()
    assert is_plain(page)
    assert not differences(page)


def test_characters_are_counted() -> None:
    """Not bytes: here the menus have half of the characters, marks among them, and most of the bytes."""
    for menu in range(1, 60):
        page = _page("<nav>" + "\u65e5" * menu + "</nav>" + "a" * 60)
        assert is_plain(page) == (menu + 4 <= (60 + 2) / 2), menu
        assert not differences(page)


@pytest.mark.parametrize("other", ["", "<nav>\u65e5</nav>", f"<nav>{_LONG}</nav>"])
def test_which_part_is_larger(other: str) -> None:
    for size in range(30):
        page = _page("\u65e5" * 12 + f"<main>{'a' * size}</main>{other}")
        assert not differences(page)


@pytest.mark.parametrize(
    "body",
    [
        b"\xc3<a href=x>\xa9</a>",
        b"\xc3\x01\xa9",
        b"\xc3\x01\x01\xa9",
        b"\xe6<a href=x>\x97</a>\xa5",
        b"\xc3<nav></nav>\xa9 text text text",
        b"<nav>\xc3</nav> text text text",
        b"a\xc3",
    ],
)
def test_halves_of_characters(body: bytes) -> None:
    """No mark between them makes a page regular that is no UTF-8."""
    assert read_regular(_page(body), text=True) is None


_TEXTS = st.text(st.sampled_from("ab \n\t\x01\x0b\x0c\x1c\x1d\x1e\x85\xa0\xe9\u2003\u65e5\U0001f600"), max_size=12)
_BOXES = (
    "nav",
    "main",
    "aside",
    "article",
    "header",
    "section",
    "div",
    "div class=menu",
    "div class=entry-content",
    "div role=main",
    "ul id=main",
    "div class=sponsored",
    "h2",
    "p",
    "a href=x",
    "b",
)


def _boxed(box: str, inner: list[str]) -> str:
    return f"<{box}>" + "".join(inner) + f"</{box.split(maxsplit=1)[0]}>"


_parts = st.recursive(
    _TEXTS, lambda inner: st.builds(_boxed, st.sampled_from(_BOXES), st.lists(inner, max_size=4)), max_leaves=20
)


@given(st.lists(_parts, max_size=6).map("".join))
@example("<main>\u2003<nav>\u65e5</nav>\x1c</main>\x01")
def test_any_boxes(body: str) -> None:
    assert not differences(_page(body)), body
