"""Registered domains; the public suffix list's own vectors are in tests/conformance."""

from __future__ import annotations

from pathlib import Path

import pytest
from publicsuffixlist import PSLFILE, PublicSuffixList

from larm.model import domain
from larm.model.domain import DomainRule, registered_domain, site_of
from larm.model.url import URLNormalizer


@pytest.mark.parametrize(
    ("host", "two_two", "short", "listed"),
    [  # the first five: YIOOP-40
        ("www.yahoo.co.uk", "yahoo.co.uk", "yahoo.co.uk", "yahoo.co.uk"),
        ("www.yahoo.com", "yahoo.com", "yahoo.com", "yahoo.com"),
        ("news.abc.net.au", "net.au", "abc.net.au", "abc.net.au"),
        ("www.bbc.uk", "bbc.uk", "www.bbc.uk", "bbc.uk"),
        ("localhost", "localhost", "", ""),
        ("a.b.WWW.Example.ORG.", "example.org", "example.org", "example.org"),
        ("someone.github.io", "github.io", "github.io", "someone.github.io"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--55qx5d.cn", "xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("co.uk", "co.uk", "co.uk", ""),
        ("a.b.xn--fiqs8s", "b.xn--fiqs8s", "b.xn--fiqs8s", "b.xn--fiqs8s"),
        ("a.b.\u4e2d\u56fd", "b.\u4e2d\u56fd", "a.b.\u4e2d\u56fd", "b.\u4e2d\u56fd"),
        ("a.b.nothing-like-that", "b.nothing-like-that", "b.nothing-like-that", "b.nothing-like-that"),
        ("192.0.2.7", "", "", ""),
        ("2001:db8::1", "", "", ""),
    ],
)
def test_registered_domain(host: str, two_two: str, short: str, listed: str) -> None:
    assert registered_domain(host, DomainRule.TWO_TWO) == two_two
    assert registered_domain(host, DomainRule.SHORT) == short
    assert registered_domain(host) == listed


def test_what_has_no_registered_domain_is_a_site_of_its_own() -> None:
    assert site_of("localhost") == "localhost"
    assert site_of("192.0.2.7") == "192.0.2.7"


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://News.Example.co.uk:8080/x", "example.co.uk"),
        ("http://[2001:db8::1]:81/", "2001:db8::1"),
        ("http://b\u00fccher.example.de/", "example.de"),
    ],
)
def test_site_of_a_url(url: str, site: str) -> None:
    assert URLNormalizer().parse(url).site == site


def test_rules_of_one_top_level_domain_agree_with_the_whole_list() -> None:
    """All of them, in both forms, with names above and below."""
    whole = PublicSuffixList()
    for line in Path(PSLFILE).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("//"):
            rule = line.split()[0].lstrip("!").replace("*", "any")
            for host in (rule, f"a.b.{rule}", f"a.b.{rule}".encode("idna").decode()):
                assert registered_domain(host) == (whole.privatesuffix(host) or ""), host


def test_made_up_domains_take_no_memory() -> None:
    assert registered_domain("www.example.made-up") == "example.made-up"
    before = domain._list_of.cache_info().currsize
    for number in range(1000):
        assert registered_domain(f"a.b.top{number}") == f"b.top{number}"
    assert domain._list_of.cache_info().currsize == before
