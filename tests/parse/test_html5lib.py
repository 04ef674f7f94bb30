"""What larm relies on in html5lib, which nobody maintains any more: another version must keep it."""

from __future__ import annotations

import re
import sys
from typing import Any

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

PIECES = re.findall(
    r"\S+",
    "<p> <b> </b> <table> <td> </table> <a href=x> </a> <svg> <math> <select> <option> <template> </template> <!-- -->"
    " <frameset> <noscript> <script> </script> <title> <plaintext> </p> </body> <body> <form> <!doctype"
    " &amp; &#x0; &nosuch; \0 x < > ]]>",
)
MARKUP = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
XLINK = "{http://www.w3.org/1999/xlink}href"
SVG = "{http://www.w3.org/2000/svg}"


def tree(text: str) -> Any:
    """As the parser makes it."""
    return html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False).parse(text)


def shape(root: Any) -> list[tuple[Any, str, str]]:
    """(tag, text, tail) of all elements."""
    return [(each.tag, each.text or "", each.tail or "") for each in root.iter() if isinstance(each.tag, str)]


@pytest.mark.parametrize("text", ["", "x", "<p>x", "<html><body>x", "</html>x"])
def test_there_is_always_a_root_with_head_and_body(text: str) -> None:
    root = tree(text)
    assert (root.tag, [child.tag for child in root]) == ("html", ["head", "body"])


def test_elements_of_html_have_no_namespace_and_others_do() -> None:
    root = tree("<title>t</title><p>a<svg><title>s</title><a xlink:href=x>b</a></svg><math><mi>c</mi></math>")
    tags = [tag for tag, *_ in shape(root)]
    assert tags == [
        "html",
        "head",
        "title",
        "body",
        "p",
        f"{SVG}svg",
        f"{SVG}title",
        f"{SVG}a",
        "{http://www.w3.org/1998/Math/MathML}math",
        "{http://www.w3.org/1998/Math/MathML}mi",
    ]
    assert root.find(f".//{SVG}a").attrib == {XLINK: "x"}


def test_text_and_tail() -> None:
    assert shape(tree("<p>a<b>c</b>d</p>e")) == [
        ("html", "", ""),
        ("head", "", ""),
        ("body", "", ""),
        ("p", "a", "e"),
        ("b", "c", "d"),
    ]


def test_a_comment_is_an_element_whose_tag_is_no_text() -> None:
    [comment] = [each for each in tree("<p>a<!-- c -->b").iter() if not isinstance(each.tag, str)]
    assert callable(comment.tag)
    assert comment.tail == "b"


def test_the_first_of_two_attributes_counts_and_names_are_in_lower_case() -> None:
    root = tree('<html lang=de><body><a HREF="x&amp;y" href=z Title="">t</a>')
    assert root.get("lang") == "de"
    assert root.find(".//a").attrib == {"href": "x&y", "title": ""}


@pytest.mark.parametrize(
    ("text", "path", "inner"),
    [
        ("<script>a<b>c</script>", ".//script", "a<b>c"),
        ("<style>a<b>c</style>", ".//style", "a<b>c"),
        ("<title>a<b>c</title>", ".//title", "a<b>c"),
        ("<body><textarea>a<b>c</textarea>", ".//textarea", "a<b>c"),
        ("<body><iframe>a<b>c</iframe>", ".//iframe", "a<b>c"),
        ("<body><noframes>a<b>c</noframes>", ".//noframes", "a<b>c"),
        ("<frameset><noframes>a<b>c</noframes></frameset>", ".//noframes", "a<b>c"),
    ],
)
def test_what_holds_text_only(text: str, path: str, inner: str) -> None:
    assert tree(text).find(path).text == inner


def test_no_scripts_are_run_so_noscript_holds_elements() -> None:
    assert tree("<body><noscript><a href=x>t</a></noscript>").find(".//noscript/a").get("href") == "x"
    assert tree("<head><noscript><link href=x></noscript>").find(".//noscript/link").get("href") == "x"


def test_what_is_in_a_template_is_below_it() -> None:
    assert tree("<body><template><p>x</p></template>").find(".//template") is not None


def test_anchors_and_tables_are_put_right() -> None:
    assert [each.text for each in tree("<a href=1>x<a href=2>y</a>").iter("a")] == ["x", "y"]
    root = tree("<table><tr><td>in</td>out</table>")
    assert root.find("body").text == "out"


def test_nested_deeper_than_python_recurses() -> None:
    depth = sys.getrecursionlimit() + 100
    assert sum(1 for _ in tree("<div>" * depth).iter("div")) == depth


@given(MARKUP)
def test_no_text_makes_it_raise(text: str) -> None:
    assert tree(text).tag == "html"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
def test_nor_any_characters(text: str) -> None:
    assert tree(text).tag == "html"
