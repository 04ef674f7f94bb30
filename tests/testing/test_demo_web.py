"""The demo web holds what its docstring and its own pages promise."""

from __future__ import annotations

import re

from larm.testing.demo_web import HOSTS, SEARCHES, SLOW, serve_demo
from larm.testing.web import SyntheticWeb
from tests.testing.client import Client

FORBIDDEN = {"village.localhost/drafts/budget", "bakery.localhost/till"}
DEAD = {"village.localhost/minutes-lost", "lighthouse.localhost/ferry"}


def crawl(web: SyntheticWeb) -> dict[str, tuple[int, str]]:
    """Status and page of everything linked, by host and path."""
    pages: dict[str, tuple[int, str]] = {}
    waiting = [f"{name}.localhost/" for name in HOSTS]
    with Client(web) as client:
        while waiting:
            key = waiting.pop()
            if key in pages:
                continue
            host, _, path = key.partition("/")
            status, headers, body = client.get(host, "/" + path)
            pages[key] = (status, body.decode())
            hrefs = re.findall(r'href="([^"]+)"', body.decode()) + ([headers["location"]] if status == 301 else [])
            waiting += [re.sub(r"http://([a-z.]+):\d+", r"\1", href) if "://" in href else host + href for href in hrefs]
    return pages


def test_all_links_lead_somewhere_but_two() -> None:
    with serve_demo() as web:
        for name in HOSTS:
            web.host(f"{name}.localhost").delay = 0.0
        pages = crawl(web)
        good = {key for key, (status, _) in pages.items() if status == 200}
        assert len(good) > 25
        assert {key for key, (status, _) in pages.items() if status == 404} == DEAD
        assert {key for key, (status, _) in pages.items() if status == 301} == {"village.localhost/guide.htm"}
        assert good >= FORBIDDEN, "what is forbidden is linked, or the rule could not be seen at work"
        assert {key.partition(".")[0] for key in good} == set(HOSTS)


def test_no_markup_of_the_sources_is_left() -> None:
    with serve_demo() as web:
        web.host("archive.localhost").delay = 0.0
        for key, (status, body) in crawl(web).items():
            if status == 200:
                assert not re.search(r"\]\(|^==|\{port\}", body), key
                assert len(body) > 190, key


def test_each_suggested_search_has_a_page_with_all_its_rarer_words() -> None:
    with serve_demo() as web:
        web.host("archive.localhost").delay = 0.0
        texts = [re.sub(r"<[^>]*>", " ", body).lower() for _, body in crawl(web).values()]
        for search in SEARCHES:
            words = [word for word in search.lower().split() if word != "who"]
            assert any(all(word in text for word in words) for text in texts), search


def test_robots_slowness_and_start_are_set() -> None:
    with serve_demo() as web, Client(web) as client:
        assert b"/drafts/" in client.get("village.localhost", "/robots.txt")[2]
        assert b"/till" in client.get("bakery.localhost", "/robots.txt")[2]
        assert web.host("archive.localhost").delay == SLOW
        assert web.start_urls[0] == f"http://village.localhost:{web.port}/"
        assert len(web.start_urls) == len(HOSTS)
