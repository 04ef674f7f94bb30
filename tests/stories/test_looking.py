"""Story: whoever looks at a crawl, while it runs and afterwards, leaves its directory byte for byte as it was."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click
import msgspec
import pytest

from larm import cli
from larm.crawldir.form import FORM, MARKER, read_marker
from larm.engine.orders import Pause
from larm.errors import UsageError
from larm.ops.control.client import Control
from larm.ops.control.requests import (
    Agents,
    All,
    AnyRequest,
    Checkpoint,
    Do,
    Errors,
    Hold,
    Hosts,
    Leave,
    Pages,
    Release,
    Request,
    Status,
    Stop,
    Tail,
    Watch,
    Why,
)
from larm.testing.web import SyntheticWeb
from tests.ops.control.running import Running, running
from tests.stories.crawls import run_crawl

NOT_A_LOOK = {All, Checkpoint, Do, Hold, Leave, Release, Stop}
"""Requests that save, or order something."""
WRITING = {
    "backup": "writes another directory, and has the crawl save",
    "cluster ca": "writes a folder of its own",
    "cluster etcd": "founds etcd again",
    "cluster found": "founds a cluster again",
    "cluster issue": "writes a folder of its own",
    "cluster leave": "orders",
    "cluster pause": "orders",
    "cluster remove": "removes an agent",
    "cluster resume": "orders",
    "cluster revoke": "writes a folder of its own",
    "cluster set": "orders",
    "cluster stop": "orders",
    "crawl": "crawls",
    "ctl add": "orders",
    "ctl block": "orders",
    "ctl checkpoint": "saves",
    "ctl pause": "orders",
    "ctl reopen": "orders",
    "ctl resume": "orders",
    "ctl set": "orders",
    "ctl stop": "orders",
    "ctl unblock": "orders",
    "demo": "crawls",
    "forget": "takes pages out",
    "init": "writes config.yaml",
    "reindex": "makes a new index",
    "repair": "mends what is damaged",
    "serve": "serves until it is stopped; its requests are those of Control",
    "warc index": "writes beside WARC files",
    "warc verify": "has no directory",
}
LOOKS = {
    "cat": "cat {start}",
    "check": "check --state",
    "cluster status": "cluster status",
    "ctl errors": "ctl errors",
    "ctl hosts": "ctl hosts -v",
    "ctl pages": "ctl pages",
    "ctl status": "ctl status",
    "ctl tail": "ctl tail store",
    "ctl watch": "",  # a stream; as a request it is below
    "ctl why": "ctl why {start}",
    "export": "export --format jsonl",
    "help": "help ctl",
    "links": "links",
    "report": "report",
    "search": "search home",
    "starts": "starts",
    "stats": "stats",
    "version": "version",
    "warc export": "warc export --output {tmp}/warc",
    "why": "why {start}",
}


def files(directory: Path) -> dict[str, bytes]:
    """All files and what is in them, but for the locks that SQLite shares in memory between processes."""
    found = [path for path in directory.rglob("*") if stat.S_ISREG(path.stat().st_mode) and not path.name.endswith("-shm")]
    return {str(path.relative_to(directory)): path.read_bytes() for path in found}


def leaves(group: click.Group, before: str = "") -> Iterator[str]:
    for name, command in group.commands.items():
        yield from leaves(command, f"{name} ") if isinstance(command, click.Group) else [f"{before}{name}"]


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Paused, saved, and without a tick that writes."""
    with running(tmp_path_factory.mktemp("crawl"), {"monitor.tick": "1h"}) as found:
        found.until("idle")
        with Control(found.directory) as control:
            control.ask(Do(Pause()))
            control.ask(Checkpoint())
            before: dict[str, bytes] | None = None
            for _ in control.stream(Watch()):  # the tick that has saved writes its figures
                try:
                    if before == (before := files(found.directory)):
                        break
                except FileNotFoundError:  # a new file took the place of an older one between the list and the reading
                    before = None
        yield found


