"""A host moves from one crawl to another, whole: nothing is fetched twice, nothing is lost, and its delay is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from larm.engine.crawl import Crawl
from larm.engine.moves import Moves
from larm.engine.orders import Add, Set
from larm.errors import UsageError
from larm.filters.chain import MessageFilter
from larm.frontier.host_parts import Pages, encode_part
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.threads.workers import Workers
from larm.model.message import UNKNOWN, URLMessage
from larm.model.url import URLNormalizer
from larm.ops.observers import build_crawl
from larm.store.pages.page_row import PageRow, encode_row
from larm.store.pages.page_rows import page_rows
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import config_of, once, stored, watch

DEADLINE = 60
"""Seconds: beyond, something hangs."""
DELAY = 0.02
PAGES = 30
HERE = "tests.stories.test_moves"


class Foreign(MessageFilter):
    """Which hosts are another crawl's; what is found of them is noted."""

    hosts: ClassVar[set[str]] = set()
    found: ClassVar[list[URLMessage]] = []

    def judge(self, message: URLMessage) -> str | None:
        if message.url.host not in self.hosts:
            return None
        self.found.append(message)
        return "another crawl's"


@pytest.fixture(autouse=True)
def nobody_is_foreign() -> Iterator[None]:
    Foreign.hosts, Foreign.found = set(), []
    yield
    Foreign.hosts, Foreign.found = set(), []


SETTINGS: dict[str, object] = {
    "crawl.restrict_to": ".*",
    "crawl.on_idle": "wait",
    "filters.order": ["known_paths", "scope", "length", f"{HERE}:Foreign", "visited", "robots", "traps"],
    "frontier.delay": f"{int(1000 * DELAY)}ms",
    "frontier.host_block": 4,  # what waits lies on the disk, too
    "monitor.tick": "20ms",
}


def world(web: SyntheticWeb) -> None:
    """b is a site of its own, to which a leads."""
    web.host("a.localhost").page("/", links=["http://b.localhost:{port}/", "/1"])
    web.host("a.localhost").page("/1")
    web.host("b.localhost").page("/", links=[f"/{number}" for number in range(PAGES)])
    for number in range(PAGES):
        web.host("b.localhost").page(f"/{number}", links=["/", f"/{(number * 7) % PAGES}"])
    web.host("b.localhost").page("/late")
    web.host("c.localhost").page("/")


class Running:
    """A crawl on a thread of its own, that waits for more when it has all."""

    def __init__(self, directory: Path, start: str) -> None:
        self.crawl: Crawl = build_crawl(config_of(start, SETTINGS), directory)
        self.still, self.gone = threading.Event(), threading.Event()
        self.moves: Moves = self.crawl.moves
        self.moves.on_still = lambda _: self.still.set()
        self.moves.on_gone = lambda _: self.gone.set()
        self._died: list[BaseException] = []
        self._workers = Workers(lambda _, error: self._died.append(error))
        self._workers.start("crawl", self._run)

    def _run(self) -> None:
        ending = self.crawl.run()
        assert ending.error is None

    def order(self, *orders: Add | Set) -> None:
        for order in orders:
            self.crawl.steering.order(order)
        self.crawl.steering.carry_out()

    def finish(self) -> None:
        """When nothing is left."""
        self.order(Set("crawl.on_idle", "end"))
        self._end()

    def stop(self) -> None:
        self.crawl.stop()
        self._end()

    def _end(self) -> None:
        assert self._workers.join(DEADLINE) == []
        assert self._died == []


@contextmanager
def running(directory: Path, start: str) -> Iterator[Running]:
    made = Running(directory, start)
    try:
        yield made
    finally:
        made.stop()


def carry(old: Running, new: Running, host: str) -> None:
    """The whole way."""
    old.still.clear()
    old.gone.clear()
    old.moves.freeze(host)
    assert old.still.wait(DEADLINE)
    for part in old.moves.parts(host):
        new.moves.receive(part)
    old.moves.forget(host)
    assert old.gone.wait(DEADLINE)


