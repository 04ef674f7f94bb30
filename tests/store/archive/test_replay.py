"""pywb replays a crawled site: each answer with its status and bytes, each revisit as its original, and links lead on.

pywb wants a Python environment of its own: ``LARM_PYWB`` names the folder of its programs (``tox -e replay``).
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from larm.store.reader import StoreLog
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import run_crawl
from tests.support.bad_replies import zipped

PROGRAMS = os.environ.get("LARM_PYWB", "")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PROGRAMS, reason="LARM_PYWB is not set")]
CHAIN = {"storage.chain": ["log", "warc"]}


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A crawl and its revisit."""
    with SyntheticWeb() as web:
        site = web.host("a.localhost")
        site.page("/", "Home", "words", links=["/1", "/packed", "/old", "/gone"])
        site.page("/1", "One", "one")
        site.redirect("/old", "/1")
        site.add("/packed", zipped(b"<p>packed words" * 50))
        for _ in range(2):
            run_crawl(tmp_path / "crawl", web.url("a.localhost"), CHAIN)
    return tmp_path / "crawl"


@pytest.fixture
def replay(crawl: Path, tmp_path: Path) -> Iterator[str]:
    """Where pywb has it."""
    where = tmp_path / "pywb"
    where.mkdir()
    for arguments in (["init", "x"], ["add", "x", *map(str, sorted((crawl / "warc").glob("*.warc.gz")))]):
        subprocess.run([f"{PROGRAMS}/wb-manager", *arguments], cwd=where, check=True, capture_output=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [f"{PROGRAMS}/wayback", "-p", str(port), "-b", "127.0.0.1"]
    with subprocess.Popen(command, cwd=where, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(port, server)
            yield f"http://127.0.0.1:{port}/x"
        finally:
            server.terminate()


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """It says that it starts before it listens. pytest's time-out holds."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            assert not ended(server), "pywb ended before it listened"
        else:
            return


def ended(server: subprocess.Popen[bytes]) -> bool:
    """Within a tenth of a second."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(0.1)
        return True
    return False


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def answer(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.build_opener(_NoRedirects).open(url, timeout=60) as found:
            return found.status, found.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_all_of_it_is_replayed(crawl: Path, replay: str) -> None:
    log = StoreLog(crawl)
    bodies = {entry.url: log.body(entry) for entry in log}
    lines = [line for file in sorted((crawl / "warc").glob("*.cdxj")) for line in file.read_text().splitlines()]
    revisits = 0
    for line in lines:
        _, moment, text = line.split(" ", 2)
        said = json.loads(text)
        status, body = answer(f"{replay}/{moment}id_/{said['url']}")
        revisits += said.get("mime") == "warc/revisit"
        assert str(status) == said.get("status", "200"), line
        if status == 200:
            assert body == bodies[said["url"]], line
    assert revisits >= 4
    home = next(line.split()[1] for line in lines if json.loads(line.split(" ", 2)[2])["url"].endswith("/"))
    start = next(url for url in bodies if url.endswith("/"))
    _, page = answer(f"{replay}/{home}mp_/{start}")
    assert f"/x/{home}mp_/{start}1".encode() in page
