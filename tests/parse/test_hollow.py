"""Which pages have nothing to search, by pages as they are on the web."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.model.document import Document
from larm.model.hollow import NOTES
from larm.parse.hollow import hollow_of
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
STORY = "<p>" + "A sentence of a story that somebody wrote for people to read. " * 20


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
