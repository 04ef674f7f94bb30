"""Feeds, sitemaps and other XML, as a crawl reads them."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.kit.gunzip import unpack
from larm.model.cuts import EFFORT, ENDS_EARLY, LINKS
from larm.model.links import Links
from larm.model.message import SITEMAP as LISTED
from larm.model.message import URLMessage
from larm.parse import hostile
from larm.parse.by_mime import MAX_SIZE
from larm.parse.sitemap import TextKind, kind_of_text, read_text, read_xml, speaks_for
from larm.testing.fakes import page
from tests.parse.pages import PAGE, by_mime, document, links, normalizer

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>News &amp; more</title><link>http://a.localhost/</link><description>Of the day</description>
<item><title>One</title><link>/one</link><description>&lt;p&gt;First &lt;a href="/in"&gt;inner&lt;/a&gt;&lt;/p&gt;</description>
<pubDate>Fri, 02 Jan 1970 00:00:00 GMT</pubDate><enclosure url="/sound.mp3" type="audio/mpeg" length="5"/></item>
<item><title>Two</title><guid>http://a.localhost/two</guid><content:encoded><![CDATA[<b>Second</b>]]></content:encoded></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/base/"><title>Atom</title>
<link rel="self" href="/feed.atom"/><link href="/home"/><updated>1970-01-02T00:00:00Z</updated>
<entry xml:base="sub/"><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">An <b>entry</b></div></title>
<link rel="alternate" type="image/png" href="p.png"/><link rel="alternate" type="text/html" href="page"/>
<content type="text/html">Said &lt;em&gt;so&lt;/em&gt;</content></entry></feed>"""
SITEMAP = (
    "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'>"
    "<url><loc> http://a.localhost/dir/1 </loc><lastmod>1970-01-02</lastmod><image:image><image:loc>http://i/</image:loc>"
    "</image:image></url><url><loc>http://a.localhost/2</loc></url></urlset>"
)


@pytest.mark.parametrize(
    "content_type", ["application/rss+xml", "text/xml", "text/html", "text/plain", "", "application/x+xml"]
)
def test_rss(content_type: str) -> None:
    found = document(RSS, content_type=content_type)
    assert (found.title, found.index, found.modified, found.warnings) == ("News & more", True, 86_400, ())
    assert found.text == "Of the day One First inner Two Second"
    assert links(RSS, content_type=content_type) == [
        ("/", 0, "News & more", True),
        ("/one", 0, "One", True),
        ("/sound.mp3", 0, "", False),
        ("/in", 0, "inner", True),
        ("/two", 0, "Two", True),
    ]


def test_outlines_have_their_words_in_attributes() -> None:
    outlines = "<outline text='Seabirds'><outline text='Gulls &amp; terns' xmlUrl='/feed' htmlUrl='/gulls'/></outline>"
    opml = f"<opml><head><title>My feeds</title></head><body>{outlines}</body></opml>"
    found = document(opml, content_type="text/x-opml")
    assert found.text == "My feeds Seabirds Gulls & terns"
    assert len(found.links) == 2


def test_atom_with_bases_and_several_alternates() -> None:
    found = document(ATOM, content_type="application/atom+xml")
    assert (found.title, found.text, found.modified) == ("Atom", "An entry Said so", 86_400)
    assert links(ATOM, content_type="application/atom+xml") == [
        ("/feed.atom", 0, "", False),
        ("/home", 0, "Atom", True),
        ("/base/sub/page", 0, "An entry", True),
        ("/base/sub/p.png", 0, "", True),
    ]


def test_bases_that_are_none() -> None:
    for base in ("http://[::1", "file:///etc/", "mailto:x@y"):
        feed = f"<rss xml:base='{base}'><channel><link>passwd</link></channel></rss>"
        assert links(feed, content_type="text/xml") == [("/dir/passwd", 0, "", True)], base
        assert links(feed, content_type="text/xml", headers={"content_location": base}) == [("/dir/passwd", 0, "", True)], base


