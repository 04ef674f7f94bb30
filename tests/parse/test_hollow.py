"""Which pages have nothing to search, by pages as they are on the web."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.model.document import Document
from larm.model.hollow import NOTES
from larm.parse.hollow import HollowJudge
from larm.parse.page import Blocks, Reading
from larm.parse.script_text import text_in_scripts
from tests.parse.hollow_kinds import ALONE, CARRIED, REAL, TEXT, TOGETHER, data
from tests.parse.pages import document

REACT = """<!doctype html><html lang="en"><head><meta charset="utf-8"/><title>React App</title>
<script defer="defer" src="/static/js/main.8f1b2c3d.js"></script></head><body>
<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>"""
VUE = """<!DOCTYPE html><html><head><title>shop</title><script type="module" crossorigin src="/assets/index-4f2.js"></script>
</head><body><noscript><strong>We're sorry but shop doesn't work properly without JavaScript enabled.</strong></noscript>
<div id="app"></div></body></html>"""
ANGULAR = """<!doctype html><html><head><base href="/"><title>Portal</title></head><body><app-root>Loading...</app-root>
<script src="main.js" type="module"></script></body></html>"""
BARE = "<html><head><title>x</title></head><body><div class=loader></div><script>boot()</script></body></html>"
CLOUDFLARE = """<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title>
<meta name="robots" content="follow"></head>
<body><div class="main-wrapper"><noscript>Enable JavaScript and cookies to continue</noscript></div>
<script>(function(){window._cf_chl_opt={cvId:'3'};var a=document.createElement('script');
a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1';}());</script></body></html>"""
INCAPSULA = """<html><head><META NAME="ROBOTS" CONTENT="NOARCHIVE"></head><body><script
src="/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3"></script></body></html>"""
ANUBIS = """<html><head><title>Making sure you're not a bot!</title></head><body><h1>Making sure you're not a bot!</h1>
<script id="anubis_challenge" type="application/json">{}</script><p>You are seeing this because the administrator of this
website has set up Anubis to protect the server.</p></body></html>"""
LOGIN = """<html><head><title>Log in &lsaquo; Site</title></head><body><h1><a href="https://wordpress.org/">WordPress</a></h1>
<form action="/wp-login.php" method="post"><label>Username or Email Address</label><input type="text" name="log">
<label>Password</label><input class="input" TYPE='password' name="pwd"><input type="submit" value="Log In"></form>
<script src=a.js></script><a href="/lost">Lost your password?</a></body></html>"""
EMPTY = Reading("", Blocks(), False, (), (), (), "", ())
STORY = "<p>" + "A sentence of a story that somebody wrote for people to read. " * 20


def hollow_of(page: Document, body: bytes) -> str:
    """What is said of a page that is the first one of its host."""
    return HollowJudge().judge(page, body, "a.localhost")[0]


@pytest.mark.parametrize(
    ("name", "html"),
    [
        ("scripts", REACT),
        ("scripts", VUE),
        ("scripts", ANGULAR),
        ("scripts", BARE),
        ("challenge", CLOUDFLARE),
        ("challenge", INCAPSULA),
        ("challenge", ANUBIS),
        ("login", LOGIN),
        ("noindex", f"<meta name=robots content=noindex>{STORY}"),
        ("empty", "<html><head></head><body></body></html>"),
        ("empty", "<title>only a title</title><img src=x.png>"),
        ("empty", " \n "),
    ],
)
def test_hollow(name: str, html: str) -> None:
    assert hollow_of(document(html), html.encode()) == name
    assert NOTES[name]


@pytest.mark.parametrize(
    "html",
    [
        STORY,
        STORY + REACT,
        STORY + LOGIN,
        STORY + CLOUDFLARE,
        "<p>short</p>",
        "<p>short</p><script src=count.js></script>",
        "<title>Index of /</title><a href=a>a</a><a href=b>b</a><a href=c>c</a><a href=d>d</a><script>x</script>",
        '<meta http-equiv=refresh content="0; url=/there">',
        "<frameset><frame src=a><frame src=b></frameset>",
        "<h1>How to write JavaScript</h1><p>A page about it.</p><script>x()</script>",
    ],
)
def test_not_hollow(html: str) -> None:
    assert hollow_of(document(html), html.encode()) == ""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("unread", Document("application/msword")),
        ("unread", Document("application/json")),
        ("unread", Document("multipart/related")),
        ("", Document("application/json", raw_text="by a processor of the user's")),
        ("", Document("application/json", fields={"price": ("5",)})),
        ("", Document("application/rss+xml", title="A feed without entries")),
        ("document", Document("application/pdf", title="Scan 0001")),
        ("", Document("application/pdf", raw_text="words")),
    ],
)
def test_files(name: str, found: Document) -> None:
    assert hollow_of(found, b"") == name
    assert not name or NOTES[name]


@pytest.mark.parametrize(
    ("name", "mime", "body"),
    [
        ("unread", "text/plain", b"\xd0\xcf\x11\xe0\0\0"),  # what is sent as text, and is none
        ("unread", "text/rtf", b"{\\rtf1 words}"),
        ("", "text/plain", b" \n"),
        ("", "text/javascript", b"x()"),
        ("", "image/svg+xml", b"<svg/>"),
        ("unread", "application/vnd.example.flat-xml", b"<words/>"),
    ],
)
def test_text_that_is_not_read(name: str, mime: str, body: bytes) -> None:
    assert hollow_of(Document(mime), body) == name


