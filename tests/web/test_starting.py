"""Crawls that the server starts: what a full disk says, and what becomes of them when the server ends."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from larm.errors import UsageError
from larm.web.starting import Starting
from tests.support.faults import FaultyDisk
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


NEW = {"name": "quays", "start": ["http://a.localhost:9/", "http://b.localhost:9/"], "max_pages": 7, "delay": "500ms"}


def test_a_program_starts_a_new_crawl(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the root, with these settings and no others; by who has the token."""

    def said(question: object, headers: dict[str, str] = served.bearer) -> tuple[int, str]:
        answer = served.client.post("/api/v1/new", json=question, headers=headers)
        return answer.status_code, answer.text

    assert said(NEW, {})[0] == 401
    for wrong in (
        {"name": "../quays"},
        {"name": ".quays"},
        {"start": []},
        {"start": ["file:///etc/"]},
        {"start": "http://a.localhost:9/"},
        {"max_pages": 0},
        {"delay": "soon"},
        {"restrict_to": "("},
        {"restrict_to": "(a|aa)+b"},
        {"processing.nofollow": True},
    ):
        status, text = said(NEW | wrong)
        assert status in {400, 422}, wrong
        assert "Traceback" not in text
    assert not any(tmp_path.iterdir())
    children = Children()
    monkeypatch.setattr("larm.web.starting._await_start", lambda *_: None)
    monkeypatch.setattr("larm.web.starting.subprocess.Popen", children)
    assert said(NEW) == (200, '{"says":"the crawl has begun","refused":[]}')
    written = yaml.safe_load((tmp_path / "quays" / "config.yaml").read_text())
    assert written == {"crawl": {"start": NEW["start"], "max_pages": 7}, "frontier": {"delay": "500ms"}}
    status, text = said(NEW)
    assert (status, "there is such a directory already" in text) == (422, True)
    (child,) = children.all
    child.communicate(b"")


def test_name_is_free_after_a_start_that_a_power_cut_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.web.starting._await_start", lambda *_: None)
    children = Children()
    monkeypatch.setattr("larm.web.starting.subprocess.Popen", children)
    (tmp_path / "quays").mkdir()
    (tmp_path / "quays" / ".config.yaml.0123abcd").touch()
    Starting(tmp_path).new("quays", FORM)
    children.all[0].communicate(b"")
    with pytest.raises(UsageError, match="there is such a directory already"):
        Starting(tmp_path).new("quays", FORM)


def test_without_a_root_no_crawl_is_new(start: Start, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "config.yaml").write_text("crawl: {start: ['http://a.localhost:9/']}")
    server = start(tmp_path / "a")
    answer = server.client.post("/api/v1/new", json=NEW, headers=server.bearer)
    assert (answer.status_code, answer.json()["detail"]) == (422, "a new crawl needs a place: larm serve --root FOLDER")


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
