"""The door of a crawl that runs: everybody gets an answer, and nobody can hold up the crawl."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import threading
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from larm.crawldir.control_socket import SOCKET, socket_of
from larm.engine.orders import Add, AnyOrder, Block, Pause, Resume, Set, Unblock
from larm.errors import UsageError
from larm.frontier.checkpoint import CheckpointFile, Header
from larm.kit.disk.block_store import BlockStore
from larm.ops.control import server as module
from larm.ops.control.client import Control, NotRunning
from larm.ops.control.requests import (
    LONGEST,
    Agents,
    All,
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
    Tail,
    Watch,
    Why,
    encode_request,
)
from tests.ops.control.running import Running, running


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One for all tests that leave it as it was."""
    with running(tmp_path_factory.mktemp("crawl")) as crawl:
        crawl.until("idle")
        yield crawl


class Line:
    """A connection of somebody who may send anything."""

    def __init__(self, directory: Path) -> None:
        path = socket_of(directory)
        assert path is not None
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.file = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def takes(self, data: bytes, times: int) -> int:
        """How often this can be sent, before nobody takes it any more."""
        for sent in range(times):
            try:
                self.send(data)
            except (ConnectionError, TimeoutError):
                return sent
        return times

    def answer(self) -> dict[str, object]:
        line = self.file.readline()
        assert line, "it was closed"
        found: dict[str, object] = json.loads(line)
        return found

    def closed(self) -> bool:
        try:
            return self.file.readline() == b""
        except ConnectionError:
            return True

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def ask(crawl: Running, *orders: AnyOrder) -> list[str]:
    with Control(crawl.directory) as control:
        return [control.ask(Do(order)).says for order in orders]


# -- answers


def test_how_it_stands(crawl: Running) -> None:
    with Control(crawl.directory) as control:
        report = control.ask(Status())
    assert (report.state, report.pid, report.directory) == ("idle", os.getpid(), str(crawl.directory))
    assert report.figures.pages == 3
    assert report.figures.errors == 1
    assert report.limited_by == "nothing: there is nothing left to fetch"


def test_its_hosts(crawl: Running) -> None:
    with Control(crawl.directory) as control:
        table = control.ask(Hosts())
        assert control.ask(Hosts(having="nobody")).hosts == ()
        assert control.ask(Hosts(page=9)).hosts == ()
        with pytest.raises(UsageError, match="can't be sorted by colour, but by host, state"):
            control.ask(Hosts(sort="colour"))
        with pytest.raises(UsageError, match="from 1"):
            control.ask(Hosts(page=0))
    (line,) = table.hosts
    assert (line.host, line.state, line.queued, line.robots) == (f"a.localhost:{crawl.web.port}", "done", 0, "known")
    assert (table.known, table.found, table.pages) == (1, 1, 1)


def test_the_last_pages_and_errors(crawl: Running) -> None:
    with Control(crawl.directory) as control:
        pages, errors = control.ask(Pages(2)), control.ask(Errors())
        assert control.ask(Pages(-1)).fetches == ()
    assert len(pages.fetches) == 2
    assert pages.fetches[0].at >= pages.fetches[1].at
    assert {page.mime for page in pages.fetches} == {"text/html"}
    (error,) = errors.fetches
    assert (error.status, error.error, error.url) == (404, "404", crawl.web.url("a.localhost", "/missing"))


def test_why(crawl: Running) -> None:
    with Control(crawl.directory) as control:
        rows = dict(control.ask(Why("http://elsewhere.localhost/x")).rows)
        assert "elsewhere.localhost" in rows["filter scope"]
        with pytest.raises(UsageError, match="gopher"):
            control.ask(Why("gopher://x/"))


def test_logs(crawl: Running) -> None:
    with Control(crawl.directory) as control:
        names = control.ask(Tail()).logs
        assert {"robots", "thread0", "URLVisitedFilter"} <= set(names)
        logs = {name: control.ask(Tail(name, 3)).lines for name in names}
        assert any(f" 404: {crawl.web.url('a.localhost', '/missing')}" in line for lines in logs.values() for line in lines)
        for wrong in ("../config", "/etc/passwd", "nobody's", "thread0\0"):
            with pytest.raises(UsageError, match="there is no log"):
                control.ask(Tail(wrong))


def test_a_log_that_grows(crawl: Running) -> None:
    with Control(crawl.directory) as control:
        stream = control.stream(Tail("URLScopeFilter", 1, follow=True))
        next(stream)
        ask(crawl, Add(("http://elsewhere.localhost/new",)))
        assert next(stream).lines == ("http://elsewhere.localhost/new",)


def test_watching(crawl: Running) -> None:
    with Control(crawl.directory) as control:
        stream = control.stream(Watch())
        first, second = next(stream), next(stream)
    assert second.figures.elapsed > first.figures.elapsed