def requests(start: str) -> list[Request[object]]:
    """Every one that looks; of logs, each that there is, and names that are none or try to be paths."""
    names = (
        "",
        "store",
        "links",
        "robots",
        "ThreadMonitor",
        "nosuch",
        "store.log",
        "../config",
        "../logs/store",
        "a\0",
        "x" * 300,
    )
    tails = [Tail(name, 5, follow) for name in names for follow in (False, True)]
    found = [Status(), Watch(), Hosts(having="a"), Why(start), Why("http://new.test/"), Pages(), Errors(), Agents(), *tails]
    assert {type(each) for each in found} == set(get_args(AnyRequest)) - NOT_A_LOOK, "a new request is a look, or listed"
    return found


def test_request_that_looks_leaves_the_directory_as_it_was(crawl: Running) -> None:
    before = files(crawl.directory)
    for request in requests(crawl.web.url("a.localhost")):
        with Control(crawl.directory) as control:
            try:
                next(control.stream(request)) if isinstance(request, Watch | Tail) else control.ask(request)
            except UsageError as error:
                assert "alone" in str(error) or "there is no log" in str(error)  # noqa: PT017
        assert files(crawl.directory) == before, request


@pytest.mark.parametrize("name", ["store", "links", "ThreadMonitor"])
@pytest.mark.parametrize("follow", [False, True])
def test_tail_shows_the_logs_of_storages(crawl: Running, name: str, follow: bool) -> None:
    with Control(crawl.directory) as control:
        assert name in control.ask(Tail()).logs
        expected = (crawl.directory / "logs" / f"{name}.log").read_text().splitlines()[-2:]
        assert list(next(control.stream(Tail(name, 2, follow))).lines) == expected


@pytest.mark.parametrize("follow", [False, True])
def test_tail_of_unknown_log_answers_at_once(crawl: Running, follow: bool) -> None:
    with Control(crawl.directory) as control, pytest.raises(UsageError, match=r"there is no log nosuch; there are .*store"):
        next(control.stream(Tail("nosuch", 5, follow)))


def test_every_command_is_a_look_or_is_listed_as_writing() -> None:
    assert set(leaves(cli.larm)) == LOOKS.keys() | WRITING.keys()
    assert not LOOKS.keys() & WRITING.keys()


@pytest.mark.parametrize("name", [name for name, line in LOOKS.items() if line])
def test_command_that_looks_leaves_a_running_crawl_as_it_was(
    crawl: Running, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks(crawl.directory, name, crawl.web.url("a.localhost"), tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    directory = tmp_path_factory.mktemp("ended")
    with SyntheticWeb() as web:
        web.host("a.localhost").page("/", links=["/1"], title="Home")
        web.host("a.localhost").page("/1")
        run_crawl(directory, web.url("a.localhost"), {"storage.chain": ["log", "index", "graph", "warc"]})
        yield directory, web.url("a.localhost")


@pytest.mark.parametrize("name", [name for name, line in LOOKS.items() if line])
def test_command_that_looks_leaves_an_ended_crawl_as_it_was(
    ended: tuple[Path, str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, start = ended
    looks(directory, name, start, tmp_path, monkeypatch)


def looks(directory: Path, name: str, start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(directory)
    monkeypatch.chdir(directory)
    assert cli.run(LOOKS[name].format(start=start, tmp=tmp_path).split()) in {0, 1, 2}
    assert files(directory) == before


@pytest.mark.parametrize(
    "name", [name for name, line in LOOKS.items() if "ctl" not in line and name not in ("ctl watch", "version")]
)
def test_command_that_looks_refuses_a_directory_of_another_form(
    ended: tuple[Path, str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    directory = shutil.copytree(ended[0], tmp_path / "other")
    marker = read_marker(directory)
    assert marker is not None
    (directory / MARKER).write_bytes(msgspec.json.encode(msgspec.structs.replace(marker, form=FORM + 1)))
    monkeypatch.chdir(directory)
    assert cli.run(LOOKS[name].format(start=ended[1], tmp=tmp_path).split()) == 3
    assert "another version of larm" in capfd.readouterr().err