def test_what_has_no_words_by_nature_is_not() -> None:
    for mime in ("image/png", "video/mp4", "font/woff2", "text/css"):
        assert hollow_of(Document(mime), b"") == ""
    assert hollow_of(Document("application/pdf", index=False), b"") == ""


@given(st.binary(max_size=300), st.text(max_size=50))
def test_no_bytes_make_it_raise(body: bytes, text: str) -> None:
    assert hollow_of(Document("text/html", raw_text=text), body) in ("", *NOTES)


def test_it_takes_no_time() -> None:
    """Whatever is repeated in a page: no expression goes back and forth over it."""
    for piece in (b"<input ", b"<noscript", b"<div id=", b"<script", b"<noscript>x"):
        hollow_of(Document("text/html"), piece * 30_000)


@pytest.mark.parametrize("kind", ALONE)
def test_shell_without_words_is_built_by_scripts(kind: str) -> None:
    assert hollow_of(document(ALONE[kind]), ALONE[kind].encode()) == "scripts"


@pytest.mark.parametrize("kind", REAL)
def test_short_page_that_says_something_is_not_built_by_scripts(kind: str) -> None:
    said = {"", "empty"}  # pictures and sounds without a word
    judge = HollowJudge()
    for name, html in {**REAL, kind: REAL[kind]}.items():
        assert judge.judge(document(html), html.encode(), "a.localhost")[0] in said, name
    assert hollow_of(document(REAL[kind]), REAL[kind].encode()) in said


@pytest.mark.parametrize("kind", TOGETHER)
def test_shell_is_told_by_what_its_host_shares_however_long_its_menu_is(kind: str) -> None:
    judge = HollowJudge()
    found = [
        judge.judge(document(html, f"http://a.localhost/{n}"), html.encode(), "a.localhost")
        for n, html in enumerate(TOGETHER[kind])
    ]
    assert found == [("", 1), ("", 1), ("scripts", 3), ("scripts", 1)]


def test_shells_are_not_told_on_a_host_where_most_pages_say_something() -> None:
    judge = HollowJudge()
    shells = TOGETHER["menu that is no nav"]
    pages = [STORY + str(n) for n in range(9)] + shells
    assert {judge.judge(document(html), html.encode(), "a.localhost") for html in pages} == {("", 1)}


def test_shells_of_another_host_do_not_count() -> None:
    judge = HollowJudge()
    found = [judge.judge(document(html), html.encode(), f"{n}.localhost") for n, html in enumerate(TOGETHER["long menu"])]
    assert set(found) == {("", 1)}


def test_pages_with_other_pictures_under_the_same_menu_are_a_gallery() -> None:
    judge = HollowJudge()
    pages = [TOGETHER["menu that is no nav"][0].replace("</div>", f"</div><img src=/{n}.jpg>", 1) for n in range(6)]
    assert {judge.judge(document(html), html.encode(), "a.localhost") for html in pages} == {("", 1)}


@pytest.mark.parametrize("parser", ["lexbor", "html5lib"])
@pytest.mark.parametrize("kind", CARRIED)
def test_text_and_links_in_scripts_are_read_where_the_page_has_none(kind: str, parser: str) -> None:
    found = document(CARRIED[kind], parser=parser)
    assert TEXT in found.text
    assert "http://a.localhost/mole" in [link.url.access for link in found.links if link.follow]
    assert (found.counts, hollow_of(found, CARRIED[kind].encode())) == (("processing/text_in_scripts",), "")


def test_state_of_a_page_that_a_server_has_written_is_not_read_again() -> None:
    for kind in ("server-rendered", "short server-rendered"):
        found = document(REAL[kind])
        assert (found.text.count("nine to five") + found.text.count("lighthouse at"), found.counts) == (1, ())


def test_program_and_names_in_a_state_are_no_text() -> None:
    state = {
        "class": "flex items-center px-4 py-2 mt-1",
        "code": "function f(a) { return a; }",
        "url": "/x.png",
        "token": "a" * 99,
    }
    assert text_in_scripts(data("__NEXT_DATA__", state).encode(), EMPTY) == b""


@given(st.binary(max_size=200))
def test_no_state_makes_it_raise(state: bytes) -> None:
    for begin in (b'<script type="application/json">', b"<script>__NUXT__=", b'<script type="application/ld+json">{"text":"'):
        text_in_scripts(begin + state, EMPTY)


def test_hostile_state_takes_no_time() -> None:
    """However deep it nests, whatever is left open in it."""
    for piece in (
        b"[",
        b'{"a":',
        b'"',
        b'\\"',
        b"<script ",
        b"<script type=application/json>",
        b"__A",
        b"__A={",
        b"<div id=root>",
    ):
        for begin in (b"", b"<script type=application/json>", b'<script>__A={"a":"'):
            text_in_scripts(begin + piece * 30_000, EMPTY)
            hollow_of(Document("text/html"), begin + piece * 30_000)