def test_a_checkpoint_is_on_the_disk_when_it_is_answered(tmp_path: Path) -> None:
    with running(tmp_path, {"monitor.tick": "1h"}) as crawl:
        with Control(tmp_path) as control:
            control.ask(Do(Pause()))
            control.ask(Checkpoint())
        store = BlockStore(tmp_path / "cachingqueue", read_only=True)
        found = CheckpointFile(store).read()
        store.close()
        assert found is not None
        assert header_of(found).parts["steering"]["paused"] is True
        assert ask(crawl, Resume()) == ["the crawl goes on"]


def header_of(found: tuple[Header, bytes]) -> Header:
    return found[0]


def test_orders_take_effect_before_the_next_request_of_anybody(crawl: Running) -> None:
    with Control(crawl.directory) as one, Control(crawl.directory) as other:
        one.ask(Do(Pause()))
        assert other.ask(Status()).state == "paused"
        other.ask(Do(Resume()))
        assert one.ask(Status()).state == "idle"
        one.ask(Do(Set("frontier.delay", "7s")))
        assert other.ask(Status()).changes["frontier.delay"] == "7s"
        assert other.ask(Hosts()).hosts[0].delay == 7
        one.ask(Do(Set("frontier.delay", "0s")))
        one.ask(Do(Block("b.localhost")))
        one.ask(Do(Unblock("b.localhost")))


# -- who may talk


def test_only_its_owner_may_use_it(crawl: Running) -> None:
    mode = (crawl.directory / SOCKET).stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600


def test_nobody_is_there(tmp_path: Path) -> None:
    with pytest.raises(NotRunning, match="no crawl runs in"):
        Control(tmp_path)
    with running(tmp_path) as crawl:
        with Control(tmp_path) as control:
            stream = control.stream(Watch())
            next(stream)
            crawl.crawl.stop()
            for _ in stream:
                pass
        crawl.end()
        assert not (tmp_path / SOCKET).exists()
        with pytest.raises(NotRunning):
            Control(tmp_path)


def test_the_socket_of_a_dead_crawl_is_replaced(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / SOCKET))
    with pytest.raises(NotRunning, match="refused"):
        Control(tmp_path)
    (tmp_path / SOCKET).rename(tmp_path / "kept")
    with running(tmp_path / "crawl"):
        pass
    (tmp_path / "kept").rename(tmp_path / "crawl" / SOCKET)
    with running(tmp_path / "crawl"), Control(tmp_path / "crawl") as control:
        assert control.ask(Status()).pid == os.getpid()


def test_a_path_that_is_too_long_for_a_socket(tmp_path: Path) -> None:
    """The lock file says where it is, and nothing is left of it."""
    directory = tmp_path / ("long" * 30)
    with running(directory), Control(directory) as control:
        assert control.ask(Status()).directory == str(directory)
        path = Path((directory / "lock").read_text().splitlines()[1])
        assert socket_of(directory) == path
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert not (directory / SOCKET).exists()
    assert not path.parent.exists()


def test_a_copy_of_a_directory_has_not_the_door_of_the_first(tmp_path: Path) -> None:
    """Nor does a crawl of the copy take it away."""
    directory, copy = tmp_path / ("long" * 30), tmp_path / ("copy" * 30)
    with running(directory):
        copy.mkdir()
        shutil.copy(directory / "lock", copy / "lock")
        with pytest.raises(NotRunning):
            Control(copy)
        with running(copy), Control(copy) as control:
            assert control.ask(Status()).directory == str(copy)
        with Control(directory) as control:
            assert control.ask(Status()).directory == str(directory)


def test_a_crawl_without_a_socket_goes_on(tmp_path: Path) -> None:
    """Something of the user's has its name."""
    with running(tmp_path):
        pass
    (tmp_path / SOCKET).write_text("mine")
    with running(tmp_path) as crawl:
        assert any("larm ctl" in note for note in crawl.crawl.notes)
    assert (tmp_path / SOCKET).read_text() == "mine"


# -- who talks nonsense


@pytest.mark.parametrize(
    "nonsense",
    [
        b"",
        b"hello",
        b"\xff\xfe\x00",
        b"{}",
        b"[]",
        b"null",
        b'{"v":1}',
        b'{"v":1,"ask":"nothing"}',
        b'{"v":1,"ask":"status","more":1}',
        b'{"v":1,"ask":"hosts","page":"one"}',
        b'{"v":1,"ask":"do","order":{"order":"format"}}',
        b'{"v":1,"ask":"do","order":{"order":"add","urls":"http://a/"}}',
        b'{"v":1,"ask":"pages","count":1e400}',
        b"[" * 100_000,
        b"GET / HTTP/1.1\r",
    ],
)
def test_nonsense_is_refused_and_the_connection_goes_on(crawl: Running, nonsense: bytes) -> None:
    with Line(crawl.directory) as line:
        line.send(nonsense + b"\n")
        answer = line.answer()
        assert answer["ok"] is False
        assert answer["error"]
        line.send(encode_request(Status()))
        assert line.answer()["ok"] is True


