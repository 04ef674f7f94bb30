"""The main text of a page as Markdown."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from larm.parse.markdown import _Writer, markdown
from tests.parse.pages import document


def written(body: str, main: str = "") -> str:
    """``main``: a line for each block, where only a part of the words is the main text."""
    return markdown(f"<body>{body}".encode(), main or document(body).raw_text, "http://a.org/d/page.html")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<h2>One <em>two</em></h2><p>Three", "## One *two*\n\nThree\n"),
        ("<p>a <b>bold </b>word <a href=b.html>link</a>", "a **bold** word [link](http://a.org/d/b.html)\n"),
        ("<p><a href='x(1).html'>l</a> <a href='javascript:x()'>none</a>", "[l](http://a.org/d/x%281%29.html) none\n"),
        ("<p>1 * 2 _x_ [y] &lt;z>", "1 \\* 2 \\_x\\_ \\[y\\] \\<z>\n"),
        ("<p># no heading<p>1. no list", "\\# no heading\n\n\\1. no list\n"),
        ("<p>one<br>two", "one  \ntwo\n"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c\n"),
        ("<ol><li><p>a</p><p>b</p></ol>", "1. a\n\n   b\n"),
        ("<pre>x = [1]\n  y</pre>", "```\nx = [1]\n  y\n```\n"),
        ("<pre>&#96;&#96;&#96;</pre>", "````\n```\n````\n"),
        ("<p>call <code>f_(x)</code>", "call `f_(x)`\n"),
        ("<blockquote><p>said</blockquote>", "> said\n"),
        ("<table><tr><th>A<th>B<tr><td>1|<td>2</table>", "| A | B |\n| --- | --- |\n| 1\\| | 2 |\n"),
        ("<table><tr><td><p>layout</table>", "layout\n"),
        ("<p>seen<script>unseen()</script>", "seen\n"),
    ],
)
def test_each_kind_of_block(body: str, text: str) -> None:
    main = "seen" if "unseen" in body else ""
    assert written(body, main) == text


def test_menus_are_left_out_though_their_words_are_in_the_text() -> None:
    body = "<nav><ul><li>Home<li>News</ul></nav><h1>News</h1><p>All the News from Home, which is a long story.</p><p>Home</p>"
    assert written(body, "News\nAll the News from Home, which is a long story.") == (
        "# News\n\nAll the News from Home, which is a long story.\n"
    )


def test_heading_is_kept_when_menu_entries_have_its_words() -> None:
    menu = "<nav><ul><li>News<li>News of today</ul></nav>"
    body = f"{menu}<h1>News of today</h1>{menu}<p>All of it.</p>"
    assert written(body, "News of today\nAll of it.") == "# News of today\n\nAll of it.\n"


def test_a_page_that_is_nested_without_end_is_no_trouble() -> None:
    assert "deep" in written("<div><b>" * 2_000 + "deep", "deep")


def test_tables_for_the_layout_are_walked_once_however_deep_they_stand_in_each_other() -> None:
    """Each table had the rows of all tables in it, too: that doubled with each level."""
    body = "".join(f"<table><tr><td>level {n}<tr><td>" for n in range(10)) + "inmost" + "</table>" * 10
    root = LexborHTMLParser(body).body
    assert root is not None
    texts = [block.text for block in _Writer("http://a/").blocks(root)]
    assert texts == [*(f"level {n}" for n in range(10)), "inmost"]
