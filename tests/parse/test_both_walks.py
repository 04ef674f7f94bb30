"""The compiled reader and a walk in Python say the same of any page."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from urllib.parse import urljoin

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from larm import parse
from larm.model.cuts import EFFORT
from larm.model.left import NOFOLLOW, UNCOMPILED
from larm.parse import hostile, html5lib_tree, lexbor_tree
from larm.parse.html import reading_of
from larm.parse.lexbor_tree import COMPILED
from larm.parse.links import PageFinder
from larm.parse.readable import names
from larm.parse.trees import cut
from tests.parse.both_walks import both_processors, differences, document_of, read_plainly, reading, without_a_compiler
from tests.parse.pages import document
from tests.parse.test_hostile import PAGES as HOSTILE


def _page(body: str, head: str = "<title>T</title>") -> bytes:
    return f"<!DOCTYPE html>\n<html lang=en><head>{head}</head>\n<body>{body}</body></html>\n".encode()


PAGES = {
    "words": _page("one<br>two <b>three</b>four<p>five"),
    "no head": b"<html><body>x</body></html>",
    "XHTML": b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "x">'
    b'<html xml:lang="de"><head><title>T</title><link rel="next" href="n"/></head>'
    b"<body><p>a</p><table><tr><td>b</td></tr></table></body></html>",
    "no end": b"<html><head></head><body><p>open<ul><li>a<li>b",
    "ends that may be left out": _page("<dl><dt>a<dd>b<p>c<dt>d<dd>e</dl><ul><li>f<ul><li>g</ul><li>h</ul>"),
    "a paragraph that never began": _page("<div>a</p>b</div>"),
    "paragraphs and blocks": _page("<p>a<div>b</div>c<p>d<h2>e</h2><p>f<table><tr><td><p>g</table>h"),
    "tables": _page(
        "<table><caption>c<p>d</caption><colgroup><col><col><thead><tr><th>a<th>b<tbody><tr><td>1<td>2<tr><td>3</table>"
        "<table><tr><td><table><tr><td>x</table>y</table>"
    ),
    "links": _page(
        '<a href="/a?b=1&amp;c=2&d=3">one</a> <a href=x rel=nofollow>t<b>w</b>o</a> <a name=x>here</a> <a href="#y">there</a>'
        ' <a href=i><img src=i.png alt="A picture"></a> <a href=d>a<div>b<p>c</p></div>d<br>e</a> <a href>none</a>'
        " <A HREF=U>u</A>"
    ),
    "a link around one block": _page(
        "<a href=x><div>one</div></a> <a href=y><p>two</p>\n</a><a href=z><section></section></a>"
    ),
    "boxes": _page(
        '<nav><ul class=menu><li>a</ul></nav><div id=main role=main>b</div>c<aside class="related x" hidden>d</aside>e'
    ),
    "names of boxes": _page(
        "".join(
            f"<div {names}>a</div>"
            for names in (
                "id=menu",
                "id=menu class=main",
                "class=x id=comments",
                "id",
                "id='' class",
                "id=a id=menu",
                "ID=menu id=a",
                "id=menu ID=a",
                "is=x id=menu",
                "class=comment id=a role=navigation",
                "id=a style='display: none'",
                "id=menu class=a class=comment",
                "id=&#109;enu",
            )
        )
        + "<li id=menu>b</li><ul id=menu><li>c</ul>"
    ),
    "headings": _page("<h1>a <b>b</b></h1><h2><a href=x>c</a></h2><h3><div>d</div></h3>"),
    "places": _page(
        "<div id=a><h1>a</h1>x<h2>b</h2></div><a name=c></a><h2>c <a id=d></a></h2><li id='&eacute;'><h3 id>e</h3>"
    ),
    "times": _page(
        "<time>11:05</time>one <a href=x><time>2022</time>two</a><time>3</time>, <time>4</time>\u00e9<time>5</time><p>six"
    ),
    "frames that hold a page": _page(
        "<h2>a<iframe srcdoc='<h1 id=x>b</h1><nav class=menu>c<a href=y>d</a></nav><title>e</title>'></iframe>f</h2>"
    ),
    "shadows": _page("<x-y><template shadowrootmode=open><p>a<a href=x>b</a><slot></slot></template>c</x-y>d"),
    "readings": _page("<ruby>\u98df<rp>(</rp><rt>\u305f</rt><rp>)</rp></ruby>\u3079\u308b"),
    "what is not said": _page(
        '<script type="application/ld+json">{"a": "<b>"}</script><style>p {}</style><textarea><p></textarea>x'
        "<noscript>You need <a href=n>scripts</a>.<p>y</p></noscript>z<!-- c -->"
        "<script>if (a <!--b) '</scr' + 'ipt>'</script><iframe src=f>w</iframe>"
    ),
    "base and fragments": _page("<base target=x><base href=/b>", "<a href='#x'>p <img alt=q></a><a href=''>r</a><a>s</a>"),
    "two titles": _page("<title>U</title>x", "<title>T &amp; t</title>\n<meta name=robots content=noindex><base href=/b>"),
    "forms": _page(
        "<form action=/s><label>a <input name=q></label><select><option>b<option>c</select><button>d</button></form>"
    ),
    "a drawing": _page('a<svg viewBox="0 0 1 1"><g><path d="m0"/><use href="#u"/></g></svg>b'),
    "characters": _page("&amp;&lt;&#65;&#xe9;&nbsp;&eacute;&notin; R&D AT&T a & b é 日本"),
    "other lines": _page("a\r\nb\rc<pre>\nd\n</pre>"),
    "no scripts in the head": _page("x", "<noscript><meta http-equiv=refresh content='0; url=n'></noscript>"),
    "a space that is a control character": _page("<div>a</div>\x1e<b>b</b>"),
    "blocks in a row": _page("<div>a</div> <div>b</div>c<span><p>d</p></span>e<i><div>f</div></i> g<div>h</div>&nbsp;<b>i</b>"),
}
for _name, _doctype in {
    "none": "",
    "of HTML 5": "<!doctype  HTML\n>",
    "of XHTML": '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">',
    "of HTML 4": '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">',
    "of HTML 3, in disguise": '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 3.2//EN" "//DTD XHTML 1.">',
    "of IBM": '<!DOCTYPE html SYSTEM "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd">',
    "of another name": '<!DOCTYPE foo PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">',
    "with too much": '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" bogus>',
    "with a vertical tab": "<!DOCTYPE html\x0b>",
    "twice": "<!DOCTYPE x><!DOCTYPE html>",
}.items():
    _body = "<html><head></head><body>%s</body></html>"
    PAGES[f"a DOCTYPE {_name}"] = (_doctype + _body % "<p>a").encode()
    PAGES[f"a DOCTYPE {_name}, and a table in a paragraph"] = (
        _doctype + _body % "<p class=comment>a<table><tr><td>b</td></tr></table></p>c"
    ).encode()
PAGES |= {
    "nothing": b"",
    "text": b"x",
    "no body": b"<html><head><title>x</title></head></html>",
    "a fragment": b"<p>x",
    "overlapping": _page("<b>a<i>b</b>c</i>"),
    "formatting beyond its block": _page("<p><b>a<p>b"),
    "an end of nothing": _page("a</div>b"),
    "a link in a link": _page("<a href=x>a<a href=y>b</a>"),
    "an end that legends are not": _page("<fieldset><legend><p>a</legend><label>b</label></fieldset>"),
    "a frame that only some browsers see": _page("<!-- <frame src=x> -->a"),
    "an image deep in a link": _page("<a href=x>" + "<b>" * 6 + "<img alt=p>" + "</b>" * 6 + "</a>"),
    "a paragraph's end in a link, again and again": _page("<a href=x>" + "</p>" * 98 + "a</a>"),
    "many links around blocks on a large page": _page("<a href=x><div>one</div></a>" * 400 + "x" * 1_000_000),
    "a script in a group of columns": _page("<table><colgroup><script></script><col></table>"),
    "a paragraph's end in a list to choose from": _page("<select></p><option>a</select>"),
    "many references in a value": _page("<img alt='" + "&" * 2_000 + "'>"),
    "text in a table": _page("<table>a<tr><td>b</table>"),
    "a template": _page("<template><p>a</template>"),
    "a formula": _page("<math><mi>a</mi></math>"),
    "a tag without an end": _page("<p class="),
    "a comment without an end": b"<html><body>x<!-- y",
    "NUL": _page("a\0b"),
    "no UTF-8": b"<html><body>\xff</body></html>",
    "a half character": b"<html><body>\xc3",
    "no semicolon": _page("&copy 2000"),
    "a character of windows-1252": _page("&#150;"),
    "a script in a comment in a script": _page("<script><!-- <script></script> --></script>"),
    "after the end": _page("x") + b"<p>y",
    "too deep": _page("<div>" * 1_000),
    "too many attributes": _page("<p " + " ".join(f"a{n}=1" for n in range(100)) + ">"),
    "too much in a link": _page("<a href=x>" + "<i>a</i>" * 100 + "</a>"),
    "too many links": _page("<a href=x></a>" * 60_000),
}


def test_compiled_where_that_is_possible() -> None:
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    headers = Path(sysconfig.get_path("include"), "Python.h")
    assert COMPILED or shutil.which(compiler) is None or not headers.exists()


needs_it = pytest.mark.skipif(not COMPILED, reason="installed without a C compiler")
_IN_PLACE = Path(__file__).parents[2] / "larm" / "parse"


@needs_it
@pytest.mark.skipif(Path(parse.__file__).parent != _IN_PLACE, reason="installed, so it was made of these sources")
def test_it_is_what_its_sources_say() -> None:
    """Where it is built in place, that has to be done again after a change: ``pip install -e .``."""
    (built,) = _IN_PLACE.glob("compiled.*.so")
    sources = [_IN_PLACE / "compiled.pyx", *_IN_PLACE.glob("*.pxi")]
    assert built.stat().st_mtime >= max(each.stat().st_mtime for each in sources), "pip install -e ."


@needs_it
@pytest.mark.parametrize("name", PAGES)
def test_any_page(name: str) -> None:
    assert not differences(PAGES[name])


@needs_it
@pytest.mark.parametrize("name", PAGES)
def test_any_piece_of_a_page(name: str) -> None:
    """Each beginning of a page, and a page without one of its bytes: no crash, and the same."""
    body = PAGES[name]
    places = range(len(body)) if len(body) < 1_000 else random.Random(name).sample(range(len(body)), 2)
    for at in places:
        for piece in (body[:at], body[:at] + body[at + 1 :]):
            assert not differences(piece), piece


@needs_it
@pytest.mark.parametrize("name", PAGES)
def test_any_bytes_in_a_page(name: str) -> None:
    """Halves of characters, NUL, control characters, markup."""
    body, chance = PAGES[name][:3_000], random.Random(name)
    odd = [*(bytes([each]) for each in b"\xc3\xa9\xff\0\x01\x1c<>&'"), b"\xe6\x97", b"<a href=x>", b"</p>", b"<!--"]
    for _ in range(60):
        piece = bytearray(body)
        for _ in range(chance.randint(1, 4)):
            at = chance.randint(0, len(piece))
            piece[at : at + chance.randint(0, 2)] = chance.choice(odd)
        assert not differences(bytes(piece)), bytes(piece)


@needs_it
@pytest.mark.parametrize(
    "body",
    [
        b"\xc3<b>\xa9</b>",
        b"\xe6<a href=x>\x97</a>\xa5",
        b"<a href=x>\xc3<b>\xa9",
        b"\xc3<nav>\xa9",
        b"a\xc3",
        b"\xf0\x9f<i>\x98\x80",
    ],
)
def test_halves_of_characters_never_meet(body: bytes) -> None:
    found = reading(body)
    assert not differences(body)
    text = "".join(found.blocks.texts)
    assert "\xe9" not in text
    assert "\ufffd" in text


@needs_it
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_page(name: str) -> None:
    assert not differences(HOSTILE[name][:200_000])


def test_the_text_of_a_link() -> None:
    """Its first thousand characters, and how many there are."""
    found = reading(("<a href=x>" + "\u65e5" * 400 + "<br>" + "a" * 5_000 + "</a>b").encode())
    assert found.elements == [("a", {"href": "x"}, "\u65e5" * 400 + " " + "a" * 599)]
    assert found.blocks.linked == [400 + 5_000]


def test_words_beside_a_frame_are_two() -> None:
    body = b"<p>one<iframe src=x></iframe>two<iframe>unseen</iframe>, three"
    assert document(body, content_type="text/html").raw_text == "one two, three"
    with without_a_compiler():
        assert document(body, content_type="text/html").raw_text == "one two, three"


def test_links_in_links() -> None:
    """Only drawings have such; each has all text in it."""
    found = reading(b"<svg><a href=x>a<a href=y>b</a>c</a></svg>")
    assert [(attributes["href"], text) for _, attributes, text in found.elements] == [("x", "abc"), ("y", "b")]
    assert found.blocks.linked == [3]


def test_without_a_compiler() -> None:
    """The same document."""
    found = document(PAGES["links"], content_type="text/html")
    with without_a_compiler():
        plain = document(PAGES["links"], content_type="text/html")
    assert msgspec.structs.replace(plain, counts=found.counts) == found


@needs_it
def test_a_library_that_lacks_something_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexbor_tree.lexbor, "__file__", "/nonexistent")
    assert lexbor_tree._load() is None


@needs_it
def test_it_is_found_whichever_module_comes_first() -> None:
    for first in ("hostile", "lexbor_tree", "links", "by_mime"):  # two modules that need each other fall back in silence
        code = f"import larm.parse.{first}; from larm.parse import lexbor_tree; assert lexbor_tree.COMPILED"
        subprocess.run([sys.executable, "-P", "-c", code], check=True)


_NAMES = (  # noqa: SIM905
    "a a b i span code br hr img p p div div ul ol li li dl dt dd table tr td th tbody thead tfoot caption colgroup col h1 h2"
    " section nav header aside form button input label select option optgroup noscript pre blockquote fieldset legend summary"
    " figure svg path g center address meta link source template dialog rt q x-y nobr area font"
).split()
_VOID = names("br hr img input meta link source col area")
_ATTRIBUTES = (
    "",
    " class=nav",
    ' class="x comment"',
    ' id="foot"',
    " id=menu class=comment",
    " class=x ID=nav",
    ' href="/a?b=1&amp;c=2"',
    " href=x rel=nofollow",
    ' href="#f"',
    " alt='p'",
    " hidden",
    " CLASS=a role=navigation",
    ' content="&#38;&lt"',
    " a='\"' b",
)
_TEXTS = (
    "a",
    "b c",
    " ",
    "\n",
    "&amp;",
    "&nbsp;",
    "é",
    "&eacute; x",
    "AT&T",
    "<!-- c -->",
    "<!---->",
    "&#65;",
    "\r\n",
    "\x1e",
    "<",
    "日本",
)
_RAWS = ("<script>x</script>", "<style></style>", "<textarea>\n<p></textarea>", "<title>u</title>", "<script><!-- </script>")

_leaves = st.sampled_from(
    [
        *_TEXTS,
        *_RAWS,
        *(f"<{name}>" for name in _NAMES),
        *(f"</{name}>" for name in _NAMES),
        *(f"<{name}/>" for name in _NAMES),
        *(f"<{name}></{name}>" for name in _NAMES),
    ]
)


def _element(name: str, attributes: str, children: list[str], ends: bool) -> str:
    return f"<{name}{attributes}>" + "".join(children) + (f"</{name}>" if ends and name not in _VOID else "")


_markup = st.recursive(
    st.sampled_from(_TEXTS) | _leaves,
    lambda inner: st.builds(
        _element,
        st.sampled_from(_NAMES),
        st.sampled_from(_ATTRIBUTES),
        st.lists(inner, min_size=1, max_size=5),
        st.sampled_from([True] * 4 + [False]),
    ),
    max_leaves=20,
)
_frames = st.sampled_from(["{}", "<table><tr><td>{}</table>", "<ul><li>{}<li>z</ul>", "<p>{}<p>z", "<div>{}</div> t"])


def _check(markup: str, frame: str, doctype: bytes) -> None:
    body = doctype + b"<html><head></head><body>" + frame.format(markup).encode() + b"</body></html>"
    assert not differences(body), body


_any = given(st.lists(_markup, max_size=6).map("".join), _frames, st.sampled_from([b"<!DOCTYPE html>", b""]))


@needs_it
@_any
@example("<p class=x><i><ul><p>a</p>\n<input></ul>t</i>", "{}", b"")  # formatting that begins anew
@example("<dt><ul></ul></dt>", "<table>{}</table>", b"")
@example("<noscript><title>x</title></noscript>", "{}", b"")
@example("<li><dialog hidden> <li>x</dialog>", "<ul>{}</ul>", b"")
@example("<fieldset><legend><p>Title</legend><label>x</label></fieldset>", "{}", b"")
def test_any_markup(markup: str, frame: str, doctype: bytes) -> None:
    _check(markup, frame, doctype)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@needs_it
@settings(max_examples=100_000)
@_any
def test_any_markup_at_length(markup: str, frame: str, doctype: bytes) -> None:
    """What turns up once in ten thousand pages."""
    _check(markup, frame, doctype)


def test_times_and_readings_stand_not_in_words() -> None:
    assert reading(PAGES["times"]).blocks.texts == [
        "11:05 one 2022 two3, 4 \u00e95",
        "six",
    ]
    assert reading(PAGES["readings"]).blocks.texts == ["\u98df\u3079\u308b"]


@needs_it
def test_a_page_says_the_same_whatever_was_read_before() -> None:
    """One document of lexbor's is used for all pages."""
    bodies = [PAGES[name] for name in PAGES]
    plain = [reading_of(body, read_plainly) for body in bodies]
    for seed in range(3):
        order = random.Random(seed).sample(range(len(bodies)), len(bodies))
        for at in order:
            assert reading_of(bodies[at], lexbor_tree.read_tree) == plain[at], bodies[at]


