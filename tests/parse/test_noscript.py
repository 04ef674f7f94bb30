"""<noscript> ends at its end tag, whatever is left open in it: nothing of the page behind it vanishes, in all readers."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parse.both_walks import differences
from tests.parse.pages import document, links

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


@PARSERS
@pytest.mark.parametrize("within", [False, True])
def test_one_that_does_not_end_hides_no_template_that_is_shown(parser: str, within: bool) -> None:
    shown = "<div><template shadowrootmode=open><p>two <a href=x>three</a></template></div>"
    html = f"<p>one</p>{'' if within else shown}<noscript>{shown if within else ''}<p>four"
    found = document(html, parser=parser)
    assert found.text == "one two three four"
    assert len(found.links) == 1


_PIECES = st.sampled_from(
    "<noscript> </noscript> <NOSCRIPT\n> </noscript/> <div> </div> <p> </p> <a\thref=/x> </a> <style> </style> <iframe>"
    " </iframe> <!-- --> <li> </li> <ul> </ul> <img\tsrc=/i> <b> </b> <b\ttitle=' ' \" word x <table> </table> <td> <script>"
    " </script> <noframes> </noframes> <title> </title> <br> </br>".replace(" ", "\0").split("\0")
)


@settings(max_examples=300)
@given(st.lists(_PIECES, max_size=30))
def test_any_page_says_the_same_to_all_readers(pieces: list[str]) -> None:
    html = "<html><head></head><body>" + " ".join(pieces)
    one, other = document(html), document(html, parser="html5lib")
    assert one.text.split() == other.text.split()
    assert [link.url.access for link in one.links] == [link.url.access for link in other.links]
    assert not differences(html.encode())


@PARSERS
@pytest.mark.parametrize("piece", [b"<noscript>", b"<noscript><i></noscript>", b"<noscript><noscript>", b"</noscript"])
def test_many_of_them_take_no_longer_than_other_markup(parser: str, piece: bytes) -> None:
    body = b"<body>" + piece * (100_000 // len(piece)) + b"</noscript>text"
    start = time.process_time()
    document(body, parser=parser)
    assert time.process_time() - start < 10


@PARSERS
@pytest.mark.parametrize("last", ["<p>{}</p>", "<p><a href=/x>{}</a></p>"])
def test_short_noscripts_that_are_long_together_stand_for_a_page_without_text(parser: str, last: str) -> None:
    texts = [f"{word} " * 20 for word in ("one", "two", "three")]
    parts = [
        f"<noscript>{form.format(text)}</noscript>" for form, text in zip(["<p>{}</p>", "<b>{}</b>", last], texts, strict=True)
    ]
    assert document("".join(parts), parser=parser).text.split() == "".join(texts).split()
    assert document(parts[0], parser=parser).text == ""
