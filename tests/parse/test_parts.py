"""Main text, other text and headings, by both parsers."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from larm.model.document import squeeze
from tests.parse.pages import document

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


TEXT = "<p>A sentence of the article, long enough to look like one, with commas. And a second sentence behind it.</p>"
JUNK = [
    "<div class=sidebar><p>Most popular <a href=x>one</a> <a href=y>two</a></div>",
    "<div class='share-buttons'><ul><li><a href=s>Share on something</a></ul></div>",
    "<div id=comments><div class='comment author'><p>I do not agree, sir. Not at all, in fact.</div></div>",
    "<form><p>Subscribe to our newsletter</form>",
    "<ul class=related><li><a href=z>Another article that you may like as well</a></ul>",
]


@PARSERS
@pytest.mark.parametrize("junk", JUNK)
def test_a_page_of_a_magazine(parser: str, junk: str) -> None:
    """What surrounds the article is other text, wherever it stands."""
    html = f"<div class=entry-content>{TEXT * 3}</div>{junk}<div class=newsletter>Subscribe</div>"
    found = document(html, parser=parser)
    assert found.text.count("A sentence of the article") == 3
    assert "newsletter" not in found.text
    other = squeeze(found.other_text)
    assert "Subscribe" in other
    assert found.text.startswith("A sentence")
    assert found.text.endswith("behind it.")


@PARSERS
@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        ("<h3>What others write of it</h3>", ""),
        ("<h3>More</h3><p><a href=x>Another article, that you may like as well as this one.</a></p>", ""),
        (
            "<h3>More</h3><p>Sources, all of them: <a href=x>one</a>, and a second one.</p>",
            " More Sources, all of them: one, and a second one.",
        ),
    ],
)
def test_a_main_text_ends_with_text(parser: str, tail: str, kept: str) -> None:
    """No headings and no links to other articles, of which boxes say nothing; what is text of its own has its heading."""
    article = f"<article itemprop=articleBody class=entry-content>{TEXT * 9}{tail}</article>"
    html = f"{article}<div class=newsletter>Subscribe</div>"
    found = document(html, parser=parser)
    assert found.text.split("behind it.")[-1] == kept


@PARSERS
@pytest.mark.parametrize(
    "inner",
    [
        "<ul>" + "<li><a href=x>link</a>" * 50 + "</ul>",
        "<dl><dt>term<dd>definition</dl><pre>code()</pre><table><tr><td>cell</table>",
        "<main>" + "<p><a href=y>index</a>" * 30 + "</main>",
        "<table><tr><td>only<td>a<td>table</table>",
    ],
)
def test_a_plain_page_keeps_all(parser: str, inner: str) -> None:
    """Documentation and lists of links: all but the menus."""
    found = document(f"<nav>Menu</nav>{inner}<footer>Foot</footer>", parser=parser)
    assert set(squeeze(found.other_text).split()) == {"Menu", "Foot"}
    assert not {"Menu", "Foot"} & set(found.text.split())


@PARSERS
def test_an_entry_of_a_manual_that_is_called_search_is_no_search_field(parser: str) -> None:
    names = ["search", "menu", "navigation", "skip"]
    entries = "".join(f"<div id=Client.{name}><pre>def {name}(self): says what it does</pre></div>" for name in names)
    found = document(f"<main>{TEXT}{entries}</main>", parser=parser)
    assert [name for name in names if f"def {name}" in found.text] == names


@PARSERS
@pytest.mark.parametrize(
    "section",
    [
        "<div class=sect1 id=CATALOG-PG-SUBSCRIPTION>{}</div>",
        "<div class=section id=meta>{}</div>",
        "<div id=related-package-summary>{}</div>",
        "<table class=related><tr><td>{}</table>",
        "<dl class=tags><dd>{}</dl>",
        "<article>{}</article>",
        "<div class='has-sidebar no-menu with_search'>{}</div>",
    ],
)
def test_section_of_manual_is_kept_whatever_its_topic_is_called(parser: str, section: str) -> None:
    found = document(
        f"<nav>Menu</nav>{section.format('<h2>Heading</h2><ul><li>one<li>two</ul>')}<footer>Foot</footer>", parser=parser
    )
    assert found.text == "Heading one two"


@PARSERS
@pytest.mark.parametrize("menu", ["<div class=navheader>{}</div>", "<div id=top-menu>{}</div>", "<nav>{}</nav>"])
def test_short_page_of_manual_is_kept_beside_long_menu(parser: str, menu: str) -> None:
    """A menu by name may be twice as long as the text, one by its tag any times."""
    words = "word " * (500 if "<nav" in menu else 15)
    found = document(f"{menu.format(words)}<h2>A heading of fourteen</h2><p>and some words", parser=parser)
    assert found.text == "A heading of fourteen and some words"


@PARSERS
def test_side_box_amid_manual_is_kept_and_menu_is_not(parser: str) -> None:
    sentence = "Whoever reads this side box learns what the chapter leaves out, which is a lot, and more than a line of it."
    entries = "<div class=sidebar><a href=x>A chapter of the same manual</a></div>"
    found = document(f"{entries}{TEXT}{entries}<div class=sidebar>{sentence}</div>{TEXT}{entries}", parser=parser)
    assert found.text.count("A sentence of the article") == 2
    assert f"behind it. {sentence} A sentence" in found.text
    assert "chapter of the same" not in found.text


@PARSERS
@pytest.mark.parametrize(
    "beside",
    [
        "<dialog open><p>{}</dialog>",
        "<div role=dialog aria-modal=true><p>{}</div>",
        "<aside><p>{}</aside>",
        "<select><option>{}</select>",
        "<ul role=menu><li>{}</ul>",
    ],
)
@pytest.mark.parametrize("kind", ["", "<div class=newsletter>Subscribe</div>"])
def test_dialogs_side_boxes_and_options_are_no_main_text(parser: str, beside: str, kind: str) -> None:
    more = "We use cookies, as all do, and you agree to that by reading this sentence. There is no other way, we fear."
    html = f"<h1>Title</h1><div class=entry-content>{TEXT * 3}{beside.format(more)}{TEXT}</div>{kind}"
    found = document(html, parser=parser)
    assert found.text.count("A sentence of the article") == 4
    assert "cookies" not in found.text
    assert "cookies" in document(beside.format(more), parser=parser).text


@PARSERS
@pytest.mark.parametrize(
    "apart",
    [
        "<form action=/subscribe>{}<input type=email></form>",
        "<div class=modal>{}</div>",
        "<div class=md-consent hidden>{}</div>",
        "<div id=cookie-notice>{}</div>",
        "<div itemprop=comment>{}</div>",
    ],
)
def test_forms_popups_and_comments_are_main_text_only_where_they_are_most_of_page(parser: str, apart: str) -> None:
    """On a page of a manual, too: a request for consent does not make a magazine of it."""
    box = apart.format("<h2>Stay in touch</h2><p>We write on Fridays, never on other days, and never twice.</p>")
    found = document(f"<h1>Title</h1>{TEXT * 3}{box}<ul><li>one</ul>", parser=parser)
    assert "Fridays" not in found.text
    assert found.text.endswith("behind it. one")
    assert document(f"<p>Hello</p>{apart.format(TEXT)}", parser=parser).text.endswith("behind it.")


@PARSERS
@pytest.mark.parametrize("name", ["cookies", "set-cookie", "cookie-attributes"])
def test_chapter_on_cookies_is_no_request_for_consent(parser: str, name: str) -> None:
    found = document(f"<h1>Title</h1>{TEXT * 3}<div id={name}><h2>Cookies</h2><p>How they are set.</p></div>", parser=parser)
    assert found.text.endswith("Cookies How they are set.")


@PARSERS
def test_text_far_behind_article_is_no_main_text(parser: str) -> None:
    """Such as the latest comments of a magazine, behind long lists of other articles."""
    links = "<ul class=related>" + "<li><a href=x>Another article that you may like as well</a>" * 20 + "</ul>"
    late = "<p>Ann writes that she does not agree, and says why. It is a matter of taste, she says.</p>"
    found = document(f"<div class=entry-content>{TEXT * 9}</div>{links}<div>{late}</div>", parser=parser)
    assert found.text.endswith("behind it.")
    assert "Ann writes" in found.other_text


@PARSERS
@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<title>News</title><header><h1>News</h1></header>", True),
        ("<title>A piece - Site</title><header><h1>Site</h1></header><h2>A piece</h2>", False),
        ("<title>Site - A piece</title><header><h1>A piece</h1></header>", True),
        ("<title>A piece - Site</title><div><h1><a href=/>Site</a></h1></div><h1>A piece</h1>", False),
        ("<title>A piece - Site</title><h1 class=site-title>Site</h1><h1>A piece</h1>", False),
        ("<nav><h1>Menu</h1></nav>", False),
    ],
)
def test_heading_is_kept_and_name_of_site_is_not(parser: str, html: str, kept: bool) -> None:
    found = document(f"{html}{TEXT}", parser=parser)
    first = found.headings[0]
    assert (first in found.text.split("A sentence")[0]) == kept
    assert ("A piece" in found.text) == ("A piece" in html)


@PARSERS
def test_a_named_main_part(parser: str) -> None:
    html = "<div>Top of the site</div><nav>" + "Menu " * 90 + "</nav><main><h1>Title</h1>" + "word " * 40 + "</main>"
    found = document(html, parser=parser)
    assert found.text.startswith("Title word")
    assert "Top" not in found.text


@PARSERS
def test_hidden_links_and_marks_of_a_page_itself(parser: str) -> None:
    """Control characters in a page are text like any other."""
    found = document("<p>a&#1;b\x01c<nav>d&#28;e&#29;</nav><a href=x>f</a>", parser=parser)
    assert (found.raw_text, found.other_text) == ("a\1b\1c\nf", "d\x1ce")


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


@PARSERS
@pytest.mark.parametrize(
    ("html", "places"),
    [
        ("<h1 id=a>A</h1><h2>B</h2>", ("a", "")),
        ("<section id=a><h1>A</h1><p>x</p><h2>B</h2></section>", ("a", "")),
        ("<div id=a><div class=titlepage><div><h1><a id=b></a>A</h1></div></div></div>", ("b",)),
        ("<div id=a>x<h1>A</h1></div><p>a <a name=b>b</a></p><h2>B</h2><a name=c></a><h3>C</h3>", ("", "", "c")),
        ("<h1 id=a> </h1><h2 id=b>B<div id=c>C</div></h2>", ("c",)),
        ("<h1 id=''>A</h1>", ("",)),
    ],
)
def test_places_of_headings(parser: str, html: str, places: tuple[str, ...]) -> None:
    """The last id that begins with it or is in it; text in between is another place."""
    assert document(html, parser=parser).places == places


def test_many_headings() -> None:
    assert len(document("<h1>x</h1>" * 2_000).headings) == 1_000


def test_the_weight_of_a_box_is_the_same_in_every_process() -> None:
    """Sets of words have another order in each, and a sum of floats another last digit, which may decide."""
    script = (
        "from larm.parse.boxes import weigh\n"
        "for each in ('status column block float', 'twitter mainmenu medium submenu', 'second header desktoponly main',"
        " 'titlepage status item theme'):\n"
        "    print([weigh(tag, {'class': each}) for tag in ('div', 'section', 'td', 'li')])"
    )
    said = {
        subprocess.check_output([sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}) for seed in "012345"
    }
    assert len(said) == 1
    assert b"Box" in said.pop()
