"""Which links a page has, where they lead, what they are called and which are followed."""

from __future__ import annotations

import pytest

from larm.parse.assembly import MALFORMED
from larm.testing.fakes import message, page
from tests.parse.pages import PAGE, by_mime, document, links

PARSERS = pytest.mark.parametrize("parser", ["lexbor", "html5lib"])


@PARSERS
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<a href="x">Text</a>', [("/dir/x", 0, "Text", True)]),
        ("<A HREF='/X'>Text</A>", [("/X", 0, "Text", True)]),
        ("<a href=?q&amp;r>Text</a>", [("/dir/page.html?q&r", 0, "Text", True)]),
        ("<a href=http://b.localhost>Text</a>", [("http://b.localhost/", 0, "Text", True)]),
        ('<a href="x#part">Text</a>', [("/dir/x", 0, "Text", True)]),
        ("<a href=#part>Text</a><a name=x>y</a><a href>z</a>", []),
        ("<a href=mailto:a@b>x</a><a href='javascript:x()'>y</a><a href=tel:1>z</a>", []),
        ("<map><area href=x alt=' An  area '></map>", [("/dir/x", 0, "An area", True)]),
        ("<iframe src=x>fallback</iframe>", [("/dir/x", 1, "", True)]),
        (
            "<iframe srcdoc='<a href=x>y</a>'></iframe><x-y><template shadowrootmode=open><a href=z>y</a></template></x-y>"
            "<template><a href=no>y</a></template>",
            [("/dir/x", 0, "y", True), ("/dir/z", 0, "y", True)],
        ),
        ("<iframe srcdoc='<a href=x>\ty<br>z <img></a>'></iframe>", [("/dir/x", 0, "y z", True)]),
        ("<iframe srcdoc='<base href=/><a href>y</a>'></iframe>", []),
        ("<body><noframes><p>q<a href=x>\t<img></a></noframes>", [("/dir/x", 0, "", True)]),
        ("<frameset><frame src=x><frame src=y></frameset>", [("/dir/x", 1, "", True), ("/dir/y", 1, "", True)]),
        ("<img src=x alt='A  picture'>", [("/dir/x", 0, "A picture", False)]),
        ("<img src='data:image/png;base64,AAAA'>", []),
        ("<script src=x></script>", [("/dir/x", 0, "", False)]),
        ("<link rel=stylesheet href=x>", [("/dir/x", 0, "", False)]),
        ("<link rel=search href=x>", [("/dir/x", 0, "", True)]),
        ("<link rel=search type='application/OpenSearchDescription+xml' href=x>", [("/dir/x", 0, "", False)]),
        ("<link rel='Shortcut Icon' href=x>", [("/dir/x", 0, "", False)]),
        ("<link rel=dns-prefetch href=//b.localhost><link rel=preconnect href=//c.localhost>", []),
        ("<link rel=next href=x><link rel=canonical href=y>", [("/dir/x", 0, "", True), ("/dir/y", 0, "", True)]),
        ("<link rel=prefetch href=x><link rel=prefetch as=script href=y>", [("/dir/x", 0, "", True), ("/dir/y", 0, "", False)]),
        ("<link rel=alternate type=application/json+oembed href=x>", [("/dir/x", 0, "", False)]),
        ("<video src=x></video><embed src=y><object data=z></object>", [(f"/dir/{c}", 0, "", False) for c in "xyz"]),
        ("<object data=x type='Text/HTML; charset=utf-8'></object>", [("/dir/x", 1, "", True)]),
        (
            "<object data=x.pdf type=application/pdf></object><embed src=y type='application/pdf'>",
            [("/dir/x.pdf", 1, "", True), ("/dir/y", 1, "", True)],
        ),
        (
            "<object data=x.HTM></object><embed src='y.pdf?z#page=2'>",
            [("/dir/x.HTM", 1, "", True), ("/dir/y.pdf?z", 1, "", True)],
        ),
        (
            "<object data=x.html type=video/mp4></object><embed src=y.htmlx>",
            [(f"/dir/{x}", 0, "", False) for x in ("x.html", "y.htmlx")],
        ),
        (
            "<embed src=x type=application/xhtml+xml><embed src=y type=video/mp4>",
            [("/dir/x", 1, "", True), ("/dir/y", 0, "", False)],
        ),
        ("<meta http-equiv=Refresh content='0; url=x'>", [("/dir/x", 0, "", True)]),
        ("<form action=x><input formaction=y></form>", []),
        ("<!-- <a href=x>y</a> --><script>'<a href=x>'</script><textarea><a href=x></textarea>", []),
        ("<body><noscript><a href=x>y</a><img src=z></noscript>", [("/dir/x", 0, "", True), ("/dir/z", 0, "", False)]),
        ("<svg><a xlink:href=x>y</a></svg>", [("/dir/x", 0, "y", True)]),
    ],
)
def test_elements_that_link(parser: str, html: str, expected: list[tuple[str, int, str, bool]]) -> None:
    assert links(html, parser=parser) == expected