def check_forgotten(directory: Path, web: SyntheticWeb, host: str) -> None:
    """No record, no fingerprint, no row."""
    store = BlockStore(directory / "cachingqueue", read_only=True)
    seen = DiskSeenSet(directory / "cachingqueue" / "visited.db", 1, read_only=True)
    parse = URLNormalizer().parse
    try:
        assert not [key for key in store.keys("") if host in key]
        assert not [key for key in pages_of_b() if parse(web_url(web, key)).fingerprint in seen]
    finally:
        seen.close()
        store.close()
    assert all(row.host != host for _, row in page_rows(directory / "cachingqueue" / "pages.db"))


def check_whole(web: SyntheticWeb, here: Path, there: Path, host: str) -> None:
    """Each page once, in one of both crawls; b is unknown here, and all of it is known there."""
    assert web.fetched() == once("a.localhost/", "a.localhost/1", "c.localhost/", *pages_of_b())
    assert stored(here) + stored(there) == once(*(web_url(web, key) for key in web.fetched()))
    assert web.log.closest("b.localhost") >= DELAY * 0.9  # begins are told by another clock's ticks
    check_forgotten(here, web, host)
    known = {row.access for _, row in page_rows(there / "cachingqueue" / "pages.db") if row.host == host}
    assert known == {web_url(web, key) for key in pages_of_b()}, "with those that were fetched elsewhere: for revisits"


def pages_of_b() -> list[str]:
    return ["b.localhost/", "b.localhost/late", *(f"b.localhost/{number}" for number in range(PAGES))]


def web_url(web: SyntheticWeb, key: str) -> str:
    return f"http://{key.replace('/', f':{web.port}/', 1)}"


