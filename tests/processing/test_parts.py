"""Main text, other text and headings, by both parsers."""

from __future__ import annotations

import pytest

from larm.kit.squeeze import squeeze
from tests.processing.pages import document

PARSERS = pytest.mark.parametrize("parser", ["lexbor", "html5lib"])


@PARSERS
@pytest.mark.parametrize(
    ("html", "main", "other"),
    [
        ("<nav>Menu</nav><p>text<footer>Imprint</footer>", "text", "Menu Imprint"),
        ("<aside>one<aside>two</aside>three</aside>four", "four", "one two three"),
        ("<b><nav>Menu</nav>text</b>", "text", "Menu"),
        ("<nav>nothing else</nav>", "nothing else", ""),
        ("<nav>Menu<p>more", "Menu more", ""),
        ("<body><noscript><nav>no</nav></noscript>text", "text", ""),
        ("<nav><a href=x>Menu<h2>Head</h2></a></nav>text", "text", "Menu Head"),
    ],
)
def test_split(parser: str, html: str, main: str, other: str) -> None:
    found = document(html, parser=parser)
    assert (found.text, squeeze(found.other_text)) == (main, other)


@PARSERS
@pytest.mark.parametrize(
    ("html", "headings"),
    [
        ("<h1>A <b>b</b>c</h1>x<h6>D<br>e</h6>", ("A bc", "D e")),
        ("<h2><a href=x>Link</a></h2><h3> </h3><h4><img alt=x></h4>", ("Link",)),
        ("<nav><h2>Menu</h2></nav><h1>Page", ("Menu", "Page")),
        ("<h1>one<h2>two</h2>three", ("one", "two")),
        ("<h1>a<script>no</script>b</h1>", ("ab",)),
        ("<p>none", ()),
    ],
)
def test_headings(parser: str, html: str, headings: tuple[str, ...]) -> None:
    assert document(html, parser=parser).headings == headings


def test_many_headings() -> None:
    assert len(document("<h1>x</h1>" * 2_000).headings) == 1_000
