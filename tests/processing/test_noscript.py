"""<noscript> ends at its end tag, whatever is left open in it: nothing of the page behind it vanishes, in all readers."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.processing.noscript import closed
from larm.processing.regular import COMPILED, read_regular
from tests.processing.both_readers import differences
from tests.processing.pages import document, links

PARSERS = pytest.mark.parametrize("parser", ["lexbor", "html5lib"])


@PARSERS
@pytest.mark.parametrize(
    ("noscript", "leads"),
    [
        ("<style>.x { color: red }", []),
        ("<div class=menu><p>no", []),
        ("<iframe src=/f>no", ["/f"]),
        ("<a href=/x>no", ["/x"]),
        ("<div><a href=/x><b>no</b></a><img src=/i>", ["/x", "/i"]),
        ("<p>no</div>", []),
        ("<!-- no", []),
        ("<img src='/i", []),
        ("<form action=/y><select><option>no", []),
        ("<table><tr><td>no</table><table>", []),
        ("<link rel=next href=/l><object>", ["/l"]),
    ],
)
@pytest.mark.parametrize("page", ["<title>T</title><body>one%sthree<p>four <a href=/z>five</a>", "<title>T</title>%sone"])
def test_what_is_left_open_in_it(parser: str, page: str, noscript: str, leads: list[str]) -> None:
    html = page % f"<noscript>{noscript}</noscript>"
    assert document(html, parser=parser).text == document(page % "", parser=parser).text
    assert [link[0] for link in links(html, parser=parser)] == [*leads, *(link[0] for link in links(page % "", parser=parser))]


@PARSERS
def test_one_that_does_not_end_is_text(parser: str) -> None:
    assert document("<body>one<noscript> two<p>three", parser=parser).text == "one two three"


@PARSERS
def test_what_only_looks_like_one_is_none(parser: str) -> None:
    """In a script, a comment, a value or a title."""
    html = (
        "<title><noscript></title><body><script>'<noscript><div></noscript>'</script>one<!--<noscript>-->"
        "<p title='<noscript><b>'>two<noscript><div></noscript><p>three"
    )
    found = document(html, parser=parser)
    assert (found.title, found.text) == ("<noscript>", "one two three")


@pytest.mark.skipif(not COMPILED, reason="installed without a C compiler")
@pytest.mark.parametrize(
    ("content", "regular"),
    [
        ("<p>a<p>b</p>", True),
        ("<ul><li>a<li>b</ul><table><tr><td>c<td>d<tr><td>e</table><dl><dt>f<dd>g</dl>", True),
        ("<select><option>a<option>b</select><p>c<div>d</div></p>", True),
        ("<!-- </noscript> -->", False),
        ("<img alt='</noscript>'>", False),
        ("<div>", False),
    ],
)
@pytest.mark.parametrize("frame", ["<html><head></head><body>%s x</body></html>", "<html><head>%s</head><body>x</body></html>"])
def test_in_one_pass_as_by_the_tree(frame: str, content: str, regular: bool) -> None:
    body = (frame % f"<noscript>{content}</noscript>").encode()
    if "<head></head>" in frame:
        assert (read_regular(body, text=True) is not None) is regular
        assert (closed(body) is body) is regular
    assert not differences(body)


_PIECES = st.sampled_from(
    "<noscript> </noscript> <NOSCRIPT\n> </noscript/> <div> </div> <p> </p> <a\thref=/x> </a> <style> </style> <iframe>"
    " </iframe> <!-- --> <li> </li> <ul> </ul> <img\tsrc=/i> <b> </b> <b\ttitle=' ' \" word x <table> </table> <td> <script>"
    " </script> <noframes> </noframes> <title> </title> <br> </br>".replace(" ", "\0").split("\0")
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES, max_size=30))
def test_any_page_says_the_same_to_all_readers(pieces: list[str]) -> None:
    html = "<html><head></head><body>" + " ".join(pieces)
    one, other = document(html), document(html, parser="html5lib")
    assert one.text.split() == other.text.split()
    assert [link.url.access for link in one.links] == [link.url.access for link in other.links]
    assert not differences(html.encode())


@pytest.mark.parametrize(
    "piece",
    [
        b"<noscript>",
        b"<noscript",
        b"<noscript><div></noscript>",
        b"<!--",
        b"<xmp>",
        b"<a b='",
        b"<a b=\"<a b='",
        b"<i",
        b"</noscript",
    ],
)
def test_it_takes_no_longer_on_a_page_made_to_take_long(piece: bytes) -> None:
    body = b"<body><noscript><div>" + piece * (1_000_000 // len(piece)) + b"</noscript>text"
    start = time.process_time()
    closed(body)
    assert time.process_time() - start < 5
