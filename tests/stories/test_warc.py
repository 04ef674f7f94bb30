"""A crawl that keeps what goes over the wire: all of it, once, whatever happens, and other people's tools read it."""

from __future__ import annotations

import errno
import random
import re
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, response, revisit

from larm.errors import StorageError
from larm.testing.web import SyntheticWeb
from tests.store.archive.judges import Seen, judge
from tests.stories.crawls import ALL_HOSTS, check_stored, run_crawl, stored, watch
from tests.stories.processes import Process, crawl_arguments, larm_says
from tests.support.bad_replies import zipped
from tests.support.faults import FaultyDisk
from tests.support.random_web import random_web

CHAIN = {"storage.chain": ["log", "warc", "index", "graph"]}
_ANSWERS = int(response) | int(revisit)


def archive(directory: Path) -> list[Seen]:
    assert not list((directory / "warc").glob("*.open"))
    return [record for file in sorted((directory / "warc").glob("*.warc.gz")) for record in judge(file)]


def answers(records: list[Seen]) -> Counter[tuple[str, str]]:
    """A revisit of what was not modified has no header of its own: the reader shows that of its original."""
    found = [record for record in records if record.kind in ("response", "revisit")]
    return Counter((record.url, record.status or "304") for record in found)


def asked(web: SyntheticWeb) -> Counter[tuple[str, str]]:
    return Counter((f"http://{request.key.replace('/', f':{web.port}/', 1)}", str(request.status)) for request in web.requests)


def moments_of_answers(directory: Path) -> Counter[tuple[str, str]]:
    """How often there is an answer of one address and microsecond."""
    files = (directory / "warc").glob("*.warc.gz")
    found = [record.headers for file in files for record in ArchiveIterator(str(file), _ANSWERS, parse_http=False)]
    return Counter((headers["WARC-Target-URI"], headers["WARC-Date"]) for headers in found)


def test_every_answer_is_there_with_its_bytes(web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    site.page("/", links=["/1", "/packed", "/gone", "/old"])
    site.page("/1", text="one")
    site.redirect("/old", "/1")
    packed = zipped(b"<p>packed words" * 50)
    site.add("/packed", packed)
    start = web.url("a.localhost")
    assert run_crawl(tmp_path, start, CHAIN).reason == "finished"
    records = archive(tmp_path)
    assert answers(records) == asked(web)
    (found,) = [record for record in records if record.url.endswith("/packed") and record.kind == "response"]
    assert found.body == packed.body
    assert sum(record.kind == "request" for record in records) == len(web.requests)
    web.log.clear()
    run_crawl(tmp_path, start, CHAIN)  # a revisit
    later = archive(tmp_path)[len(records) :]
    assert answers(later) == asked(web)
    assert {record.kind for record in later} >= {"revisit"}
    assert not [record for record in later if record.kind == "response" and record.status == "200"]


def test_what_is_fetched_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text("words")
    run_crawl(tmp_path / "crawl", f"{folder.as_uri()}/", CHAIN)
    found = {record.url: record.body for record in archive(tmp_path / "crawl") if record.kind == "resource"}
    assert found[f"{folder.as_uri()}/a.txt"] == b"words"


@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_kills_leave_each_answer_there_once(tmp_path: Path, kills: int) -> None:
    moments = random.Random(5)
    settings = {"monitor.tick": "50ms", "storage.warc.size": "20kB"}
    options = ("-restrictto", ALL_HOSTS["crawl.restrict_to"], "--warc")
    with random_web(21, hosts=10, pages=20 * kills + 200, delay=0.003) as web:
        command = crawl_arguments(tmp_path, web.start_urls, settings, *options)
        requests: Counter[tuple[str, str]] = Counter()
        for _ in range(kills):
            log = watch(web)
            with Process(*command) as process:
                log.at(moments.randrange(1, 40), lambda: process.signal(signal.SIGKILL))
                process.end()
            requests += asked(web)
        watch(web)
        said = larm_says(*command)
        assert said.status == 0, said.err
        check_stored(tmp_path, web, pages=web.expected())
        requests += asked(web)
    pages = Counter(
        record.url for record in archive(tmp_path) if record.kind in ("response", "revisit") and record.status == "200"
    )
    robots = {url for url in pages if url.endswith("/robots.txt")}
    assert Counter({url: n for url, n in pages.items() if url not in robots}) == stored(tmp_path)
    assert all(pages[url] <= requests[url, "200"] for url in robots), "one that was not judged yet is asked for again"
    assert set(moments_of_answers(tmp_path).values()) == {1}


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=[pytest.mark.slow, pytest.mark.timeout(600)])])
def test_a_disk_that_fails_at_any_kind_of_write_leaves_it_complete(tmp_path: Path, every: int) -> None:
    with random_web(22, hosts=3, pages=30) as web:
        settings = ALL_HOSTS | CHAIN | {"storage.warc.size": "10kB", "monitor.tick": "50ms"}
        with FaultyDisk(tmp_path / "all") as disk:
            run_crawl(tmp_path / "all", web.start_urls, settings)
        first: dict[str, int] = {}
        for number, site in enumerate(disk.sites, 1):
            if "warc" in site or "payloads" in site:
                first.setdefault(re.sub(r"larm-[0-9-]+|[.][0-9a-f]{8}$", "", site), number)
        assert len(first) > 4
        for site, number in list(first.items())[::every]:
            directory = tmp_path / str(number)
            with FaultyDisk(directory, number, errno.ENOSPC), suppress(StorageError):
                run_crawl(directory, web.start_urls, settings)
            assert run_crawl(directory, web.start_urls, settings).ending.error is None
            found = [record for record in archive(directory) if record.kind in ("response", "revisit")]
            pages = Counter(record.url for record in found if record.status == "200" and not record.url.endswith("/robots.txt"))
            assert set(pages) == set(stored(directory)), site
