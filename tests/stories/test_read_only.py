"""Story: a crawl on a disk that is read only, and one of another user: it can be searched and looked into.

The commands are processes of their own, in a mount namespace or as ``nobody``; both need root.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from larm.crawldir.state import last_header
from larm.index.reader import IndexReader
from tests.stories.crawls import ALL_HOSTS, run_crawl, watch
from tests.stories.processes import ROOT, Process, crawl_arguments
from tests.support.random_web import RandomWeb, random_web

_READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
_FULL = (
    'mount -t tmpfs -o size=16m larm-test "$1" && cp -a "$0/." "$1" && rm -f "$1"/cachingqueue/*-shm'
    '; dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null; shift; exec "$@"'
)
"""Of what follows, ``$0`` is copied to a small disk at ``$1``, which is then filled."""
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


class Crawled(NamedTuple):
    """What is looked into."""

    directory: Path
    start: str
    word: str


def is_possible(*command: str) -> bool:
    if os.getuid() or shutil.which(command[0]) is None:
        return False
    return not subprocess.run([*command, "true"], check=False, capture_output=True).returncode


def on_read_only_disk(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return said(["unshare", "-m", "sh", "-c", _READ_ONLY, str(directory), *larm(directory, arguments)])


def as_nobody(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return said([*NOBODY, *larm(directory, arguments)])


def larm(directory: Path, arguments: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-P", "-m", "larm", *arguments, "--dir", str(directory)]


def said(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": ROOT, "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/"}
    return subprocess.run(command, env=environment, text=True, capture_output=True, timeout=60, check=False)


NEEDS_NOBODY = pytest.mark.skipif(
    not is_possible(*NOBODY, sys.executable, "-c", "pass"),
    reason="no root, or this Python lies where others may not read",
)
WAYS = [
    pytest.param(on_read_only_disk, id="disk", marks=pytest.mark.skipif(not is_possible("unshare", "-m"), reason="no root")),
    pytest.param(as_nobody, id="nobody", marks=NEEDS_NOBODY),
]


@pytest.fixture(scope="module")
def web() -> Iterator[RandomWeb]:
    with random_web(6, hosts=3, pages=40) as made:
        yield made


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """One that others may enter, unlike pytest's."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        yield Path(made)


@pytest.fixture(scope="module")
def crawled(web: RandomWeb, folder: Path) -> Crawled:
    before = os.umask(0o022)
    try:
        run_crawl(folder / "crawl", web.start_urls, ALL_HOSTS)
    finally:
        os.umask(before)
    return Crawled(folder / "crawl", web.start_urls[0], "river")


@pytest.fixture(scope="module", params=["finished", "stopped", "killed"])
def left(request: pytest.FixtureRequest, crawled: Crawled, web: RandomWeb, folder: Path) -> tuple[str, Crawled]:
    """How a crawl ended, and its directory; of a killed one with the logs of its databases."""
    directory = folder / request.param
    if request.param == "finished":
        shutil.copytree(crawled.directory, directory)
    else:
        log = watch(web)
        number = signal.SIGINT if request.param == "stopped" else signal.SIGKILL
        with Process(*crawl_arguments(directory, web.start_urls, ALL_HOSTS | {"monitor.tick": "30ms"})) as process:

            def end() -> None:  # on the server's thread: nothing is fetched until the checkpoints know some pages
                never = threading.Event()
                assert any(counted_pages(directory) >= 5 or never.wait(0.01) for _ in range(3_000))
                process.signal(number)

            log.at(20, end)
            process.end()
        (directory / "control.sock").unlink(missing_ok=True)
    assert counted_pages(directory)
    assert any((directory / "cachingqueue").glob("*-wal")) is (request.param == "killed")
    return request.param, Crawled(directory, crawled.start, crawled.word)


def counted_pages(directory: Path) -> int:
    """Return the number of pages in the index by the last checkpoint."""
    header = last_header(directory)
    return IndexReader(directory / "index").documents if header and header.storages["index"].get("generation") else 0


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def look_into(way: object, crawled: Crawled) -> None:
    """All commands that read, and nothing is changed or made."""
    before = contents(crawled.directory)
    for command, words in (
        (["search", crawled.word], crawled.start[:10]),
        (["search", f"link:{crawled.start}"], "http://"),
        (["search", f"info:{crawled.start}"], crawled.start),
        (["why", crawled.start], "filter visited"),
        (["cat", crawled.start], "<html"),
        (["stats", "-v"], "rank "),
        (["check"], "OK"),
        (["check", "--state"], "the state is whole"),
    ):
        found = way(crawled.directory, *command)  # type: ignore[operator]
        assert found.returncode == 0, (command, found.stderr)
        assert words in found.stdout, (command, found)
    assert "has passed already" in way(crawled.directory, "why", crawled.start).stdout  # type: ignore[operator]
    assert contents(crawled.directory) == before