_HREFS = (
    *(
        "a",
        "a/",
        "a?b=c",
        "a/?b",
        "?q",
        "#f",
        "",
        "/",
        "//b.localhost/x",
        "//b.localhost",
        "../x",
        "../../..",
        "./a",
        "a//b",
        "A/B",
    ),
    *(
        "http://a.localhost/d/a",
        "https://a.localhost/a",
        "http://b.localhost",
        "http://b.localhost?x",
        "http://B.localhost/",
        "HTTP://b/",
    ),
    *(
        "http://b.localhost:80/x",
        "http://b.localhost:81/x",
        "https://xn--e1afmkfd.localhost/",
        "http://1.2.3.4/x",
        "http://1.2/x",
    ),
    *(
        "index.html",
        "a/INDEX.php",
        "a/index.htmlx",
        "default.asp",
        "x/.y",
        "x/%2e%2e/y",
        "x%C3%A9",
        "x%c3%a9",
        "x%2F",
        "x%41",
        "x%7e~",
    ),
    *(
        "a+b",
        "a,b",
        "a:b",
        "mailto:a",
        "javascript:;",
        "data:,x",
        " a ",
        "a b",
        "\u00e9?\u00e9",
        "http://[",
        "http://u:p@b.localhost/x",
    ),
    *(
        "a;b=1&c",
        "a?b=c?d",
        "a?b/c",
        "a$",
        "a@b",
        "a/..",
        "a/../b",
        "a?",
        "a#",
        "index.html?x#y",
        "/index.html",
        "x/default.",
        "%",
    ),
)
_SAID = ("a", " a\n b ", "", "\u00e9\u00a0x", "a" * 198 + "  bc", "\x01a\x7f", "<img alt=' q '>", "a&shy;b", "\u65e5" * 300)


