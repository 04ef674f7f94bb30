"""Story: a site whose answers, robots.txt of some hosts included, are bytes by chance. The crawl ends as any other."""

from __future__ import annotations

import random
from pathlib import Path

from larm.testing.web import SyntheticWeb
from tests.stories.crawls import lines, run_crawl

WORDS = [
    b"HTTP/1.1 200 OK\r\n",
    b"\r\n",
    b"Content-Type: text/html\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Content-Length: 9\r\n",
    b"<a href=",
    b"\x1f\x8b\x08",
    b"%PDF-1.4\n",
    b"<?xml version='1.0'?><rss>",
    b"\x00\xff\xfe",
    b"Transfer-Encoding: chunked\r\n\r\n5\r\n",
    b"PK\x03\x04",
    b"User-agent: *\nDisallow: ",
]


def noise(chance: random.Random) -> bytes:
    begin = b"HTTP/1.1 200 OK\r\n" if chance.random() < 0.7 else b""
    parts = [chance.choice(WORDS) if chance.random() < 0.7 else chance.randbytes(chance.randrange(30)) for _ in range(12)]
    return begin + b"".join(parts)


def test_the_crawl_ends_as_any_other(tmp_path: Path, web: SyntheticWeb) -> None:
    chance = random.Random(7)
    names = [f"h{number}.localhost" for number in range(5)]
    for name in names:
        paths = [f"/{number}" for number in range(40)]
        web.host(name).page("/", links=[*paths, *map(web.url, names)])
        for path in paths:
            web.host(name).raw(path, noise(chance))
    for name in names[3:]:
        web.host(name).raw("/robots.txt", noise(chance))
    settings = {"crawl.restrict_to": ".*", "fetch.timeout": "1s", "frontier.retries": 0}
    run = run_crawl(tmp_path, web.url(names[0]), settings)
    assert (run.reason, run.ending.error) == ("finished", None)
    assert run.counters["downloader/request_count"] > 100
    assert not (tmp_path / "logs" / "crash.log").exists()
    assert lines(tmp_path, "store")
