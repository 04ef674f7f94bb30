"""``larm serve``: where it listens, how it begins and ends. What it answers is tested in ``tests/web``."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from larm.crawldir.marker import set_marker
from larm.web.accounting import AccessLog
from larm.web.server import listen
from tests.cli.conftest import Larm
from tests.stories.processes import larm_says
from tests.support.faults import FaultyDisk


@pytest.fixture
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    set_marker(tmp_path, "0.1.0", saved=True)
    return tmp_path


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "somewhere.example"])
def test_others_are_let_in_only_where_that_is_said(larm: Larm, crawl: Path, host: str) -> None:
    said = larm("serve", "--host", host)
    assert said.status == 2
    assert "add --require-token, or --public-search" in said.err


def test_answers_do_not_wait_for_the_other_side() -> None:
    """asyncio sends at once what is written (TCP_NODELAY) only on sockets that say that they are TCP: else 40 ms a request."""
    with listen("127.0.0.1", 0) as socket_:
        assert socket_.proto == socket.IPPROTO_TCP


def test_a_port_that_is_taken(larm: Larm, crawl: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = larm("serve", "--port", str(taken.getsockname()[1]))
    assert said.status == 2
    assert "--port chooses another one" in said.err


def test_an_address_that_is_not_ours(larm: Larm, crawl: Path) -> None:
    said = larm("serve", "--host", "192.0.2.1", "--require-token", "--port", "0")
    assert said.status == 2
    assert said.err.startswith("larm: 192.0.2.1, port 0: ")


def test_where_there_is_no_crawl(larm: Larm, tmp_path: Path) -> None:
    said = larm("serve")
    assert said.status == 2
    assert "larm serve DIR" in said.err
    for words in (["nowhere"], ["--root", "nowhere"], [str(tmp_path)]):
        said = larm("serve", *words)
        assert said.status == 2
        assert "--root" in said.err
        assert "--dir" not in said.err, "it has no such option"


def test_a_crawl_that_is_yet_to_come(larm: Larm, crawl: Path) -> None:
    """Its settings are there; what is refused is the host, which is looked at later."""
    coming = crawl / "coming"
    coming.mkdir()
    (coming / "config.yaml").touch()
    assert "--host 0.0.0.0" in larm("serve", str(coming), "--host", "0.0.0.0").err


def test_a_crawl_below_the_root_that_never_ran_is_named(crawl: Path) -> None:
    """It is not served, nor started by its schedule."""
    coming = crawl / "coming"
    coming.mkdir()
    (coming / "config.yaml").touch()
    command = [sys.executable, "-P", "-m", "larm", "serve", "--port", "0", "--root", str(crawl)]
    with subprocess.Popen(command, cwd=crawl, stderr=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert "http://127.0.0.1:" in process.stderr.readline()
        process.terminate()
    assert f"coming/config.yaml is of no crawl yet: a crawl in {coming} begins it" in said


def test_a_token_that_others_can_read(larm: Larm, crawl: Path) -> None:
    token = crawl / "token"
    token.write_text("x" * 40)
    token.chmod(0o644)
    said = larm("serve", "--token-file", str(token))
    assert said.status == 3
    assert "chmod 600" in said.err


def test_a_disk_that_is_full_for_the_access_log_is_said_once(tmp_path: Path) -> None:
    """Requests go on; when there is room again, it is said how many lines are missing."""
    said: list[str] = []
    path = tmp_path / "access.log"
    log = AccessLog(path, said.append)
    log.write("one")
    path.rename(tmp_path / "moved")  # so a new file would be opened
    with FaultyDisk(tmp_path, at=1, error=errno.ENOSPC):
        for _ in range(3):
            log.write("two")
    assert said == [f"{path}: No space left on device; until that is mended no requests are logged"]
    log.write("three")
    assert said[1:] == [f"{path} is written again; the lines of 3 requests are missing"]
    assert path.read_text() == "three\n"
    log.close()


@pytest.mark.parametrize("options", [("--peer", "eel"), ("--network", "freeworld")])
def test_peer_without_its_extra_says_what_to_install(crawl: Path, options: tuple[str, str]) -> None:
    said = larm_says("serve", str(crawl), "--port", "0", *options, before="import sys; sys.modules['cryptography'] = None")
    assert (said.status, said.last) == (2, "larm: cryptography is missing: pip install 'larm[peers]'")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(crawl: Path, number: int) -> None:
    command = [sys.executable, "-P", "-m", "larm", "serve", "--port", "0", "--access-log", "access.log"]
    with subprocess.Popen(command, cwd=crawl, stderr=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", said)
        assert address, said
        assert str(crawl / "own" / "larm" / "token") in said
        with urlopen(f"{address[0]}healthz", timeout=60) as answer:
            assert answer.read() == b"ok\n"
        with socket.create_connection(("127.0.0.1", int(address[0].split(":")[2][:-1])), 60):  # somebody who says nothing
            process.send_signal(number)
            assert process.wait(60) == 0
        assert process.stderr.read() == ""
    assert re.fullmatch(r"\S+Z 127\.0\.0\.1 GET /healthz 200 3 \d\.\d{3}\n", (crawl / "access.log").read_text())


def test_too_few_files_may_be_open(crawl: Path) -> None:
    said = larm_says("serve", str(crawl), before="import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))")
    assert said.status == 2
    assert said.last == "larm: only 40 files may be open, and a server needs 64 at least: allow more ('ulimit -n 1024')"