@PARSERS
@pytest.mark.parametrize(
    ("inner", "anchor"),
    [
        ("  Two \n words ", "Two words"),
        ("<b>B</b>old &amp; <i>brave</i>", "Bold & brave"),
        ("<h3>Head</h3><p>Body</p>", "Head Body"),
        ("one<br>two", "one two"),
        ("<img src=x alt='A picture'>", "A picture"),
        ("Before <img src=x alt=picture>after", "Before picture after"),
        ("<span><picture><img src=x alt=deep></picture></span>", "deep"),
        ("<img src=x>", ""),
        ("<script>no()</script>", ""),
        ("Text<style>b{}</style>", "Text"),
        ("<svg><title>icon</title></svg>Name", "Name"),
        ("word " * 100, ("word " * 100)[:200]),
    ],
)
def test_anchor_text(parser: str, inner: str, anchor: str) -> None:
    """LARM-91, LARM-101: the whole of the link, tags dropped, ALT kept, 200 characters."""
    html = f"<div>x<img src=y alt=outside><a href=z>{inner}</a><img src=y alt=behind></div>"
    assert [link[2] for link in links(html, parser=parser) if link[0] == "/dir/z"] == [anchor]


def test_links_stand_in_document_order_and_once() -> None:
    html = (
        "<img src=1><a href=2>a</a><a href=2>a</a><a href=2#x>a</a><a href=2>b</a><iframe src=2></iframe><link rel=up href=3>"
    )
    assert [(link[0][-1], link[1], link[2]) for link in links(html)] == [
        ("1", 0, ""),
        ("2", 0, "a"),
        ("2", 0, "b"),
        ("2", 1, ""),
        ("3", 0, ""),
    ]


@pytest.mark.parametrize(
    ("head", "target"),
    [
        ("<base href=/other/>", "/other/x"),
        ("<base href=http://b.localhost/y>", "http://b.localhost/x"),
        ("<base target=_top><base href=/1/><base href=/2/>", "/1/x"),
        ("<base href='http://['>", "/dir/x"),
        ("<base href=data:,x>", "/dir/x"),
        ("", "/dir/x"),
    ],
)
def test_base(head: str, target: str) -> None:
    assert links(f"<head>{head}</head><a href=x>y</a>") == [(target, 0, "y", True)]


def test_a_relative_link_leads_elsewhere_from_each_directory_though_the_root_has_the_same_one() -> None:
    reader = by_mime()
    for place in ("", "b/", "", "b/c/", "b/"):
        found = reader.process(message(f"http://a.localhost/{place}"), page("<a href=x/>X</a><a href=/y>Y</a>"))
        assert [link.url.access for link in found.links] == [f"http://a.localhost/{place}x/", "http://a.localhost/y"]


