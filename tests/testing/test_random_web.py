"""RandomWeb is the same for the same seed, and what it expects is what a simple crawler finds."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from urllib.parse import urldefrag, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

import pytest

from tests.support.random_web import RandomWeb, random_web
from tests.testing.client import Client


def crawl(web: RandomWeb) -> Counter[str]:
    """The pages that were fetched by a crawler written in twenty lines, with another robots parser."""
    seen, waiting = set(web.start_urls), list(web.start_urls)
    rules: dict[str, RobotFileParser] = {}
    with Client(web) as client:
        while waiting:
            url = waiting.pop()
            parts = urlsplit(url)
            host = str(parts.hostname)
            if host not in rules:
                rules[host] = RobotFileParser()
                status, _, body = client.get(host, "/robots.txt")
                rules[host].parse(body.decode().splitlines() if status == 200 else [])
            if not rules[host].can_fetch("larm", url):
                continue
            status, headers, body = client.get(host, parts.path + ("?" + parts.query if parts.query else ""))
            found = [headers["location"]] if status in (301, 302, 307, 308) else re.findall(r'href="([^"]+)"', body.decode())
            for href in found:
                link = urldefrag(urljoin(url, href.replace("&amp;", "&"))).url
                if link not in seen:
                    seen.add(link)
                    waiting.append(link)
    return web.fetched()


@pytest.mark.parametrize(("seed", "hosts", "pages"), [(1, 1, 10), (2, 5, 300), (3, 30, 1000)])
def test_a_simple_crawler_finds_what_is_expected_and_each_page_once(seed: int, hosts: int, pages: int) -> None:
    with random_web(seed, hosts, pages) as web:
        found = crawl(web)
        assert found == Counter(web.expected())
        assert web.expected_urls() == {f"http://{key.replace('.localhost', f'.localhost:{web.port}', 1)}" for key in found}
        assert all(count == 1 for count in Counter(request.key for request in web.requests).values())


def test_it_has_something_of_everything() -> None:
    with random_web(4, 30, 2000) as web:
        crawl(web)
        statuses = Counter(request.status for request in web.requests)
        assert 1700 < len(web.expected()) < 1990, "some pages can't be reached, or are forbidden"
        assert min(statuses[code] for code in (301, 302, 307, 308)) > 0
        assert statuses[404] > 30
        assert any("/private/" in key for key in web.expected()), "some hosts forbid nothing"
        assert {key.partition("/")[0] for key in web.expected()} == set(web.hosts)


def test_the_same_seed_makes_the_same_web_another_one_does_not() -> None:
    def bytes_of(seed: int) -> dict[str, bytes]:
        with random_web(seed, 3, 50) as web, Client(web) as client:
            port = str(web.port).encode()
            places = {key: key.partition("/") for key in web.expected()}
            return {key: client.get(host, "/" + path)[2].replace(port, b"") for key, (host, _, path) in places.items()}

    assert bytes_of(5) == bytes_of(5)
    assert bytes_of(5) != bytes_of(6)


def test_it_can_be_served_by_hand() -> None:
    command = [sys.executable, "-m", "tests.support.random_web", "--hosts", "2", "--pages", "20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("http://h00.localhost:")
            assert "pages to be fetched" in process.stdout.readline()
        finally:
            process.terminate()