def test_in_the_middle_of_two_crawls(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    with SyntheticWeb() as web:
        world(web)
        host = f"b.localhost:{web.port}"
        begun = threading.Event()
        watch(web).when(lambda request: request.path == "/5", begun.set)
        with running(here, web.url("a.localhost")) as old, running(there, web.url("c.localhost")) as new:
            assert begun.wait(DEADLINE)
            old.moves.freeze(host)
            with pytest.raises(UsageError, match=r"it is (frozen|still)"):
                old.moves.freeze(host)
            assert old.still.wait(DEADLINE)
            asked = len(web.log.requests("b.localhost"))
            assert 5 < asked < PAGES
            old.order(Add((web.url("b.localhost", "/late"),)))  # waits, as its host is away
            for part in old.moves.parts(host):
                assert len(web.log.requests("b.localhost")) == asked, "nobody asks it on its way"
                new.moves.receive(part)
            Foreign.hosts.add(host)  # of the old one; the new one has it in its queues already
            Foreign.found.clear()
            old.moves.forget(host)
            assert old.gone.wait(DEADLINE)
            assert old.moves.moving() == {}
            assert new.moves.had(host)
            while not Foreign.found:  # it is on its way through the filters
                old.crawl.steering.carry_out()
            old.finish()
            Foreign.hosts.clear()
            new.order(Add(tuple(message.url.access for message in Foreign.found)))
            new.finish()
        check_whole(web, here, there, host)


SENT = """
import os, signal, sys
from pathlib import Path
from larm.ops.observers import build_crawl
from tests.stories.crawls import config_of
from tests.stories.test_moves import SETTINGS

directory, start, host, left = sys.argv[1:]
crawl = build_crawl(config_of(start, SETTINGS), Path(directory))
saved = crawl._checkpointer.on_saved
kill = lambda: os.kill(os.getpid(), signal.SIGKILL)

def begin():
    if crawl.snapshot().pages >= 4 and not crawl.moves.moving():
        crawl.moves.freeze(host)

def send(_):
    with open(directory + ".parts", "wb") as file:
        for part in crawl.moves.parts(host):
            file.write(len(part).to_bytes(4, "big") + part)
    if int(left) < 0:  # before it is confirmed
        kill()
    crawl.moves.forget(host)
    if not int(left):
        kill()
    saved.insert(0, lambda after=iter(range(int(left) - 1)): next(after, None) is None and kill())

saved.append(begin)
crawl.moves.on_still = send
crawl.run()
"""
RECEIVED = """
import os, signal, sys
from pathlib import Path
from larm.ops.observers import build_crawl
from tests.stories.crawls import config_of
from tests.stories.test_moves import SETTINGS, read

directory, start, source, number = sys.argv[1:]
crawl = build_crawl(config_of(start, SETTINGS), Path(directory))
parts = list(read(Path(source)))

def receive(pages=[0, 0]):
    pages.append(crawl.snapshot().pages)
    if not pages[-2]:  # what is not saved is fetched again
        return
    for part in parts[: int(number)]:
        crawl.moves.receive(part)
    os.kill(os.getpid(), signal.SIGKILL)

crawl._checkpointer.on_saved.append(receive)
crawl.run()
"""


def killed(program: str, *arguments: object) -> None:
    """The program kills itself."""
    path = {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, check=False, timeout=DEADLINE, env=os.environ | path)
    assert done.returncode == -signal.SIGKILL


def test_a_kill_between_sending_and_confirming_leaves_it_where_it_was(tmp_path: Path) -> None:
    """Frozen; what is sent again then is the same, and is not taken twice."""
    here, there = tmp_path / "here", tmp_path / "there"
    with SyntheticWeb() as web:
        world(web)
        host = f"b.localhost:{web.port}"
        killed(SENT, here, web.url("a.localhost"), host, -1)
        sent = list(read(here.with_suffix(".parts")))
        asked = len(web.log.requests("b.localhost"))
        assert 1 < asked < PAGES
        with running(here, web.url("a.localhost")) as old:
            assert old.still.wait(DEADLINE)
            assert list(old.moves.parts(host))[1:] == sent[1:], "the first one has times"
            with running(there, web.url("c.localhost")) as new:
                for part in sent[: len(sent) // 2]:
                    new.moves.receive(part)
                with pytest.raises(UsageError, match="came before"):
                    new.moves.receive(sent[-1])
            with running(there, web.url("c.localhost")) as new:
                assert new.moves.phase(host) == "arriving"
                assert len(web.log.requests("b.localhost")) == asked
                for part in (*sent, *sent):
                    new.moves.receive(part)
                old.moves.forget(host)
                assert old.gone.wait(DEADLINE)
                old.finish()
                new.order(Add((web.url("b.localhost", "/late"),)))
                new.finish()
        check_whole(web, here, there, host)


@pytest.mark.parametrize(
    ("left", "received"), [(1, 2), *(pytest.param(n, (n + 1) % 4, marks=pytest.mark.slow) for n in (0, 2, 3))]
)
def test_kills_at_any_time_of_it(tmp_path: Path, left: int, received: int) -> None:
    """The old one as many checkpoints after it was told to forget the host, the new one after as many parts."""
    here, there = tmp_path / "here", tmp_path / "there"
    with SyntheticWeb() as web:
        world(web)
        host = f"b.localhost:{web.port}"
        killed(SENT, here, web.url("a.localhost"), host, left)
        killed(RECEIVED, there, web.url("c.localhost"), here.with_suffix(".parts"), received)
        asked = len(web.log.requests("b.localhost"))
        with running(here, web.url("a.localhost")) as old, running(there, web.url("c.localhost")) as new:
            for crawl in (old, new):
                crawl.order()
            assert new.moves.phase(host) == ("arriving" if received else "")
            assert not old.moves.phase(host) or old.gone.wait(DEADLINE)
            assert len(web.log.requests("b.localhost")) == asked
            for part in read(here.with_suffix(".parts")):
                new.moves.receive(part)
            old.finish()
            new.order(Add((web.url("b.localhost", "/late"),)))
            new.finish()
        check_whole(web, here, there, host)


def test_a_host_that_others_have_already_passes_on_what_waits_there(tmp_path: Path) -> None:
    """Nobody gets its parts: it is forgotten, and what it had not asked for yet goes through the filters, as if just found."""
    with SyntheticWeb() as web:
        world(web)
        host = f"b.localhost:{web.port}"
        begun = threading.Event()
        watch(web).when(lambda request: request.path == "/3", begun.set)
        with running(tmp_path / "here", web.url("a.localhost")) as old:
            assert begun.wait(DEADLINE)
            old.moves.freeze(host)
            assert old.still.wait(DEADLINE)
            Foreign.hosts.add(host)
            asked = set(web.fetched("b.localhost"))
            old.moves.forget(host, passes_on=True)
            assert old.gone.wait(DEADLINE)
            old.finish()
        found = {message.url.access for message in Foreign.found}
        assert found >= {web_url(web, key) for key in pages_of_b() if key not in asked} - {web_url(web, "b.localhost/late")}
        check_forgotten(tmp_path / "here", web, host)


def test_a_host_that_has_come_by_half_is_asked_where_nothing_more_will_come(tmp_path: Path) -> None:
    """Its old crawl died with its disk. What has come is asked for; the rest others have to find again."""
    here, there = tmp_path / "here", tmp_path / "there"
    with SyntheticWeb() as web:
        world(web)
        host = f"b.localhost:{web.port}"
        begun = threading.Event()
        watch(web).when(lambda request: request.path == "/3", begun.set)
        with running(here, web.url("a.localhost")) as old, running(there, web.url("c.localhost")) as new:
            assert begun.wait(DEADLINE)
            old.moves.freeze(host)
            assert old.still.wait(DEADLINE)
            new.moves.receive(*list(old.moves.parts(host))[:2])
            old.stop()
            assert new.moves.phase(host) == "arriving"
            new.order(Add((web.url("b.localhost", "/late"),)))
            new.moves.thaw(host)
            new.finish()
        assert web.fetched("b.localhost")["b.localhost/late"] == 1


def test_pages_that_came_with_a_host_say_who_has_fetched_them(tmp_path: Path) -> None:
    """So they can be fetched again where that crawl is lost for good."""
    here, there = tmp_path / "here", tmp_path / "there"
    with SyntheticWeb() as web:
        world(web)
        host = f"b.localhost:{web.port}"
        begun = threading.Event()
        watch(web).when(lambda request: request.path == "/3", begun.set)
        with running(here, web.url("a.localhost")) as old, running(there, web.url("c.localhost")) as new:
            old.moves.me = "old"
            assert begun.wait(DEADLINE)
            carry(old, new, host)
            new.finish()
        by = {row.access: row.by for _, row in page_rows(there / "cachingqueue" / "pages.db") if row.host == host}
        assert {url for url, name in by.items() if name} == {url for url in stored(here) if f"//{host}" in url}
        assert set(by.values()) == {"", "old"}


def read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while size := file.read(4):
            yield file.read(int.from_bytes(size, "big"))


def test_there_and_back_again(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    with SyntheticWeb() as web:
        world(web)
        host = f"b.localhost:{web.port}"
        places = {number: threading.Event() for number in (3, 12, 20)}
        log = watch(web)
        for number, event in places.items():
            log.when(lambda request, number=number: len(web.log.requests("b.localhost")) > number, event.set)
        with running(there, web.url("a.localhost")) as a, running(here, web.url("c.localhost")) as c:
            one, other = a, c
            for event in places.values():
                assert event.wait(DEADLINE)
                carry(one, other, host)
                one, other = other, one
            assert one.moves.had(host)
            assert not other.moves.had(host)
            one.order(Add((web.url("b.localhost", "/late"),)))
            one.finish()
            other.finish()
        check_whole(web, there, here, host)


def test_it_may_stay_after_all(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    with SyntheticWeb() as web:
        world(web)
        host = f"b.localhost:{web.port}"
        begun = threading.Event()
        watch(web).when(lambda request: request.path == "/3", begun.set)
        with running(here, web.url("a.localhost")) as old, running(there, web.url("c.localhost")) as new:
            assert begun.wait(DEADLINE)
            old.moves.freeze(host)
            assert old.still.wait(DEADLINE)
            for part in list(old.moves.parts(host))[:2]:
                new.moves.receive(part)
            row = encode_row(PageRow("http://x/", "http://x/", "x", "", 0, 0, UNKNOWN, stored=True))
            for wrong in (Pages(host, "1", 1, [(5, b"?")]), Pages(host, "1", 1, [(5, row)])):
                with pytest.raises(UsageError, match="no part of"):
                    new.moves.receive(encode_part(wrong))
            new.moves.forget(host)  # it was given up
            assert new.gone.wait(DEADLINE)
            old.moves.thaw(host)
            with pytest.raises(UsageError, match="does not move"):
                old.moves.thaw(host)
            old.order(Add((web.url("b.localhost", "/late"),)))
            old.finish()
            new.finish()
        assert web.fetched() == once("a.localhost/", "a.localhost/1", "c.localhost/", *pages_of_b())
        assert stored(there) == once(web_url(web, "c.localhost/"))
        check_forgotten(there, web, host)