@PARSERS
@pytest.mark.parametrize(
    ("base", "targets"),
    [
        ("/other/", ["/other/"]),
        ("x?y#z", ["/dir/x?y"]),
        ("http://b.localhost/", ["http://b.localhost/"]),
        ("#z", []),
        ("http://a.localhost/dir/page.html", []),
        ("http://[", []),
    ],
)
@pytest.mark.parametrize("link", ["<a href='#x'>y</a>", "<a href=' #x'>y</a>", "<a href=''>y</a>", "<a href>y</a>"])
def test_link_without_an_address_leads_to_the_base(parser: str, base: str, targets: list[str], link: str) -> None:
    """Where that is the page itself, it leads nowhere."""
    assert [found[0] for found in links(f"<base href='{base}'>{link}<img src=''><a>z</a>", parser=parser)] == targets


def test_base_holds_for_links_before_it() -> None:
    assert links("<link rel=up href=x><base href=/other/>") == [("/other/x", 0, "", True)]


@pytest.mark.parametrize(
    ("html", "headers"),
    [
        ("<a rel='me NoFollow' href=x>y</a>", {}),
        ("<area rel=nofollow alt=y href=x>", {}),
        ("<meta name=Robots content='index, nofollow'><a href=x>y</a>", {}),
        ("<meta name=robots content=none><a href=x>y</a>", {}),
        ("<a href=x>y</a>", {"X_Robots_Tag": "nofollow"}),
    ],
)
def test_nofollow(html: str, headers: dict[str, str]) -> None:
    assert links(html, headers=headers) == [("/dir/x", 0, "y", False)]
    assert links(html, headers=headers, nofollow=False) == [("/dir/x", 0, "y", True)]


def test_embedded_files_are_followed_on_request_and_never_against_the_page() -> None:
    html = "<img src=x><script src=y></script>"
    assert [link[3] for link in links(html, follow_embedded=True)] == [True, True]
    assert [link[3] for link in links("<meta name=robots content=nofollow>" + html, follow_embedded=True)] == [False, False]


def test_noindex() -> None:
    assert document("<p>x").index
    assert not document("<meta name=robots content=noindex><p>x").index
    assert not document("<p>x", headers={"X_Robots_Tag": "noindex"}).index
    assert not document("<meta name=robots content=noindex><p>x", nofollow=False).index


def test_links_in_headers() -> None:
    headers = {"Link": "</next>; rel=next, <style.css>; rel=preload; as=style", "Refresh": "0; url=away"}
    expected = [("/next", 0, "", True), ("/dir/style.css", 0, "", False), ("/dir/away", 0, "", True)]
    assert links("<p>x", headers=headers) == expected


def test_malformed_links_are_warnings() -> None:
    """LARM-103."""
    found = document("<a href='http://['>x</a><a href=ok>y</a><a href='http://['>x</a>")
    assert [link.url.access for link in found.links] == ["http://a.localhost/dir/ok"]
    (line,) = found.warnings
    assert line.startswith(f"{PAGE}: malformed link 'http://[': ")
    assert found.counts == (MALFORMED,)
    assert document("<a href=ok>y</a>").counts == ()


def test_warnings_are_few_and_short() -> None:
    found = document("".join(f"<a href='http://[{n}{'x' * 5000}'>x</a>" for n in range(100)))
    assert len(found.warnings) == 20
    assert found.warnings[-1] == f"{PAGE}: 81 more of that kind"
    assert max(map(len, found.warnings)) < 500


def test_frames_behind_text_are_found() -> None:
    """The standard ignores them, the people who wrote them meant them."""
    assert links("<h1>No frames?</h1><FRAMESET><FRAME SRC=x></FRAMESET>") == [("/dir/x", 1, "", True)]


def test_a_link_is_followed_if_any_of_its_kind_is() -> None:
    """An image on the page is embedded; linked to as well, it is a page of its own."""
    assert links("<img src=/i.jpg><a href=/i.jpg><img src=/j.jpg></a>") == [("/i.jpg", 0, "", True), ("/j.jpg", 0, "", False)]
    assert links("<a href=/x rel=nofollow>x</a><a href=/x>x</a><a href=/x rel=nofollow>x</a>") == [("/x", 0, "x", True)]