@needs_it
@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(_HREFS), st.sampled_from(_SAID), st.sampled_from(("", " rel=nofollow", " name=n"))),
        max_size=12,
    ),
    st.sampled_from(
        (
            "http://a.localhost/d/p",
            "https://a.localhost:444/",
            "http://a.localhost/~x/index.html?y=z",
            "http://1.2.3.4/d/p",
            "file:///d/p.html",
        )
    ),
    st.sampled_from(("", "<base href=/e/f>", "<base href='//c.localhost/%C3%A9/'>", "<meta charset=windows-1252>")),
)
def test_links_lead_where_python_says(links: list[tuple[str, str, str]], url: str, head: str) -> None:
    """Also where an image, a script or a frame has the address, and on pages that come later."""
    plain, compiled = both_processors()
    elements = (
        "<a{2} href='{0}'>{1}</a>",
        "<img src='{0}' alt='x'>",
        "<link{2} href='{0}'>",
        "<iframe src='{0}'></iframe>",
    )
    for element in (*elements, *elements[:2]):
        body = (head + "".join(element.format(*each) for each in links)).encode(
            "cp1252" if "1252" in head else "utf-8", "replace"
        )
        assert document_of(compiled, url, body) == document_of(plain, url, body)
        assert document_of(compiled, f"{url}/y", body) == document_of(plain, f"{url}/y", body)


