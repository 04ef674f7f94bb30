"""Title and text, by both parsers."""

from __future__ import annotations

from time import thread_time

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.parse.page import as_html
from larm.parse.readable import names
from tests.parse.pages import document, links

PARSERS = pytest.mark.parametrize("parser", ["lexbor", "html5lib"])


@PARSERS
@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one two"),
        ("<ul><li>one<li>two</ul>three", "one two three"),
        ("<table><tr><td>1<td>2<tr><td>3</table>4", "1 2 3 4"),
        ("<div>one</div>two<div>three</div>", "one two three"),
        ("<div>one</div><b>two</b>", "one two"),
        ("<span><div>one</div></span>two", "one two"),
        ("<a><div>one</div></a><a><div>two</div></a>(three)", "one two (three)"),
        ("H<sub>2</sub>O, <b>J</b>ohn (<i>x</i>), Some<wbr>Class", "H2O, John (x), SomeClass"),
        ("one<br>two<hr>three", "one two three"),
        ("  one \n\t two  three&nbsp;four ", "one two three four"),
        ("<b>one</b> <i>two</i>\n<u>three</u>", "one two three"),
        ("one<!-- no -->two", "onetwo"),
        ("a<script>no()</script>b<style>no{}</style>c", "abc"),
        ("<script src=x></script>a<textarea>in a form</textarea>b", "a in a form b"),
        ("a<template>no</template>b", "ab"),
        ("<body><noscript>Please enable <b>scripts</b>.</noscript>text", "text"),
        ("<body><noscript><script>no</script>no</noscript>text", "text"),
        (f"<body><noscript>{'too short ' * 20}</noscript>text", "text"),
        (f"<body>{'more text ' * 30}<noscript>{'<b>less</b> text ' * 29}</noscript>", ("more text " * 30).strip()),
        (f"<body>text<noscript>{'<b>more</b> text ' * 30}</noscript>.", f"text. {('more text ' * 30).strip()}"),
        ("<svg><title>no</title><text>yes</text></svg>", "yes"),
        (
            "<svg><text>one</text><text>two</text><a><text>three</text></a><desc>four</desc></svg>five",
            "one two three four five",
        ),
        ("a<img src=x>b<canvas></canvas>c<object></object>d<svg></svg>e<input>f<video></video>g.<img>.", "a b c d e f g.."),
        ("Donau&shy;dampf&#173;schiff", "Donaudampfschiff"),
        ("<head><title>no</title><noscript><style>no</style></noscript></head><body>text", "text"),
        ("<select><option>one<option>two</select>", "one two"),
        ("&lt;b&gt; &copy; &#x41;", "<b> © A"),
        ("<pre>one\n  two</pre>", "one two"),
        ("x<iframe src=y>no</iframe>z", "x z"),
        ("x<iframe srcdoc='<p>one</p>&lt;b>two &amp;amp; three'>no</iframe>z", "x one two & three z"),
        ("<iframe srcdoc=words></iframe><iframe srcdoc></iframe>", "words"),
        ("<x-y><template shadowrootmode=open><p>one</p>two <slot></slot></template>three</x-y>", "one two three"),
        ("<x-y><TEMPLATE\nShadowRootMode='closed'>a<template>no</template>b</TEMPLATE></x-y>c", "ab c"),
        ("<template SHADOWROOTMODE=open>a</template>b", "a b"),
        ("<template>no<template shadowrootmode=open>no</template>no</template>a", "a"),
        ("<script>'<template shadowrootmode=open>'</script>a<template>no</template>b", "ab"),
        ("a<template data-shadowrootmode=open>no</template>b", "ab"),
        ("<iframe srcdoc='<x-y><template shadowrootmode=open>one</template></x-y>'></iframe>", "one"),
        ("one<p>", "one"),
        ("", ""),
        ("just text", "just text"),
        ("a\0b", "ab"),
    ],
)
def test_text(parser: str, html: str, text: str) -> None:
    assert document(html, parser=parser).text == text


@PARSERS
@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>\n A  title\t&amp; more </title>", "A title & more"),
        ("<title>one</title><title>two</title>", "one"),
        ("<body><svg><title>icon</title></svg>", ""),
        ("<body><svg><g><title>icon</title></g></svg><title>late</title>", "late"),
        ("<title></title>", ""),
        ("<ul><li><a href=#NAME>NAME</a><li>SYNOPSIS</ul><h1>NAME</h1><p>tool - does it<h1>SYNOPSIS</h1>", "tool - does it"),
        ("<h1>NAME</h1><h1>SYNOPSIS</h1><p>tool", "NAME"),
        ("<title></title><title> \n</title><title>real</title><title>last</title>", "real"),
        ("<html><head><title></title><title>real</title></head><body>x</body></html>", "real"),
        ("<p>none", ""),
        ("<title> </title><h1> </h1><h2>Of the <i>page</i></h2><h3>more</h3>", "Of the page"),
        (f"<h1>{'x' * 200}</h1>", "x" * 100),
        ("<title><b>no tags</b></title>", "<b>no tags</b>"),
    ],
)
def test_title(parser: str, html: str, title: str) -> None:
    assert document(html, parser=parser).title == title


