"""``larm demo`` runs the commands that it prints."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Larm


class Runs:
    """Stands in for subprocess.run."""

    def __init__(self, status: int = 0) -> None:
        self.status = status
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        self.commands.append(command)
        return subprocess.CompletedProcess(command, self.status)


class FakeWeb:
    """Stands in for the demo web, which needs a thread and a port."""

    port = 4711
    start_urls = ("http://village.localhost:4711/", "http://library.localhost:4711/")

    def __enter__(self) -> FakeWeb:
        return self

    def __exit__(self, *_: object) -> None:
        return


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    fake = Runs()
    monkeypatch.setattr("larm.testing.demo_web.serve_demo", FakeWeb)
    monkeypatch.setattr(subprocess, "run", fake)
    return fake


def test_what_is_printed_is_what_is_run(larm: Larm, runs: Runs, tmp_path: Path) -> None:
    said = larm("demo", "--dir", "my demo")
    assert said.status == 0
    printed = [line.removeprefix("$ ") for line in said.out.splitlines() if line.startswith("$ ")]
    assert len(printed) == 3
    for line, command in zip(printed, runs.commands, strict=True):
        assert command[:3] == [sys.executable, "-m", "larm"]
        assert shlex.split(line)[-len(command) + 3 :] == command[3:]
    crawl = runs.commands[0]
    assert crawl[3:5] == ["crawl", "-start"]
    assert crawl[-2:] == ["--dir", "my demo"]
    assert "What to do next" in said.out
    assert "'my demo'/logs" in said.out or "my demo" in said.out


def test_the_demo_has_a_directory_of_its_own(larm: Larm, runs: Runs) -> None:
    larm("demo")
    assert runs.commands[0][-1] == "larm-demo"


def test_it_ends_with_the_search_page_where_that_is_wanted(larm: Larm, runs: Runs) -> None:
    said = larm("demo", "--serve")
    assert said.status == 0
    assert [command[3] for command in runs.commands] == ["crawl", "search", "search", "serve"]
    assert runs.commands[-1][3:] == ["serve", "larm-demo", "--port", "0", "--open"]


@pytest.mark.parametrize(
    ("url", "status"),
    [("http://example.org/", 2), ("http://village.localhost:99/", 0), ("http://archive.localhost:99/", 0), ("", 0)],
)
def test_it_does_not_start_over_in_the_directory_of_another_crawl(
    larm: Larm, runs: Runs, tmp_path: Path, url: str, status: int
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "cachingqueue").mkdir()
    row = f"<start>\t{url}\t{url}\t0\t200\ttext/html\t0\ta title\n" if url else ""
    (tmp_path / "logs" / "store.log").write_text(row)
    said = larm("demo", "--dir", str(tmp_path))
    assert said.status == status
    if status:
        assert said.err == f"larm: {tmp_path} has a crawl that is not the demo's; use another directory\n"
        assert runs.commands == []


def test_a_command_that_fails_ends_the_demo_with_its_status(larm: Larm, runs: Runs) -> None:
    runs.status = 3
    assert larm("demo").status == 3
    assert len(runs.commands) == 1