@needs_it
def test_plain_links_are_resolved_without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PageFinder, "resolve", lambda *_: pytest.fail("Python was called"))
    _, compiled = both_processors()
    hrefs = ("../x", "y.html?z=1&w", "/", "http://b.localhost/z", "//b.localhost", "x%C3%A9#y")
    body = "".join(f"<a href='{href}'>é</a><img src='{href}'>" for href in hrefs).encode()
    for url in ("http://127.0.0.1:8000/b/c", "http://a.localhost/b/c"):
        found = document_of(compiled, url, body)
        assert [link.url.access for link in found.links if link.follow] == [
            *(urljoin(url, href) for href in hrefs[:4]),
            "http://b.localhost/",
            urljoin(url, "x%C3%A9"),
        ]


@needs_it
def test_what_links_say_of_their_page_is_said_of_each_page() -> None:
    """A link that is known from another page is not followed either, and counted."""
    plain, compiled = both_processors()
    unfollowed = "<link rel='next nofollow' href=/y>"
    for body in (f"<a rel=nofollow href=x>x</a>{unfollowed}", unfollowed, f"{unfollowed}<a href=/y>z</a>"):
        found = document_of(compiled, "http://a.localhost/", body.encode())
        assert found == document_of(plain, "http://a.localhost/", body.encode())
        assert NOFOLLOW in found.counts


def test_pages_that_are_read_slowly_are_counted() -> None:
    """Where larm could not be compiled; a user may prefer html5lib."""
    assert UNCOMPILED not in document(PAGES["links"], content_type="text/html").counts
    with without_a_compiler():
        assert UNCOMPILED in document(PAGES["links"], content_type="text/html").counts
        assert UNCOMPILED not in document(PAGES["links"], content_type="text/html", parser="html5lib").counts


@pytest.mark.parametrize("name", ["nested divs", "formatting opened again and again"])
def test_html5lib_has_the_same_budget(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(hostile, "MAX_WORK", hostile.MAX_WORK // 100)
    monkeypatch.setattr(hostile, "MAX_COPIES", hostile.MAX_COPIES // 20)
    page = b"<p>\xc3\xa9\r\n<a href=x>link</a>" + HOSTILE[name]
    _, end = html5lib_tree.read_tree(page, None, hostile.budget())
    assert 0 < end < len(page)
    with without_a_compiler():
        body, (warning,) = cut(page)
        found = document(page, content_type="text/html")
    assert body == page[:end]
    assert f"byte {end}" in warning
    assert (len(found.links), found.cuts) == (1, (EFFORT,))
