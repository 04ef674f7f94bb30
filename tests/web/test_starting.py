"""Crawls that the server starts: what a full disk says, and what becomes of them when the server ends."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from larm.testing.faults import FaultyDisk
from larm.web.starting import Starting
from tests.web.conftest import Served, Start

POPEN = subprocess.Popen
FORM = {"name": "quays", "start": "http://a.localhost:9/"}


@pytest.fixture
def served(start: Start, tmp_path: Path) -> Served:
    return start(root=tmp_path)


def test_a_full_disk_is_a_sentence_and_the_rest_goes_on(served: Served, tmp_path: Path) -> None:
    """Wherever it is noticed, up to the file that takes what the new crawl says."""
    failed = ""
    for attempt in range(1, 20):
        with FaultyDisk(tmp_path, at=attempt, error=errno.ENOSPC) as disk:
            answer = served.client.post("/start", data=FORM, headers=served.bearer)
        failed = disk.failed or ""
        assert answer.status_code == 400, failed
        assert "the disk is full; make room" in answer.text, failed
        assert served.get("/start", headers=served.bearer).status_code == 200
        if "crawl.out" in failed:
            break
        assert not (tmp_path / "quays").exists(), "the name is free"
    assert "crawl.out" in failed


class Children:
    """Stand in for crawls: they run until they are told to end."""

    def __init__(self) -> None:
        self.all: list[subprocess.Popen[bytes]] = []

    def __call__(self, command: list[str], **how: object) -> subprocess.Popen[bytes]:
        child = POPEN([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
        self.all.append(child)
        return child


@pytest.mark.parametrize("stop", [False, True])
def test_at_the_end_crawls_go_on_or_stop_as_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: bool) -> None:
    children = Children()
    monkeypatch.setattr("larm.web.starting._await_start", lambda *_: None)
    starting = Starting(tmp_path, stop=stop)
    with monkeypatch.context() as patched:
        patched.setattr("larm.web.starting.subprocess.Popen", children)
        starting.new("quays", FORM)
    (child,) = children.all
    starting.close()
    try:
        if stop:
            assert child.wait(60) != 0
        else:
            assert child.poll() is None
    finally:
        child.kill()
        child.communicate()