def test_rdf_and_cdf() -> None:
    rdf = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>C</title>'
        "<link>/c</link></channel><item><title>I</title><link>/i</link></item></rdf:RDF>"
    )
    assert links(rdf, content_type="text/xml") == [("/c", 0, "C", True), ("/i", 0, "I", True)]
    cdf = '<CHANNEL HREF="/c"><TITLE>C</TITLE><ITEM HREF="/i"><TITLE>I</TITLE></ITEM></CHANNEL>'
    assert links(cdf, content_type="application/x-cdf+xml") == [("/c", 0, "C", True), ("/i", 0, "I", True)]


@pytest.mark.parametrize("declared", [' xmlns:slash="http://purl.org/rss/1.0/modules/slash/"', ""])
def test_number_of_comments_in_a_feed_is_no_link(declared: str) -> None:
    comments = "<comments>/replies</comments><slash:comments>12</slash:comments>"
    feed = f"<rss version='2.0'{declared}><channel><item><link>/entry</link>{comments}</item></channel></rss>"
    assert [link[0] for link in links(feed, content_type="application/rss+xml")] == ["/entry", "/replies"]


def test_a_broken_feed_is_read_as_far_as_it_goes() -> None:
    found = document(RSS[: RSS.index("Second")].replace("&amp;", "&"), content_type="text/xml")
    assert (found.title, len(found.links)) == ("News & more", 5)
    assert found.warnings == (f"{PAGE}: feed: not well-formed: it ends too early",)


def test_sitemap() -> None:
    found = document(SITEMAP, content_type="text/xml")
    assert (found.index, found.text, found.title) == (False, "", "")
    assert links(SITEMAP, content_type="text/xml") == [("/dir/1", 0, "", True), ("/2", 0, "", True)]
    assert links(SITEMAP, content_type="text/xml", strict_sitemaps=True) == [("/dir/1", 0, "", True)]


def test_lastmod_and_other_namespaces() -> None:
    found = read_xml(SITEMAP)
    assert [(entry.loc, entry.modified) for entry in found.entries] == [
        ("http://a.localhost/dir/1", 86_400),
        ("http://a.localhost/2", 0),
    ]
    assert read_xml(SITEMAP, strict_namespace=True).entries
    assert not read_xml(SITEMAP.replace("/0.9", "/x"), strict_namespace=True).entries


def test_pages_in_other_languages_are_pages_of_a_sitemap() -> None:
    """Google asks for an entry of each; many sites have none."""
    other = "<xhtml:link rel='alternate' hreflang='{0}' href='http://a.localhost/{0}'/>"
    text = SITEMAP.replace("<url>", "<url>" + "".join(other.format(language) for language in ("de", "dir/1", "fr")))
    text = text.replace("</url>", "<xhtml:link rel='amphtml' href='/amp'/><image:link hreflang='x' href='/no'/></url>")
    found = [link[0] for link in links(text, content_type="text/xml")]
    assert found == ["/dir/1", "/2", "/de", "/fr"]
    assert document(text, content_type="text/xml").lastmods == document(SITEMAP, content_type="text/xml").lastmods


def test_a_malformed_sitemap_is_refused_by_who_is_strict_and_one_cut_off_is_not() -> None:
    broken = SITEMAP.replace("</url>", "</url></url>", 1)
    found = document(broken, content_type="text/xml")
    assert len(found.links) == 2, "nothing else may lead to its pages"
    assert found.warnings == (f"{PAGE}: sitemap: not well-formed: </url> without a beginning",)
    assert document(broken, content_type="text/xml", strict_sitemaps=True).links == Links()
    assert read_xml(broken).entries == []
    found = document(SITEMAP[:-30], content_type="text/xml")
    assert len(found.links) == 2
    assert found.warnings == (f"{PAGE}: the sitemap ends too early, after 2 entries",)
    assert found.cuts == (ENDS_EARLY,), "which is told at the end of the crawl"


