"""Pages read in one pass: as by the tree, or not at all."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from larm.processing import regular
from larm.processing.readable import names
from larm.processing.regular import COMPILED, read_regular
from tests.processing.both_readers import differences, differences_without_text
from tests.processing.pages import document
from tests.processing.test_hostile import PAGES as HOSTILE


def _page(body: str, head: str = "<title>T</title>") -> bytes:
    return f"<!DOCTYPE html>\n<html lang=en><head>{head}</head>\n<body>{body}</body></html>\n".encode()


REGULAR = {
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
    "what is not said": _page(
        '<script type="application/ld+json">{"a": "<b>"}</script><style>p {}</style><textarea><p></textarea>x'
        "<noscript>You need <a href=n>scripts</a>.<p>y</p></noscript>z<!-- c -->"
        "<script>if (a <!--b) '</scr' + 'ipt>'</script><iframe src=f>w</iframe>"
    ),
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
    REGULAR[f"a DOCTYPE {_name}"] = (_doctype + _body % "<p>a").encode()
    REGULAR[f"a DOCTYPE {_name}, and a table in a paragraph"] = (
        _doctype + _body % "<p class=comment>a<table><tr><td>b</td></tr></table></p>c"
    ).encode()
"""Pages that are read in one pass, or (some of the last ones) would be read wrongly."""
IRREGULAR = {
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


@needs_it
@pytest.mark.parametrize("name", REGULAR)
def test_as_by_the_tree(name: str) -> None:
    assert not differences(REGULAR[name])


@needs_it
def test_most_of_them_are_regular() -> None:
    left = [name for name, body in REGULAR.items() if read_regular(body, text=True) is None]
    assert all("DOCTYPE" in name for name in left), left
    assert len(left) == 9


@needs_it
def test_a_name_that_is_nearly_known() -> None:
    """One of more than eight characters has a key, which another may have as well."""
    for name in ("figcaptiq0", "blockquota", "blockquote0", "FIGCAPTION"):
        assert differences(_page(f"a<{name}>b</{name}>c")) == []


_IN_PLACE = Path(__file__).parents[2] / "larm" / "processing" / "regular"


@needs_it
@pytest.mark.skipif(Path(regular.__file__).parent != _IN_PLACE, reason="installed, so it was made of these sources")
def test_it_is_what_its_sources_say() -> None:
    """Where it is built in place, that has to be done again after a change: ``pip install -e .``."""
    built = min(each.stat().st_mtime for each in _IN_PLACE.glob("page.*.so"))
    changed = max(source.stat().st_mtime for source in _IN_PLACE.iterdir() if source.suffix in (".pyx", ".pxi"))
    assert built >= changed, "pip install -e ."


@needs_it
@pytest.mark.parametrize("name", IRREGULAR)
def test_left_to_the_tree(name: str) -> None:
    assert read_regular(IRREGULAR[name], text=True) is None


@needs_it
@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize("text", [True, False])
def test_any_piece_of_a_page(name: str, text: bool) -> None:
    """Each beginning of a page, and a page without each of its bytes: no crash, and nothing else than the tree says."""
    body = REGULAR[name]
    for at in range(len(body)):
        for piece in (body[:at], body[:at] + body[at + 1 :]):
            assert not (differences(piece) if text else differences_without_text(piece)), piece


@needs_it
def test_without_the_text() -> None:
    body = REGULAR["links"]
    with_text, without = read_regular(body, text=True), read_regular(body, text=False)
    assert with_text is not None
    assert without is not None
    assert (without.marked, without.boxes, without.headings) == ("", [], [])
    assert (list(without.elements), without.about) == (list(with_text.elements), with_text.about)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_page(name: str) -> None:
    """In a frame that gets it past the first tag."""
    found = document(b"<html><head></head><body>" + HOSTILE[name] + b"</body></html>", content_type="text/html")
    assert not any("Error" in line for line in found.warnings), found.warnings


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same document."""
    body = REGULAR["links"]
    one = document(body, content_type="text/html")
    monkeypatch.setattr("larm.processing.html.read_regular", lambda body, *, text: None)
    assert document(body, content_type="text/html") == one


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
@settings(max_examples=100_000, deadline=None)
@_any
def test_any_markup_at_length(markup: str, frame: str, doctype: bytes) -> None:
    """What turns up once in ten thousand pages."""
    _check(markup, frame, doctype)