def test_another_version_is_told_so(crawl: Running) -> None:
    with Line(crawl.directory) as line:
        line.send(b'{"v":7,"ask":"status"}\n')
        assert line.answer()["error"] == "this crawl speaks version 1 of the protocol, not 7: use the larm that runs it"


def test_a_request_without_end(crawl: Running) -> None:
    with Line(crawl.directory) as line:
        assert line.takes(b"x" * LONGEST, 100) < 100, "it is closed before all is sent"
    with Line(crawl.directory) as line:
        line.send(b"x" * (LONGEST + 1))
        assert line.answer()["error"] == f"a request has at most {LONGEST:,} bytes"
        assert line.closed()


def test_who_hangs_holds_up_nobody(crawl: Running) -> None:
    with Line(crawl.directory) as half, Line(crawl.directory), Control(crawl.directory) as control:
        half.send(b'{"v":1,"ask":')
        assert control.ask(Status()).state == "idle"
        half.send(b'"status"}\n')
        assert half.answer()["ok"] is True


def test_who_does_not_read_holds_up_nobody(crawl: Running) -> None:
    """And does not fill the memory: what is not answered yet stays where it came from."""
    with Line(crawl.directory) as line, Control(crawl.directory) as control:
        line.socket.settimeout(0.2)
        sent = line.takes(encode_request(Status()), 100_000)
        assert sent < 50_000
        assert control.ask(Status()).state == "idle"


def test_many_requests_in_one_piece_are_answered_in_their_order(crawl: Running) -> None:
    with Line(crawl.directory) as line:
        line.send(encode_request(Pages(1)) * 3 + encode_request(Tail()) + encode_request(Status()))
        answers = [line.answer()["answer"] for _ in range(5)]
        assert [next(iter(answer)) for answer in answers] == ["fetches", "fetches", "fetches", "log", "state"]


def test_of_too_many_connections_the_one_that_was_silent_longest_goes(crawl: Running) -> None:
    lines = [Line(crawl.directory) for _ in range(module.CONNECTIONS)]
    for line in (*lines, lines[0]):
        line.send(encode_request(Tail()))
        line.answer()
    with Control(crawl.directory) as control:
        assert control.ask(Status()).state == "idle"
        assert lines[1].closed()
        lines[0].send(encode_request(Tail()))
        assert lines[0].answer()["ok"] is True
    for line in lines:
        line.close()


def test_it_takes_a_fifth_of_a_core_at_most(crawl: Running) -> None:
    """However much is asked. The time between is only ever longer."""
    before = cpu(crawl)
    began = time.monotonic()  # noqa: TID251
    with Line(crawl.directory) as line:
        for _ in range(200):
            line.send(encode_request(Status()))
            line.answer()
    assert cpu(crawl) - before <= 0.25 * (time.monotonic() - began)  # noqa: TID251


def cpu(crawl: Running) -> float:
    return crawl.crawl._cpu.seconds()["larm-control"]


def test_a_mistake_of_ours_in_an_answer_does_not_end_the_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path) as crawl:
        with monkeypatch.context() as patched, Control(tmp_path) as control:
            patched.setattr("larm.ops.control.desk.ControlDesk._report", lambda _: 1 // 0)
            with pytest.raises(UsageError, match="ZeroDivisionError"):
                control.ask(Status())
        with Control(tmp_path) as control:
            assert control.ask(Status()).figures.counters["control/failed"] == 1
        assert crawl.died == []


def test_a_thousand_connections_one_after_the_other(crawl: Running) -> None:
    """From several sides at a time; no descriptor is left."""
    open_before = len(os.listdir("/proc/self/fd"))

    def talk() -> None:
        for _ in range(50):
            with Line(crawl.directory) as line:
                line.send(encode_request(Tail()))
                line.answer()

    threads = [threading.Thread(target=talk) for _ in range(4)]  # noqa: TID251
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Control(crawl.directory) as control:  # the crawl opens files for a moment at each tick; this line has two sides
        looks = (len(os.listdir("/proc/self/fd")) for _ in islice(control.stream(Watch()), 20))
        assert any(seen <= open_before + 3 for seen in looks)


def test_all_requests_survive_their_way() -> None:
    from larm.ops.control.requests import ANSWERS, Stop, decode_request

    samples: list[Request[object]] = [
        Status(),
        Watch(),
        Hosts("host", 2, 3, "x"),
        Why("http://a/"),
        Pages(3),
        Errors(4),
        Agents("a.example"),
        Leave(),
        All("pause"),
        Tail("a", 5, True),
        Do(Add(("http://a/", "b"))),
        Checkpoint(),
        Hold(),
        Release(),
        Stop(),
    ]
    assert {type(sample) for sample in samples} == set(ANSWERS)
    for sample in samples:
        assert decode_request(encode_request(sample)) == sample