@PARSERS
def test_links_for_browsers_without_frames(parser: str) -> None:
    """They come behind all others. The words are the text of a page that has no other."""
    html = (
        "<title>T</title><frameset><frame src=/f><noframes><body>You need frames: <a href=/x>one <b>two</b></a>"
        "<img src=/i></body></noframes></frameset>"
    )
    wanted = [("/f", ""), ("/x", "one two"), ("/i", "")]
    assert [(link[0], link[2]) for link in links(html, parser=parser)] == wanted
    assert [link[0] for link in links(html, parser=parser, text=False)] == ["/f", "/x", "/i"]
    assert document(html, parser=parser).text == "You need frames: one two"
    assert document("<p>Words</p><noframes>You need frames</noframes>", parser=parser).text == "Words"


@PARSERS
def test_charset(parser: str) -> None:
    found = document(
        "<meta charset=iso-8859-2><title>\xb1\xea</title>".encode("latin-1"), content_type="text/html", parser=parser
    )
    assert (found.title, found.charset) == ("ąę", "iso-8859-2")
    found = document(b"\xef\xbb\xbf<title>\xc3\xa4\xff</title>", content_type="text/html", parser=parser)
    assert (found.title, found.charset) == ("ä\ufffd", "utf-8")


@PARSERS
def test_xhtml_with_empty_elements(parser: str) -> None:
    html = (
        "<html xmlns='http://www.w3.org/1999/xhtml'><head><title/><script src='x'/></head><body><a id='y'/>text</body></html>"
    )
    assert document(html, content_type="application/xhtml+xml", parser=parser).text == "text"
    assert document(html, content_type="text/html", parser=parser).text == ""


_TAGS = names(
    "p div b i table tr td ul li noscript svg title script template select option br frameset textarea plaintext math mi form"
    " h1 body html"
)
_PIECES = (
    st.sampled_from(sorted(_TAGS)).map("<{}>".format)
    | st.sampled_from(sorted(_TAGS)).map("</{}>".format)
    | st.sampled_from(["<a href=x>", "<a href='http://['>", "</a>", "<frame src=y>", "<iframe src=z>", "<base href=/b/>"])
    | st.sampled_from(
        ["<meta name=robots content=none>", "<img src=i alt=j>", "<!--", "-->", "&amp;", "\0", "\ud800", "</", "<?x"]
    )
    | st.text(max_size=3)
)


@settings(max_examples=150)
@given(st.lists(_PIECES, max_size=25))
def test_any_page_can_be_read(pieces: list[str]) -> None:
    html = " ".join(pieces).encode("utf-8", "surrogatepass")
    for found in (document(html), document(html, content_type="")):
        assert not any("Error" in line for line in found.warnings), found.warnings
        assert all(link.url.access.startswith("http") for link in found.links)
        assert "  " not in found.text or found.mime == "text/plain"


def test_without_text_everything_else_is_the_same() -> None:
    """What a crawl without an index leaves out."""
    html = (
        "<html lang=de><title>T</title><meta name=description content=D>"
        "<script>no</script><noscript><a href=/n>n</a></noscript><nav>Menu</nav><h1>H</h1><p>one"
        "<a href='/x'>two <b>three</b></a>"
        "<img src=i.png alt=picture><style>x</style><a href=/y><img alt=alt src=/z></a>"
    )
    whole = document(html)
    bare = document(html, text=False)
    assert whole.text
    assert bare.links
    assert bare == msgspec.structs.replace(
        whole, raw_text="", other_text="", headings=(), places=(), words=0, description="", language=""
    )


def test_headings_in_headings() -> None:
    """What is between the marks, as they come."""
    found = document("<h1>a<div><h2>b</h2>c</div>d</h1><h3>e</h3>")
    assert found.headings == document("<h1>a<div><h2>b</h2>c</div>d</h1><h3>e</h3>", parser="html5lib").headings


@PARSERS
def test_soft_hyphens_part_no_words(parser: str) -> None:
    html = "<title>Titel&shy;wort</title><h2>Zwischen&shy;titel</h2><p>x <a href=/a>Link&shy;text</a>"
    found = document(html, parser=parser)
    assert (found.title, found.headings, found.text) == ("Titelwort", ("Zwischentitel",), "Zwischentitel x Linktext")
    assert [link[2] for link in links(html, parser=parser)] == ["Linktext"]


@PARSERS
def test_character_data_of_xhtml(parser: str) -> None:
    html = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script>//<![CDATA[\nno();\n//]]></script></head>'
        "<body><p>one <![CDATA[<two> & three]]></p><![CDATA[four\n]]>five</body></html>"
    )
    assert document(html, parser=parser, content_type="application/xhtml+xml").text == "one <two> & three four five"


@pytest.mark.parametrize("piece", [b"<script ", b"<style>", b"<![CDATA["])
def test_character_data_of_xhtml_that_never_ends(piece: bytes) -> None:
    """Each piece would look through all that follows. What has no end is as a parser takes it."""
    page = b"<p>one<![CDATA[&]]></p>" + 150_000 * piece
    began = thread_time()
    assert as_html(page, "application/xhtml+xml") == page.replace(b"<![CDATA[&]]>", b"&amp;")
    assert thread_time() - began < 5.0
