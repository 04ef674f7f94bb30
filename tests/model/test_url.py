"""Url and URLNormalizer: from text to the two forms, the host key and the fingerprint."""

from __future__ import annotations

import ada_url
import msgspec
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.model.host_resolver import HostResolver
from larm.model.url import MAX_CHARACTERS, BadUrl, OtherScheme, Url, URLNormalizer
from larm.testing.fakes import normalised

NORMALIZER = URLNormalizer()
WITHOUT_WWW = URLNormalizer(HostResolver([("www.", "")]))


def test_larm_whole_url_vectors() -> None:
    assert WITHOUT_WWW.parse("HTTP://WWW.CNN.com:80").normalised == "http://cnn.com/"
    assert NORMALIZER.parse("http://host").normalised == "http://host/"


def test_access_form_is_not_the_normalised_one() -> None:
    url = WITHOUT_WWW.parse("http://WWW.Example.com/Dir/index.html#top")
    assert url.access == "http://www.example.com/Dir/index.html"
    assert url.normalised == "http://example.com/Dir/"
    assert url.host == "example.com"


def test_fingerprint_is_63_bits_of_xxh3() -> None:
    url = WITHOUT_WWW.parse("http://www.a.org/~x")
    assert url.fingerprint == xxhash.xxh3_64_intdigest(b"http://a.org/%7Ex") >> 1
    assert url.fingerprint == WITHOUT_WWW.parse("http://a.org/%7ex").fingerprint
    assert 0 <= url.fingerprint < 2**63


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("http://a.org", "a.org"),
        ("https://a.org:443/", "a.org"),
        ("http://a.org:443/", "a.org:443"),
        ("https://www.a.org:80/", "a.org:80"),
        ("http://www.a.org:08080/", "a.org:8080"),
        ("http://a.org.:81/", "a.org:81"),
        ("http://WWW.A.org./", "a.org"),
        ("http://Bücher.de/", "xn--bcher-kva.de"),
        ("http://%61.org/", "a.org"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://[::0001]/", "[::1]"),
        ("http://[::1]:8080/", "[::1]:8080"),
        ("http://www./", "www"),
        ("http://a..b/", "a..b"),
        ("http://1.2../", "1.2.."),
        ("http://user:secret@a.org/", "a.org"),
    ],
)
def test_host_key(text: str, host: str) -> None:
    url = WITHOUT_WWW.parse(text)
    assert url.host == host
    assert url.normalised.partition("://")[2] == host + "/"


def test_derived_parts() -> None:
    url = WITHOUT_WWW.parse("http://www.a.org:8080/X/index.html?Q")
    assert (url.origin, url.path_query, url.hostname) == ("http://www.a.org:8080", "/X/index.html?Q", "www.a.org")
    assert url.normalised == "http://a.org:8080/X/?Q"
    bare = NORMALIZER.parse("https://[::1]:8080")
    assert (bare.origin, bare.path_query, bare.hostname) == ("https://[::1]:8080", "/", "::1")
    assert NORMALIZER.parse("http://[::1]/").hostname == "::1"
    assert NORMALIZER.parse("http://a/").hostname == "a"


@pytest.mark.parametrize(
    "text", ["http://u:secret@a.org/x@y", "http://u@a.org/x@y", "http://u:@a.org/x@y", "http://@a.org/x@y"]
)
def test_credentials_are_dropped(text: str) -> None:
    url = NORMALIZER.parse(text)
    assert (url.access, url.normalised) == ("http://a.org/x@y", "http://a.org/x@y")


@pytest.mark.parametrize(
    ("text", "access"),
    [
        ("example.com/x", "http://example.com/x"),
        ("  example.com ", "http://example.com/"),
        ("localhost", "http://localhost/"),
        ("localhost:8080/a", "http://localhost:8080/a"),
        ("www.example.com:8080", "http://www.example.com:8080/"),
        ("127.0.0.1:80?x", "http://127.0.0.1/?x"),
        ("[::1]:81/", "http://[::1]:81/"),
        ("//example.com/x", "http://example.com/x"),
        ("example.com/a:1", "http://example.com/a:1"),
        ("example.com?u=http://x/", "http://example.com/?u=http://x/"),
        ("http:example.com", "http://example.com/"),
        ("ht\ntp://exam\tple.com/\n", "http://example.com/"),
        ("http:\\\\example.com\\a", "http://example.com/a"),
    ],
)
def test_what_people_type(text: str, access: str) -> None:
    assert NORMALIZER.parse(text).access == access


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("/path", "no scheme"),
        ("?x", "no scheme"),
        ("#x", "no scheme"),
        ("1x://example.com/", "no scheme"),
        ("://example.com/", "no scheme"),
        ("http://", "malformed"),
        ("http://?x", "malformed"),
        ("http://a b/", "malformed"),
        ("two words", "malformed"),
        ("http://a:99999/", "malformed"),
        ("http://a:b/", "malformed"),
        ("http://[::1/", "malformed"),
        ("http://300.1.1.1/", "malformed"),
        ("http://a/\ud800", "surrogate"),
        ("http://\udc80/", "surrogate"),
        ("http://a/" + "x" * MAX_CHARACTERS, "100009 characters"),
        ("http://a/" + "\u20ac" * 20_000, "180009 characters"),
        ("ftp://user:secret@a/", "scheme ftp"),
        ("mailto:a@b.c", "scheme mailto"),
        ("tel:112", "scheme tel"),
        ("file:///etc/passwd", "scheme file"),
    ],
)
def test_bad_urls_say_why(text: str, says: str) -> None:
    with pytest.raises(BadUrl, match=says) as caught:
        NORMALIZER.parse(text)
    assert "secret" not in str(caught.value)
    assert isinstance(caught.value, OtherScheme) == says.startswith("scheme")