@pytest.mark.parametrize(
    ("text", "content_type"),
    [
        ("<urlset>" + "".join(f"<url><loc>http://a.localhost/{n}</loc></url>" for n in range(501)) + "</urlset>", "text/xml"),
        ("".join(f"http://a.localhost/{n}\n" for n in range(501)), "text/plain"),
        ("<rss><channel>" + "".join(f"<item><link>/{n}</link></item>" for n in range(501)) + "</channel></rss>", "text/xml"),
        ("<x>" + "".join(f"<y href='/{n}'/>" for n in range(501)) + "</x>", "text/xml"),
    ],
    ids=["sitemap", "text", "feed", "xml"],
)
def test_links_are_bounded_as_those_of_pages(text: str, content_type: str) -> None:
    found = document(text, content_type=content_type, links=500)
    assert (len(found.links), found.cuts) == (500, (LINKS,))
    assert found.warnings == (f"{PAGE}: 501 links and the like; those after the first 500 are ignored",)
    found = document(text, content_type=content_type, links=501)
    assert (len(found.links), found.cuts) == (501, ())


@pytest.mark.parametrize(
    "body",
    [
        "<url><loc>/1<lastmod>2020-01-01</lastmod></url><url><loc>/2</loc></url>",
        "<url><loc>/1<lastmod>2020-01-01</lastmod><url><loc>/2</loc></url>",
        "<url><loc>/1<url><loc>/2<lastmod>2020-01-01</lastmod></url>",
        "<url><loc>/1<loc></url><url><loc>/2<loc></url>",
    ],
)
def test_addresses_without_an_end_are_not_glued_together(body: str) -> None:
    """Or one is asked for that nobody has written, and those that are there are lost."""
    found = read_xml(f"<urlset>{body}</urlset>", partial=True)
    assert [entry.loc for entry in found.entries] == ["/1", "/2"]
    assert found.error


def test_a_sitemap_may_have_more_entries_than_the_protocol_allows() -> None:
    many = "".join(f"<url><loc>http://a.localhost/{n}</loc></url>" for n in range(50_001))
    assert len(document(f"<urlset>{many}</urlset>", content_type="text/xml").links) == 50_001


