"""``larm ctl``: a crawl of a process of its own is looked at and steered; what was answered holds, also after a kill -9."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

from larm import cli
from larm.engine.orders import Add, AnyOrder, Block, Pause, Resume, Set
from larm.ops.control.client import Control
from larm.ops.control.requests import Do, Status, Stop, Watch
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, stored, watch
from tests.stories.processes import Process, crawl_arguments, larm_says, plain_lines_every

WAITS = {"crawl.on_idle": "wait"}


@contextmanager
def crawling(web: SyntheticWeb, directory: Path) -> Iterator[Process]:
    """A process that crawls until it is told otherwise; it has begun."""
    begun = threading.Event()
    watch(web).at(1, begun.set)
    with Process(*crawl_arguments(directory, [web.url("a.localhost")], WAITS, "-restrictto", ".*")) as process:
        assert begun.wait(60)
        yield process


def site(web: SyntheticWeb) -> None:
    host = web.host("a.localhost")
    host.page("/", links=["/1", "/missing", "http://b.localhost:{port}/"], title="Home")
    host.page("/1", links=["/"])
    host.page("/lonely")
    web.host("b.localhost").page("/")
    web.host("b.localhost").page("/more")


def order(directory: Path, *orders: AnyOrder) -> None:
    with Control(directory) as control:
        for each in orders:
            control.ask(Do(each))


def until(directory: Path, pages: int) -> None:
    """There are so many pages, and nothing is left to do."""
    with Control(directory) as control:
        for report in control.stream(Watch()):
            if report.figures.pages >= pages and report.state == "idle":
                return


def say(directory: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What ``larm ctl WORDS`` prints."""
    assert cli.run(["ctl", *words, "--dir", str(directory)]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_every_request_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SyntheticWeb() as web:
        site(web)
        port = web.port
        with crawling(web, tmp_path) as process:
            until(tmp_path, 3)
            assert "pages       3 in this run, 3 in all, 1 error\n" in say(tmp_path, capsys, "status")
            assert json.loads(say(tmp_path, capsys, "status", "--json"))["figures"]["pages"] == 3
            assert "2 hosts of 2" in say(tmp_path, capsys, "hosts", "--sort", "host")
            assert len(say(tmp_path, capsys, "pages").splitlines()) == 3
            assert "/missing  404" in say(tmp_path, capsys, "errors", "5")
            assert "robots" in say(tmp_path, capsys, "tail").split()
            tail = iter(lambda: say(tmp_path, capsys, "tail", "URLVisitedFilter", "-n", "1"), None)
            assert any("http://a.localhost" in shown for shown in islice(tail, 5_000)), "with the next tick at the latest"
            assert "filter scope" in say(tmp_path, capsys, "why", "http://a.localhost/x")
            assert say(tmp_path, capsys, "pause").startswith("paused")
            assert "limited by  a pause" in say(tmp_path, capsys, "status")
            assert say(tmp_path, capsys, "resume") == "the crawl goes on\n"
            assert say(tmp_path, capsys, "block", f"b.localhost:{port}") == f"b.localhost:{port} is not asked any more\n"
            assert "blocked" in say(tmp_path, capsys, "hosts", "--having", "b.local")
            assert say(tmp_path, capsys, "unblock", f"b.localhost:{port}") == f"b.localhost:{port} may be asked\n"
            assert say(tmp_path, capsys, "set", "frontier.per_host=3") == "frontier.per_host is 3 now\n"
            assert "set         frontier.per_host = 3" in say(tmp_path, capsys, "status", "-v")
            assert say(tmp_path, capsys, "add", web.url("a.localhost", "/lonely")) == "1 URL added\n"
            until(tmp_path, 4)
            assert say(tmp_path, capsys, "checkpoint") == "saved\n"
            assert cli.run(["ctl", "reopen", "/calendar/0", "--dir", str(tmp_path)]) == 2
            assert "nothing is held back" in capsys.readouterr().err
            assert cli.run(["ctl", "set", "fetch.threads=9", "--dir", str(tmp_path)]) == 2
            assert "can't be changed while" in capsys.readouterr().err
            assert say(tmp_path, capsys, "stop").startswith("it ends")
            assert process.end().status == 130
        assert cli.run(["ctl", "status", "--dir", str(tmp_path)]) == 2
        assert "no crawl runs in" in capsys.readouterr().err


def test_watching_until_the_end(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        site(web)
        with crawling(web, tmp_path), Process("ctl", "watch", "--dir", str(tmp_path)) as watching:
            until(tmp_path, 3)
            assert "pages (" in watching.first_line()  # else the crawl may have ended before it looks
            with Control(tmp_path) as control:
                control.ask(Stop())
            assert watching.end().status == 0


@pytest.mark.parametrize("how_far", ["at once", pytest.param("after a checkpoint", marks=pytest.mark.slow)])
def test_what_was_answered_survives_a_kill(tmp_path: Path, how_far: str) -> None:
    """A URL that was added is fetched, once; a blocked host is not asked; what was set holds, and a pause, too."""
    with SyntheticWeb() as web:
        site(web)
        with crawling(web, tmp_path) as process:
            until(tmp_path, 3)
            orders: Sequence[AnyOrder] = (
                Pause(),
                Block(f"b.localhost:{web.port}"),
                Set("frontier.per_host", "3"),
                Add((web.url("a.localhost", "/lonely"), web.url("b.localhost", "/more"))),
            )
            order(tmp_path, *orders)
            if how_far != "at once":
                say_saved(tmp_path)
            process.signal(signal.SIGKILL)
            assert process.end().status == -signal.SIGKILL
        assert not any(request.path in ("/lonely", "/more") for request in web.requests)
        log = watch(web)
        lonely = threading.Event()
        log.when(lambda request: request.path == "/lonely", lonely.set)
        arguments = crawl_arguments(tmp_path, [web.url("a.localhost")], WAITS, "-restrictto", ".*")
        with Process(*arguments, before=plain_lines_every(1)) as process:
            process.wait_for_line("limited by a pause")
            with Control(tmp_path) as control:
                report = control.ask(Status())
            assert (report.state, report.changes) == ("paused", {"frontier.per_host": "3"})
            assert not lonely.is_set()
            order(tmp_path, Resume())
            assert lonely.wait(60)
            until(tmp_path, 3 if how_far == "at once" else 4)  # the page of the host that is blocked now was forgotten
            with Control(tmp_path) as control:
                control.ask(Stop())
            assert process.end().status == 130
        assert "b.localhost/more" not in asked(web), "it is blocked"
        assert asked(web)["a.localhost/lonely"] == 1
        assert stored(tmp_path)[web.url("a.localhost", "/lonely")] == 1


def say_saved(directory: Path) -> None:
    assert larm_says("ctl", "checkpoint", "--dir", str(directory)).out == b"saved\n"


def test_a_socket_that_a_kill_left_is_replaced(tmp_path: Path) -> None:
    """Also one whose path was too long."""
    with SyntheticWeb() as web:
        site(web)
        directory = tmp_path / ("long" * 30)
        with crawling(web, directory) as process:
            process.signal(signal.SIGKILL)
            process.end()
        left = Path((directory / "lock").read_text().splitlines()[1])
        assert left.parent.exists(), "nobody could clean up after a kill"
        with crawling(web, directory) as process:
            assert not left.parent.exists()
            with Control(directory) as control:
                control.ask(Stop())
            process.end()
        assert not left.parent.exists()


def test_files_of_urls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SyntheticWeb() as web:
        site(web)
        (tmp_path / "urls").write_text(f"{web.url('a.localhost', '/lonely')}\n# no URL\nnot a URL\n")
        with crawling(web, tmp_path / "crawl"):
            assert cli.run(["ctl", "add", f"@{tmp_path / 'urls'}", "--dir", str(tmp_path / "crawl")]) == 2
            said = capsys.readouterr()
            assert said.out == "1 URL added\n"
            assert ":3: skipped" in said.err
            until(tmp_path / "crawl", 4)
            with Control(tmp_path / "crawl") as control:
                control.ask(Stop())
