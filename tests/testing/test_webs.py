"""The named webs: what they call real can be reached, they are the same each time, and are served as they are."""

from __future__ import annotations

import re
from html import unescape

import pytest

from larm.testing.web import SyntheticWeb
from tests.support.webs.follower import follow
from tests.support.webs.named import NamedWeb, Page, fetched, rendered, resolved, serve
from tests.support.webs.table import SITES, TRAPS, WEBS
from tests.testing.client import Client

SMALL, ARTICLES = 300, 30


def small(name: str) -> NamedWeb:
    return WEBS[name](ARTICLES if name in TRAPS else SMALL)


@pytest.mark.parametrize("name", SITES)
def test_a_follower_finds_all_pages_of_a_site_and_nothing_else(name: str) -> None:
    web = small(name)
    found = follow(web, web.within + 1)
    assert set(found.pages) == web.real
    assert found.requests <= web.within
    assert found.ended
    assert len(found.pages) >= SMALL
    assert not web.trap


@pytest.mark.parametrize("name", TRAPS)
def test_a_follower_finds_all_articles_of_a_trap_and_never_ends(name: str) -> None:
    web = small(name)
    found = follow(web, web.within)
    assert web.found(found.pages) == web.real
    assert len(web.real) == ARTICLES + 1
    assert web.trap
    assert not found.ended


@pytest.mark.parametrize("name", WEBS)
def test_the_same_address_has_the_same_answer(name: str) -> None:
    one, other = small(name), small(name)
    for address in follow(one, 100).pages:
        assert one.answer(address) == other.answer(address)


@pytest.mark.parametrize("name", ["versions", "deep-relative", "session-query"])
def test_what_is_served_is_what_is_said(name: str) -> None:
    named = small(name)
    with SyntheticWeb() as web:
        assert serve(named, web) == [start.replace(".localhost", f".localhost:{web.port}") for start in named.starts]
        addresses = list(follow(named, 30).pages)
        with Client(web) as client:
            for address in addresses:
                host, slash, path = address[7:].partition("/")
                status, _, body = client.get(host, slash + path)
                answer = named.answer(address)
                assert isinstance(answer, Page)
                assert status == 200
                written = [unescape(each) for each in re.findall(r'href="([^"]+)"', body.decode())]
                assert [resolved(address, each) for each in written] == [resolved(address, each) for each in answer.targets]
        assert fetched(named, web) == named.found(addresses)


def test_absolute_links_and_redirects_get_the_port() -> None:
    page = Page("A", links=["http://b.localhost/x", "/y"])
    assert b'href="http://b.localhost:99/x"' in rendered(page, 99).body
    assert b'href="/y"' in rendered(page, 99).body
