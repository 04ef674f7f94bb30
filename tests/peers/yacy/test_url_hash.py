"""The hash of an address (YACY-7 to 11)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.peers.yacy.hashes import is_hash
from larm.peers.yacy.url_hash import flags_of, parts_of, region_of, url_hash


@pytest.mark.parametrize(
    ("address", "name", "flags"),
    [
        ("http://www.yacy.net/en/index.html", "4sWm4WFXg39Q", 16),
        ("http://yacy.net/", "upiFJ7Fh1hyQ", 16),
        ("https://yacy.net/", "KT61is55Qxow", 48),
        ("http://www.example.com/", "8XdxEQY1RgeY", 24),
        ("http://www.example.com:8080/a/b.html", "ONnZJFmlN6WY", 24),
        ("http://de.wikipedia.org/wiki/Suchmaschine", "tkuYl_a_bYbR", 17),
        ("http://example.de/", "-QU1M7NH-7-A", 0),
        ("ftp://ftp.example.com/pub/file.txt", "vl3kbfbareG4", 56),
        ("http://averyveryverylongname.de/", "WoIhS7MkvCRD", 3),
    ],
)
def test_addresses(address: str, name: str, flags: int) -> None:
    assert url_hash(address) == name
    assert flags_of(name) == flags


@pytest.mark.parametrize(
    ("path", "root"), [("/en/x", "en"), ("/en/", ""), ("/en", ""), ("/", ""), ("", ""), ("/a/b/c", "a"), ("/?q=a/b", "")]
)
def test_root_of_a_path_needs_something_behind_it(path: str, root: str) -> None:
    assert parts_of(f"http://example.com{path}").root == root


def test_spelling_makes_no_difference() -> None:
    names = {url_hash(each) for each in ("http://Example.COM:80/a#b", "http://example.com/a", "http://example.com./a")}
    assert len(names) == 1


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("localhost", 7), ("127.0.0.1", 7), ("10.1.2.3", 7), ("[::1]", 7), ("8.8.8.8", 6), ("example.unheardof", 6),
        ("a.br", 1), ("a.jp", 2), ("a.sa", 3), ("a.au", 4), ("a.za", 5), ("a.eu", 0), ("a.info", 6),
    ],
)  # fmt: skip
def test_region_of_a_host(host: str, region: int) -> None:
    assert flags_of(url_hash(f"http://{host}/")) >> 2 & 7 == region


def test_no_host_is_local() -> None:
    assert flags_of(url_hash("file:///a/b")) >> 2 & 7 == 7


def test_generic_domains_are_no_countries() -> None:
    names = ["com", "aero", "arpa", "biz", "coop", "info", "jobs", "mobi", "museum", "name", "pro", "tel", "travel", "int"]
    assert {region_of(name) for name in names} == {6}


@given(st.from_regex(r"https?://[a-z]{1,20}(\.[a-z]{1,20}){0,3}(:[1-9][0-9]{0,3})?(/[a-z0-9]{0,5}){0,4}", fullmatch=True))
def test_pages_of_a_host_end_alike(address: str) -> None:
    name = url_hash(address)
    assert is_hash(name)
    scheme, _, place, *_ = address.split("/")
    other = url_hash(f"{scheme}//{place}/some/thing/else")
    assert name[6:] == other[6:], "what all pages of a host have"