@pytest.mark.parametrize(
    "text",
    [
        "<x>" + "<y>" * 600 + "<z href='/last'/>",
        "<urlset>" + "<url>" * 600 + "</url>" * 600 + "<url><loc>http://a.localhost/last</loc></url></urlset>",
        "<rss><channel>" + "<y>" * 600 + "</y>" * 600 + "<item><link>/last</link></item></channel></rss>",
        "<rss><channel><item><description>" + "&lt;div>x" * 2_200 + "&lt;a href=/last></description></item></channel></rss>",
    ],
    ids=["xml", "sitemap", "feed", "HTML in a feed"],
)
def test_what_is_deeper_is_read_with_more_effort(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(hostile, "MAX_WORK", hostile.MAX_WORK // 100)  # or it takes a second
    found = document(text, content_type="text/xml")
    assert (len(found.links), found.cuts) == (0, (EFFORT,))
    found = document(text, content_type="text/xml", effort=10)
    assert (len(found.links), found.cuts) == (1, ())


def test_gzip_of_many_members() -> None:
    packed = b"".join(gzip.compress(b"") for _ in range(10_001)) + gzip.compress(b"words")
    assert document(packed, content_type="application/gzip").cuts == (EFFORT,)
    found = document(packed, content_type="application/gzip", effort=2)
    assert (found.text, found.cuts) == ("words", ())


def test_text_sitemap() -> None:
    text = "\ufeffhttp://a.localhost/1\r\n\r\nhttp://a.localhost/2\n"
    assert kind_of_text(text) is TextKind.SITEMAP
    assert [entry.loc for entry in read_text(text).entries] == ["http://a.localhost/1", "http://a.localhost/2"]
    found = document(text, content_type="text/plain")
    assert (len(found.links), found.index) == (2, False)
    assert kind_of_text("http://a.localhost/1\n" * 9 + "# the end") is TextKind.SITEMAP
    for other in ("", "http://a.localhost/1 is a page", "see\nhttp://a.localhost/1", "http://a.localhost/1\nsee"):
        assert kind_of_text(other) is TextKind.NO_SITEMAP


@pytest.mark.parametrize(
    ("lines", "addresses"),
    [
        (["http://a.localhost/1", "a.localhost/2"], ["http://a.localhost/1", "http://a.localhost/2"]),
        (["A.localhost/2", "http://a.localhost/1"], ["http://a.localhost/2", "http://a.localhost/1"]),
        (
            ["\ufeff  https://b.localhost:8/1\t", "", "b.localhost:8/2?x"],
            ["https://b.localhost:8/1", "https://b.localhost:8/2?x"],
        ),
        (["http://a.localhost/1", "www.example.org/2"], ["http://a.localhost/1", "http://www.example.org/2"]),
        (
            ["http://a.localhost/1", "/2", "//b.localhost/3", "http://a.localhost/4"],
            ["http://a.localhost/1", "http://a.localhost/2", "http://b.localhost/3", "http://a.localhost/4"],
        ),
        (
            ["http://a.localhost/1", "http://a.localhost/1b", "x.html"],
            ["http://a.localhost/1", "http://a.localhost/1b", "http://a.localhost/dir/x.html"],
        ),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_text_sitemap_with_an_address_without_scheme_or_host_stays_one(
    lines: list[str], addresses: list[str], end: str
) -> None:
    found = document(end.join(lines), content_type="text/plain")
    assert [link.url.access for link in found.links] == addresses
    assert (found.index, found.raw_text) == (False, "")


def test_text_sitemap_with_comments_is_followed_and_indexed_only_where_nobody_calls_it_a_sitemap() -> None:
    text = "# pages\n# of this site\n\nhttp://a.localhost/1\n# and\nhttp://a.localhost/2\nhttp://a.localhost/3\nhttp://a.localhost/4\n"
    found = document(text, content_type="text/plain")
    assert (len(found.links), found.index) == (4, True)
    listed = URLMessage(normalizer.parse(PAGE), link_type=LISTED)
    found = by_mime().process(listed, page(text, content_type="text/plain"))
    assert (len(found.links), found.index, found.warnings) == (4, False, ())


def test_text_sitemap_says_which_lines_it_skips() -> None:
    found = document(
        "\n".join([f"http://a.localhost/{n}" for n in range(20)] + ["the", "end of it"]), content_type="text/plain"
    )
    assert (len(found.links), found.index) == (20, False)
    assert found.warnings == (f"{PAGE}: sitemap: 2 lines skipped, no address, such as 'the'",)


@pytest.mark.parametrize(
    "text",
    [
        "Notes\nThe page is at\nhttp://a.localhost/1\nand there is another one.",
        "http://a.localhost/1\nthe first\nhttp://a.localhost/2\nthe second",
        "http://a.localhost/1\nsrc/a.c\nsrc/b.c\nsrc/c.c",
        "# Where\n# to\n# look\nhttp://a.localhost/1",
        "a.html\nb.html\n",
    ],
)
def test_text_with_some_addresses_stays_a_text(text: str) -> None:
    found = document(text, content_type="text/plain")
    assert (len(found.links), found.index, found.raw_text) == (0, True, text.strip())


@pytest.mark.parametrize(
    "text",
    [
        "http://a.localhost/1\nhttp://a.localhost/2\n# the end",
        "Pages\nhttp://a.localhost/1\n\nhttp://a.localhost/2",
        "http://a.localhost/1\nhttp://a.localhost/2 (new)\nhttp://a.localhost/2\n",
    ],
)
def test_a_short_text_sitemap_with_one_odd_line(text: str) -> None:
    """Its links count, and so do its words: it may be a note with two addresses in it."""
    found = document(text, content_type="text/plain")
    assert [link.url.access for link in found.links] == ["http://a.localhost/1", "http://a.localhost/2"]
    assert (found.index, found.raw_text) == (True, text.strip())


@pytest.mark.parametrize(
    "entry",
    [
        "<loc><url>{}</url></loc>",
        "<url><loc><url>{}</url></loc></url>",
        "<url><url>{}</url></url>",
        "<url>\n{}\n</url>",
        "<url><loc><a>{}</a></loc><image:image><image:loc>http://a.localhost/no</image:loc></image:image></url>",
        "<loc>{}</loc>",
    ],
)
def test_sitemaps_with_their_elements_in_another_order(entry: str) -> None:
    addresses = ["http://a.localhost/1", "http://a.localhost/2?a&amp;b"]
    text = f"<urlset>{''.join(map(entry.format, addresses))}<url>no address</url></urlset>"
    assert [each.loc for each in read_xml(text).entries] == ["http://a.localhost/1", "http://a.localhost/2?a&b"]


@settings(max_examples=200)
@given(data=st.data())
def test_any_text_is_read(data: st.DataObject) -> None:
    """Nothing is raised, which would be a document with a warning of its own."""
    text = data.draw(st.sampled_from([RSS, ATOM, SITEMAP]))
    for _ in range(3):
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, min(len(text), begin + 40)))
        piece = data.draw(
            st.sampled_from(["", "<", ">", "</", "<item>", "<link>", "<url>", "&#x110000;", "]]>", "<!--", "xml:base='%'"])
        )
        text = text[:begin] + piece + text[end:]
    found = document(text, content_type="text/xml")
    assert not any("Error" in warning for warning in found.warnings), found.warnings


def test_what_a_sitemap_speaks_for() -> None:
    assert speaks_for("http://a/dir/s.xml?x=/", "http://a/dir/page")
    assert speaks_for("http://a/s.xml", "http://a")
    assert not speaks_for("http://a/dir/s.xml", "http://a/page")
    assert not speaks_for("http://a/s.xml", "https://a/page")


def test_gzip() -> None:
    packed = gzip.compress(SITEMAP.encode())
    for content_type in ("application/gzip", "application/x-gzip", "application/xml", ""):
        assert len(document(packed, content_type=content_type).links) == 2, content_type
    found = document(gzip.compress(b"plain words"), content_type="application/gzip")
    assert (found.mime, found.text) == ("text/plain", "plain words")
    for other in (gzip.compress(b"x\0" * 300), gzip.compress(packed)):
        assert document(other, content_type="application/gzip").mime == "application/gzip"


def test_what_is_called_gzip_and_is_none_is_read_as_it_is() -> None:
    found = document(SITEMAP, content_type="application/x-gzip")
    assert len(found.links) == 2
    assert found.warnings == (f"{PAGE}: no gzip, though it is said to be application/x-gzip",)
    assert document(b"\0\1" * 300, content_type="application/gzip").mime == "application/gzip"


def test_gzip_that_is_broken_or_a_bomb() -> None:
    packed = gzip.compress(b"some words " * 100)
    assert unpack(packed + packed, MAX_SIZE) == (b"some words " * 200, "")
    assert unpack(packed + b"\0\0", MAX_SIZE) == (b"some words " * 100, "")
    assert unpack(packed[:-9], MAX_SIZE)[1] == "gzip ends too early"
    assert unpack(b"\x1f\x8b\x08\0x", MAX_SIZE)[1] in (
        "gzip ends too early",
        "broken gzip: Error -3 while decompressing data: incorrect header check",
    )
    assert unpack(zlib.compress(b"x"), MAX_SIZE)[1].startswith("broken gzip")
    body, warning = unpack(gzip.compress(bytes(10_000)), limit=1_000)
    assert (len(body), warning) == (1_000, "more than 1000 bytes in gzip")
    found = document(packed[:-9], content_type="application/gzip")
    assert found.text.startswith("some words")
    assert found.warnings == (f"{PAGE}: gzip ends too early",)


def test_any_xml() -> None:
    xml = "<book xmlns:xlink='x'><title>A <em>book</em></title><p>Words<ref xlink:href='x'/>more</p></book>"
    found = document(xml, content_type="application/xml")
    assert (found.title, found.text) == ("A book", "A book Words more")
    assert links(xml, content_type="application/xml") == [("/dir/x", 0, "", True)]


def test_xhtml_sent_as_xml() -> None:
    found = document("<?xml version='1.0'?><html><head><title>T</title></head></html>", content_type="text/xml")
    assert (found.title, found.mime) == ("T", "application/xhtml+xml")


def test_text_of_other_types() -> None:
    assert document("a,b", content_type="text/csv").text == "a,b"
    assert document("a {}", content_type="text/css").text == ""


def test_headers_count_for_all_of_them() -> None:
    found = document(RSS, content_type="text/xml", headers={"x_robots_tag": "noindex, nofollow"})
    assert not found.index
    assert not any(link.follow for link in found.links)
    assert not document("words", content_type="text/plain", headers={"x_robots_tag": "noindex"}).index
