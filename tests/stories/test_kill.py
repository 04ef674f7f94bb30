"""Story 11: kill -9 at any moment. No page is lost, none is twice in the logs or in the index."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from larm import cli
from larm.frontier.checkpoint import CheckpointFile
from larm.kit.disk.block_store import BlockStore
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import check_complete, reference_links, watch
from tests.stories.processes import Process, crawl_arguments, larm_says
from tests.support.random_web import RandomWeb, random_web

SCOPE = ("-restrictto", r"http://h\d\d\.localhost:\d+/.*")
SETTINGS = {
    "monitor.tick": "50ms",
    "frontier.message_block": 40,  # blocks and hosts go to the disk and come back
    "frontier.host_block": 5,
    "frontier.hosts_in_memory": 3,
    "frontier.messages_in_memory": 20,
    "storage.log.page_file_size": 60_000,
    "monitor.log_size": 3_000,  # logs begin anew
}
KILLS = 4


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
def test_killed_again_and_again(tmp_path: Path, seed: int) -> None:
    """What the last checkpoint has is not even asked for again; what came after it is fetched again, once."""
    moments = random.Random(seed)
    with random_web(seed, hosts=12, pages=400, delay=0.005) as web:
        links = reference_links(web, tmp_path / "reference")
        saved: set[str] = set()
        for _ in range(KILLS):
            kill(web, tmp_path, moments.randrange(1, 150))
            assert not saved & pages_asked_for(web)
            now = checkpointed(tmp_path)
            assert saved <= now
            saved = now
        watch(web)
        said = larm_says(*crawl_arguments(tmp_path, web.start_urls, SETTINGS, *SCOPE))
        assert said.status == 0, said.err
        assert not saved & pages_asked_for(web)
        assert set(web.fetched()) == web.expected() - {key(url, web) for url in saved}
        assert set(web.fetched().values()) <= {1}
        check_complete(tmp_path, web, links)


def test_killed_before_the_first_checkpoint(tmp_path: Path) -> None:
    with random_web(1, hosts=4, pages=60, delay=0.002) as web:
        links = reference_links(web, tmp_path / "reference")
        kill(web, tmp_path, 30, tick="1h")
        assert checkpointed(tmp_path) == set()
        kill(web, tmp_path, 1, tick="1h")
        assert larm_says(*crawl_arguments(tmp_path, web.start_urls, None, *SCOPE)).status == 0
        check_complete(tmp_path, web, links)


_KILLED_AT = """
import os, sys

left = int(sys.argv.pop(1))

def hook(event, arguments):
    global left
    if event in ("open", "os.mkdir", "os.rename", "sqlite3.connect", "os.truncate") and sys.argv[3] in str(arguments[0]):
        left -= 1
        if left < 0:
            os._exit(9)

sys.addaudithook(hook)
from larm.__main__ import main

main()
"""
"""A larm that is killed when it touches the nth file of its directory."""


@pytest.mark.parametrize("files", [6, 14, 18, 24])
def test_looks_after_a_kill_in_the_first_moments_are_sentences(tmp_path: Path, web: SyntheticWeb, files: int) -> None:
    web.host("a.localhost").page("/")
    start, directory = web.url("a.localhost"), tmp_path / "crawl"
    command = [sys.executable, "-P", "-c", _KILLED_AT, str(files), "crawl", "--dir", str(directory), start]
    assert subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 9
    for look in (["why", start], ["check", "--state"], ["backup", str(tmp_path / "copy")]):
        assert cli.run([*look, "--dir", str(directory)]) in {0, 2}, "nothing is damaged, and little is known"
    assert cli.run(["crawl", "-q", "--delay", "0", "--dir", str(directory), start]) == 0


def test_looks_at_a_database_without_tables_say_that_nothing_was_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cachingqueue").mkdir()
    (tmp_path / "cachingqueue" / "cache.db").touch()
    for look in (["why", "http://a.org/"], ["check", "--state"], ["backup", str(tmp_path / "copy")]):
        assert cli.run([*look, "--dir", str(tmp_path)]) == 2
        assert "its crawl was ended before it saved anything" in capsys.readouterr().err


def test_why_of_a_start_url_after_a_kill_at_the_first_request_says_that_it_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with random_web(1, hosts=2, pages=9) as web:
        kill(web, tmp_path, 1, tick="1h")
        assert cli.run(["why", web.start_urls[0], "--dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("Not fetched yet: number 1 of the URLs that wait for the filters\n")


def test_a_tick_saves_all_that_was_done_before_it(tmp_path: Path) -> None:
    """Told by ticks and not by clocks: whatever had been done at one tick is in the checkpoint of the next but one."""
    monitor = tmp_path / "logs" / "ThreadMonitor.log"
    done: list[set[str]] = []
    seen: list[int] = []

    def ticks() -> int:
        return monitor.read_bytes().count(b"\n") - 1 if monitor.exists() else 0

    with random_web(2, hosts=12, pages=600, delay=0.02) as web:
        log = watch(web)
        with Process(*crawl_arguments(tmp_path, web.start_urls, SETTINGS, *SCOPE)) as process:

            def note() -> None:
                done.append(released(web))
                seen.append(ticks())

            log.when(lambda _: ticks() >= 2 and bool(released(web)), note)
            log.when(lambda _: bool(seen) and ticks() >= seen[0] + 2, lambda: process.signal(signal.SIGKILL))
            assert process.end().status == -signal.SIGKILL
        assert set() < done[0] <= checkpointed(tmp_path)


def released(web: RandomWeb) -> set[str]:
    """Pages whose host was asked for another one since: with one request at a time, larm was done with them."""
    last = {request.host: request for request in web.requests}
    return {
        web.url(request.host, request.path)
        for request in web.requests
        if request.status == 200 and request.path != "/robots.txt" and request is not last[request.host]
    }


def kill(web: RandomWeb, directory: Path, after: int, tick: str = "") -> None:
    """Run the crawl and kill it at that request."""
    log = watch(web)
    settings = {"monitor.tick": tick} if tick else SETTINGS
    with Process(*crawl_arguments(directory, web.start_urls, settings, *SCOPE)) as process:
        log.at(after, lambda: process.signal(signal.SIGKILL))
        assert process.end().status == -signal.SIGKILL


def checkpointed(directory: Path) -> set[str]:
    """URLs of store.log up to where the last checkpoint noted it."""
    store = BlockStore(directory / "cachingqueue")
    try:
        found = CheckpointFile(store).read()
    finally:
        store.close()
    if found is None:
        return set()
    length = int(found[0].storages["log"]["store"])
    text = (directory / "logs" / "store.log").read_bytes()[:length].decode()
    urls = [line.split("\t")[1] for line in text.splitlines()]
    assert len(urls) == len(set(urls))
    return set(urls)


def pages_asked_for(web: RandomWeb) -> set[str]:
    return {web.url(request.host, request.path) for request in web.requests}


def key(url: str, web: RandomWeb) -> str:
    return url.partition("//")[2].replace(f":{web.port}", "")