def test_join() -> None:
    base = "http://a.org/b/c?d"
    assert NORMALIZER.join(base, "../e f#g").access == "http://a.org/e%20f"
    assert NORMALIZER.join(base, "").access == base
    assert NORMALIZER.join(base, "?x").access == "http://a.org/b/c?x"
    with pytest.raises(BadUrl, match="surrogate"):
        NORMALIZER.join(base, "\ud800")
    with pytest.raises(OtherScheme, match="scheme javascript:"):
        NORMALIZER.join(base, "JavaScript:void(0)")
    with pytest.raises(BadUrl):
        NORMALIZER.join("nonsense", "x")
    with pytest.raises(BadUrl):
        NORMALIZER.join(base, "//[")


def test_a_url_survives_msgpack() -> None:
    url = NORMALIZER.parse("http://a.org/")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(url), type=Url) == url


def test_the_table_of_hosts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.model.url._HOSTS", 10)
    normalizer = URLNormalizer()
    for number in range(35):
        assert normalizer.parse(f"http://h{number}.org/").host == f"h{number}.org"
    assert len(normalizer.keys) <= 10


PIECES = st.sampled_from(
    [*":/?#@[]\\.%-_0a9A&=+~,;!*'()|^ ", "http", "https", "://", "a.org", "www.", "xn--", "xn--bcher-kva", ":80", ":443",
     ":8080", "65535", "65536", "%2e", "%2E", "/../", "/.", "//", "127.0.0.1", "0x7f", "[::1]", "user:pass@",
     "ü", "。", "\xad", "\t", "\ud800"]
)  # fmt: skip
MESS = st.lists(PIECES | st.text(st.characters(), max_size=2), max_size=10).map("".join)
URLS = MESS | MESS.map("http://a.org/".__add__) | MESS.map("https://a".__add__)


@settings(max_examples=400, derandomize=True)
@given(URLS, st.sampled_from([NORMALIZER, WITHOUT_WWW]))
def test_any_text_gives_a_url_or_bad_url(text: str, normalizer: URLNormalizer) -> None:
    try:
        url = normalizer.parse(text)
    except BadUrl:
        return
    assert normalizer.parse(url.access) == url
    assert url.is_one
    assert url.access.isascii()
    assert url.normalised.isascii()
    assert "#" not in url.access + url.normalised
    assert url.origin + url.path_query == url.access
    assert url.normalised.startswith(f"{url.origin.partition('://')[0]}://{url.host}/")


@settings(max_examples=400, derandomize=True)
@given(URLS)
def test_normalise_is_idempotent_and_never_raises(text: str) -> None:
    once = normalised(NORMALIZER, text)
    assert normalised(NORMALIZER, once) == once


@settings(max_examples=500, derandomize=True)
@given(
    MESS, st.sampled_from(["http://", "https://", "http://a", "http://a.b1/", "https://a-b_c.d/e", "http://x:80", "http://x:"])
)
def test_the_fast_way_is_open_only_to_what_the_parser_leaves_alone(tail: str, head: str) -> None:
    url = NORMALIZER.canonical(head + tail)
    if url is not None:
        assert url.access == head + tail == ada_url.normalize_url(head + tail)


@pytest.mark.parametrize(
    "text",
    ["http://a.org/", "https://a.org/b/c.html?d=e/f?", "http://h.localhost:8080/", "http://a-b.c_d.org/%zz/a%2e/x:y~z,(1)*!'+"],
)
def test_the_fast_way_is_open_to_usual_urls(text: str) -> None:
    url = NORMALIZER.canonical(text)
    assert url is not None
    assert url.access is text
