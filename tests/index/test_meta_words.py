from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.index.meta_words import NAMES, meta_words
from larm.model.url import URLNormalizer

parse = URLNormalizer().parse


def words(address: str, mime: str = "", **known: object) -> set[str]:
    return {word for word in meta_words(parse(address), mime, **known).split() if not word.endswith(":all")}  # type: ignore[arg-type]


def test_places() -> None:
    assert words("http://www.a.org/Docs/guide/x.html?q=1") == {
        *("host:www.a.org", "site:www.a.org", "site:a.org", "site:org"),
        *("path:/docs", "path:/docs/guide", "path:/docs/guide/x.html", "filetype:html"),
    }
    assert words("http://a.localhost:8080/") == {
        *("host:a.localhost:8080", "host:a.localhost", "site:a.localhost:8080", "site:a.localhost", "site:localhost"),
    }
    assert words("http://10.0.0.1/") == {"host:10.0.0.1", "site:10.0.0.1"}
    assert words("http://[::1]/") == {"host:[::1]", "site:[::1]"}


def test_types() -> None:
    kinds = {word for word in words("http://a.org/x", "application/pdf") if not word.startswith(("host", "site", "path"))}
    assert kinds == {"mime:application/pdf", "media:application", "filetype:pdf"}
    assert {"filetype:php", "filetype:html"} <= words("http://a.org/x.PHP", "text/html")


def test_what_is_known_of_a_page() -> None:
    found = words(
        "http://a.org/",
        language="DE",
        size=12_345,
        modified=1_714_521_600,
        fetched=1_714_521_600,
        status=200,
        links=7,
        domain="a.org",
        headers={"server": "Apache/2.4.57 (Debian) PHP/8"},
        robots=("noarchive",),
    )
    assert found == {
        *("host:a.org", "site:a.org", "site:org", "lang:de", "size:10000", "code:200", "numlinks:7", "cld:a.org"),
        *("modified:2024", "modified:2024-05", "modified:2024-05-01", "date:2024", "date:2024-05", "date:2024-05-01"),
        *("server:apache", "version:2.4.57", "os:debian", "robot:noarchive"),
    }


def test_all() -> None:
    """``name:all`` for each name of which something is known; ``host:all`` for the start pages of hosts."""
    assert "host:all" in meta_words(parse("http://a.org/"), "").split()
    deeper = meta_words(parse("http://a.org/x"), "text/html").split()
    assert {word for word in deeper if word.endswith(":all")} == {
        "site:all",
        "path:all",
        "mime:all",
        "media:all",
        "filetype:all",
    }


@pytest.mark.parametrize("seconds", [0, -1, 10**12, 253_402_300_800])
def test_moments_that_are_none(seconds: int) -> None:
    assert "modified" not in meta_words(parse("http://a.org/x"), "", modified=seconds)


@given(st.text(), st.text(), st.text(), st.text(), st.integers(), st.lists(st.text()))
def test_any_page(path: str, mime: str, language: str, server: str, time: int, robots: list[str]) -> None:
    """Every word is ``name:value``, with a name that is known, and not too long."""
    url = parse("http://a.org/" + path.replace("\ud800", "").encode("utf-8", "ignore").decode())
    text = meta_words(url, mime, language=language, modified=time, headers={"server": server}, robots=tuple(robots))
    for word in text.split():
        name, colon, value = word.partition(":")
        assert name in NAMES
        assert colon
        assert value
        assert len(word) <= 200