@pytest.mark.parametrize("way", WAYS)
def test_a_crawl_can_be_looked_into(way: object, crawled: Crawled) -> None:
    look_into(way, crawled)


@pytest.mark.parametrize("way", WAYS)
def test_backup_of_a_crawl_that_is_read_only_is_a_crawl(way: object, crawled: Crawled) -> None:
    with tempfile.TemporaryDirectory() as copy:
        os.chmod(copy, 0o777)
        found = way(crawled.directory, "backup", copy)  # type: ignore[operator]
        assert found.returncode == 0, found.stderr
        run_crawl(Path(copy), (), ALL_HOSTS)


@pytest.mark.parametrize("way", WAYS)
def test_what_writes_says_what_is_wrong(way: object, crawled: Crawled) -> None:
    """And never that anything were damaged."""
    for command in (["crawl", crawled.start], ["crawl", crawled.start, "--fresh"], ["reindex"]):
        found = way(crawled.directory, *command)  # type: ignore[operator]
        assert found.returncode == 3
        assert "it can't be opened or written; check the path, its owner and its permissions" in found.stderr.splitlines()[-1]
        assert "damaged" not in found.stderr
        assert "start over" not in found.stderr


@pytest.mark.parametrize("index_of_the_log", [True, False])
@pytest.mark.skipif(not is_possible("unshare", "-m"), reason="no root")
def test_crawl_that_was_left_can_be_read_on_a_read_only_disk(
    left: tuple[str, Crawled], tmp_path: Path, index_of_the_log: bool
) -> None:
    """Also of a process that was killed, with what its databases have in their logs."""
    kind, crawled = left
    directory = shutil.copytree(crawled.directory, tmp_path / kind)
    if not index_of_the_log:
        for path in (directory / "cachingqueue").glob("*-shm"):
            path.unlink()
    before = contents(directory)
    why = on_read_only_disk(directory, "why", crawled.start)
    assert (why.returncode, "has passed already" in why.stdout) == (0, True), why.stderr
    for command in (["search", crawled.word], ["cat", crawled.start], ["stats"]):
        found = on_read_only_disk(directory, *command)
        assert found.returncode == 0, (command, found.stderr)
    found = on_read_only_disk(directory, "search", f"link:{crawled.start}")
    assert found.returncode in ({0, 1} if kind == "killed" else {0}), "the link graph is made at the end"
    assert contents(directory) == before


@pytest.mark.skipif(not is_possible("unshare", "-m"), reason="no root")
def test_crawl_that_was_left_can_be_read_on_a_full_disk(left: tuple[str, Crawled], tmp_path: Path) -> None:
    kind, crawled = left
    directory, disk = shutil.copytree(crawled.directory, tmp_path / kind), tmp_path / "disk"
    disk.mkdir()
    for command in (["search", crawled.word], ["why", crawled.start], ["cat", crawled.start], ["stats"]):
        mount = ["unshare", "-m", "sh", "-c", _FULL, str(directory), str(disk), *larm(disk, tuple(command))]
        found = said(mount)
        assert found.returncode == 0, (command, found.stderr)
        assert found.stdout, (command, found.stderr)


@NEEDS_NOBODY
def test_what_another_user_may_not_read_is_named(crawled: Crawled, folder: Path) -> None:
    """By the umask of who crawled: no command says that it were damaged."""
    private = folder / "private"
    shutil.copytree(crawled.directory, private)
    for name in ("cachingqueue", "index", "logs"):
        (private / name).chmod(0o700)
    for command in (["search", "river"], ["why", crawled.start], ["cat", crawled.start]):
        found = as_nobody(private, *command)
        assert found.returncode == 3, (command, found)
        assert "Permission denied" in found.stderr or "can't be opened" in found.stderr
        assert "damaged" not in found.stderr
        assert "fresh" not in found.stderr


@pytest.mark.parametrize(("mask", "mode"), [("022", 0o644), ("077", 0o600), ("027", 0o640)])
def test_modes_are_as_the_umask_says(web: RandomWeb, tmp_path: Path, mask: str, mode: int) -> None:
    code = f"import os; os.umask(0o{mask}); from larm.__main__ import main; main()"
    arguments = ["crawl", "-q", *web.start_urls, "--dir", str(tmp_path / "crawl"), "--delay", "0"]
    for key, value in ALL_HOSTS.items():
        arguments += ["-s", f"{key}={value}"]
    for _ in range(2):
        assert said([sys.executable, "-c", code, *arguments]).returncode == 0
    files = {path: path.stat().st_mode & 0o777 for path in (tmp_path / "crawl").rglob("*") if path.is_file()}
    assert {str(path): oct(found) for path, found in files.items() if found != mode} == {}
    assert {path.name for path in files} > {"meta.json", ".managed.json", "larm.json", "snapshot", "cache.db", "visited.db"}
