"""Who reads what: page processes only where there is room and need, what is slow behind a brake, all else the fetcher."""

from __future__ import annotations

import gzip
import os
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from larm.config import ProcessingSettings
from larm.engine.reading_pool import BATCH, MUCH, PAGE, WAITING, WINDOW, Ended, ReadingPool
from larm.kit.processes.helper_process import HelperProcess
from larm.kit.processes.memory_budget import LEAST, MemoryBudget
from larm.kit.threads.workers import Workers
from larm.model.document import Document
from larm.model.lease import Lease
from larm.model.lost import Lost
from larm.model.outcome import Fetched, Refused, Timing
from larm.parse.reading.ahead import CHILD
from larm.parse.reading.page_reader import Found, Page, PageReader
from larm.parse.triage import Triage
from larm.testing.clock import FakeClock
from tests.parse.reading.poisoned_child import HANG
from tests.parse.reading.test_page_reader import page, terms
from tests.support import heavy_bodies as heavy

DONE = Document("text/html")
ROOM = WAITING // PAGE
_numbers = count(1)


CAREFUL = Document("text/html", title="read by html5lib")
LARGE = 1_000_000
"""Bytes of a page that is large where there is as little memory as here."""


class Around:
    """All that a pool tells: queues, fetchers and mouth in one."""

    def __init__(self) -> None:
        self.told: list[int] = []
        self.given_back: list[int] = []
        self.unloaded: queue.SimpleQueue[tuple[list[int], list[Found]]] = queue.SimpleQueue()
        self.refused = ""
        self.plenty = True
        self.on_answered: Callable[[], object] = lambda: None

    def answered(self, pages: Sequence[Page]) -> None:
        self.on_answered()
        self.told += [lease.number for lease, _ in pages]

    def enough(self) -> bool:
        return self.plenty

    def give_back(self, leases: Sequence[Lease]) -> None:
        self.given_back += [lease.number for lease in leases]

    def wake_one(self) -> None:
        pass

    def refuses(self, url: str) -> bool:
        return url == self.refused

    def reading(self, number: int, url: str) -> nullcontext[None]:
        return nullcontext()

    def unload(self, number: int, ended: Sequence[Ended], found: Sequence[Found] = ()) -> float:
        self.unloaded.put(([lease.number for lease, _ in ended], list(found)))
        return 0.0


class Quick:
    """A page process that reads whatever it is handed; ``forks``: it is there from the start."""

    def __init__(self, *, forks: bool = False) -> None:
        self._forks = forks
        self._out: list[Sequence[Page]] = []
        self.started = self.dismissed = 0

    def fork(self) -> bool:
        return self._forks

    def start(self) -> None:
        self.started += 1

    @property
    def out(self) -> int:
        return len(self._out)

    def hand(self, pages: Sequence[Page]) -> None:
        self._out.append(pages)

    def take(self) -> tuple[Sequence[Page], Sequence[Found]]:
        pages = self._out.pop(0)
        return pages, [DONE] * len(pages)

    def read_carefully(self, page: Page) -> Found:
        return CAREFUL

    def hurry(self) -> None:
        pass

    def dismiss(self) -> None:
        self.dismissed += 1

    interrupt = close = hurry


class Rig:
    """A pool that nothing reads until `run`."""

    def __init__(
        self, *, processes: int = 1, forks: bool = True, limit: int = 100, large: Any = None, memory: int = LEAST
    ) -> None:
        self.around, self.clock = Around(), FakeClock()
        self.readers = [Quick(forks=forks) for _ in range(processes)]
        self.budget = MemoryBudget(memory, lambda: 0)
        self.deaths: list[tuple[str, BaseException]] = []
        self.workers = Workers(lambda name, error: self.deaths.append((name, error)))
        self.pool = ReadingPool(
            triage=Triage(ProcessingSettings(), 10_000_000, 132_000_000),
            mouth=self.around,
            queues=cast("Any", self.around),
            fetchers=cast("Any", self.around),
            clock=self.clock,
            pages=cast("Sequence[PageReader]", self.readers),
            large=large or cast("PageReader", Quick()),
            memory=self.budget,
            documents=1,
            limit_bytes=limit,
        )
        self.pool.begin()

    def run(self) -> None:
        for number, read in enumerate(self.pool.threads()):
            self.workers.start(f"larm-{number}", lambda read=read, number=number: read(number))  # type: ignore[misc]

    def end(self) -> None:
        self.pool.stop()
        assert self.workers.join(30) == []
        assert self.deaths == []

    def spend(self, seconds: float) -> None:
        """A window in which the fetchers read pages for so long."""
        self.clock.advance(WINDOW)
        self.pool.spent(seconds)

    def until(self, state: str) -> None:
        """The pool says so of itself."""
        while state not in repr(self.pool):
            os.sched_yield()


def some(kind: str = "text/html", *, robots: bool = False, size: int = 1) -> Ended:
    lease, _ = page("x", "")
    lease = Lease(next(_numbers), lease.host, lease.message, robots)
    return lease, Fetched(200, {"content-type": kind}, b"<" * size, Timing())


def pdf(size: int = 10) -> Ended:
    return some("application/pdf", size=size)


def numbers(ended: Sequence[Ended]) -> list[int]:
    return [lease.number for lease, _ in ended]


# -- pages


def test_pages_wait_for_a_process_and_their_hosts_are_told() -> None:
    rig = Rig()
    others = [some("image/png"), some(robots=True), (some()[0], Refused(404, {}, Timing()))]
    pages = [some(), some("application/xhtml+xml"), some("application/rss+xml")]
    rig.around.on_answered = lambda: rig.until("of 1 processes, 0 pages")  # before somebody may have read them
    assert rig.pool.sort([pages[0], *others, *pages[1:]]) == others
    assert rig.around.told == numbers(pages)
    rig.run()
    assert rig.around.unloaded.get(timeout=30) == (numbers(pages), [DONE] * 3)
    rig.end()
    assert rig.readers[0].dismissed == 1


def test_without_a_process_the_fetcher_reads_them() -> None:
    for rig in (Rig(processes=0), Rig(forks=False)):
        pages = [some(), some()]
        assert rig.pool.sort(pages) == pages
        assert rig.around.told == []


def test_a_page_that_is_not_to_be_read_goes_to_html5lib_and_what_that_can_not_read_to_nobody() -> None:
    rig = Rig()
    rig.around.refused = some()[0].message.url.access
    ended = [pdf(), some("image/png")]
    odd = some()
    assert rig.pool.sort([odd, *ended]) == ended
    assert rig.around.told == []
    rig.run()
    assert rig.around.unloaded.get(timeout=30) == (numbers([odd]), [CAREFUL])
    rig.end()


def test_what_there_is_no_room_for_comes_back() -> None:
    rig = Rig()
    pages = [some() for _ in range(ROOM + 3)]
    assert rig.pool.sort(pages) == pages[-3:], "each costs a byte more than a page of nothing"
    assert rig.pool.sort(pages[:1]) == pages[:1]
    large = [some(size=LARGE) for _ in range(ROOM)]
    assert len(large) > len(large) - len(Rig().pool.sort(large)) == -(-WAITING // (PAGE + LARGE)), "bytes cost, too"


def test_batches_are_bounded_by_what_they_cost() -> None:
    rig = Rig()
    small, large = [some() for _ in range(2 * BATCH // PAGE)], [some(size=LARGE), some(size=LARGE)]
    assert rig.pool.sort([*small, *large]) == []
    rig.run()
    batches = [rig.around.unloaded.get(timeout=30)[0] for _ in range(4)]
    assert [number for batch in batches for number in batch] == numbers([*small, *large])
    assert len(batches[0]) == BATCH // PAGE
    assert len(batches[-1]) == 1
    rig.end()


def test_a_stop_gives_back_what_nobody_took() -> None:
    rig = Rig()
    waiting = [some(), pdf(), some()]
    rig.pool.sort(waiting)
    rig.pool.stop()
    rig.run()
    rig.end()
    assert [lease.number for lease in rig.pool.rest()] == numbers([waiting[1], waiting[0], waiting[2]])
    assert rig.pool.rest() == []


# -- need


def test_a_first_and_a_second_process_come_where_the_fetchers_read_much_themselves() -> None:
    rig = Rig(processes=3, forks=False)
    rig.run()
    rig.spend(WINDOW * MUCH * 0.9)
    assert "0 of 0 processes" in repr(rig.pool), "that little is no need"
    rig.spend(WINDOW * MUCH * 1.1)
    rig.until("1 of 1 processes")
    rig.spend(WINDOW * MUCH * 0.9)
    rig.spend(WINDOW * MUCH * 1.1)
    rig.until("2 of 2 processes")
    assert [reader.started for reader in rig.readers] == [1, 1, 0]
    pages = [some() for _ in range(3)]
    assert rig.pool.sort(pages) == []
    rig.end()


def test_while_one_is_on_its_way_no_other_is_called() -> None:
    rig = Rig(processes=3, forks=False)
    rig.spend(WINDOW)
    rig.spend(WINDOW)
    assert "0 of 1 processes" in repr(rig.pool)
    rig.run()
    rig.until("1 of 1 processes")
    rig.clock.advance(WINDOW / 2)
    rig.pool.spent(WINDOW)
    assert "1 of 1 processes" in repr(rig.pool), "what was read before it came is no reason for another one"
    rig.end()


def test_for_a_few_pages_and_beyond_what_is_allowed_nobody_starts_a_process() -> None:
    rig = Rig(forks=False)
    rig.around.plenty = False
    rig.spend(WINDOW)
    assert "0 of 0 processes" in repr(rig.pool)
    rig = Rig(processes=1)
    rig.spend(WINDOW)
    assert "1 of 1 processes" in repr(rig.pool)


# -- what is slow


def test_what_is_slow_waits_and_its_host_is_not_told() -> None:
    rig = Rig(processes=0, limit=PAGE)
    quick, slow, packed = some(), pdf(), some("application/gzip")
    packed = packed[0], Fetched(200, {"content-type": "application/gzip"}, gzip.compress(b"<p>"), Timing())
    assert rig.pool.sort([slow, quick]) == [quick]
    assert f"1 pages, {PAGE + 10:,} of {PAGE:,} slow" in repr(rig.pool)
    rig.run()
    assert rig.pool.sort([packed]) == []
    assert [rig.around.unloaded.get(timeout=30) for _ in "ab"] == [(numbers([slow]), [None]), (numbers([packed]), [DONE])]
    assert rig.around.told == []
    rig.end()


def test_who_puts_too_much_waits_until_there_is_room_and_says_so_before() -> None:
    rig = Rig(processes=0, limit=2 * PAGE)
    said: list[str] = []
    slow = [pdf() for _ in range(4)]
    assert rig.pool.sort(slow[:2], lambda: said.append("full")) == []
    assert said == []
    with ThreadPoolExecutor() as threads:
        putting = threads.submit(rig.pool.sort, slow[2:], lambda: said.append(repr(rig.pool)))
        while not said:
            os.sched_yield()
        assert "2 pages" in said[0]
        rig.run()
        assert putting.result(30) == []
        assert [rig.around.unloaded.get(timeout=30)[0] for _ in slow] == [numbers([each]) for each in slow]
    rig.end()


def test_a_stop_lets_go_who_waits_for_room() -> None:
    rig = Rig(processes=0, limit=PAGE)
    slow, begun = [pdf() for _ in range(3)], threading.Event()
    with ThreadPoolExecutor() as threads:
        putting = threads.submit(rig.pool.sort, slow, begun.set)
        begun.wait(30)
        rig.pool.stop()
        assert putting.result(30) == []
    assert [lease.number for lease in rig.pool.rest()] == numbers(slow)


# -- large pages: one at a time, in the memory that is granted

TREE = page("large", b"<title>A tree</title>" + b"<p>" * 1_000_000)
PACKED = "application/gzip"


@pytest.fixture
def make() -> Iterator[Callable[..., Rig]]:
    made: list[Rig] = []

    def one(limit: int, child: str = CHILD, counts: Counter[str] | None = None) -> Rig:
        counts = Counter() if counts is None else counts
        most = MemoryBudget(limit, lambda: 0).most
        reader = PageReader(terms(), lambda name, n: counts.update({name: n}), HelperProcess(child, most))
        made.append(Rig(processes=0, large=reader, memory=limit))
        made[-1].run()
        return made[-1]

    yield one
    for rig in made:
        rig.end()
        rig.pool.close()


def read(rig: Rig, what: Page) -> Found:
    assert rig.pool.sort([what]) == []
    return rig.around.unloaded.get(timeout=60)[1][0]


def test_with_enough_memory_it_is_read(make: Callable[..., Rig]) -> None:
    found = read(make(1_000_000_000), TREE)
    assert isinstance(found, Document)
    assert found.title == "A tree"


def test_with_too_little_it_is_set_aside_and_the_next_one_is_read(make: Callable[..., Rig]) -> None:
    counts: Counter[str] = Counter()
    there = make(LEAST, counts=counts)
    assert read(there, TREE) is Lost.TOO_LARGE
    assert counts["processing/died"] == 1, "it would need as much again"
    small = read(there, page("small", gzip.compress(b"<title>Small</title>"), content_type=PACKED))
    assert isinstance(small, Document)
    assert small.title == "Small"


def test_a_bomb_in_gzip_is_a_page_of_the_usual_size(make: Callable[..., Rig]) -> None:
    lease, _ = page("bomb", "")
    found = read(make(1_000_000_000), (lease, Fetched(200, {"content-type": PACKED}, heavy.paragraphs().body, TREE[1].timing)))
    assert isinstance(found, Document)
    assert found.mime == "text/html"
    assert any("more than 10000000 bytes in gzip" in warning for warning in found.warnings)


def test_xml_in_gzip_may_be_larger(make: Callable[..., Rig]) -> None:
    body = b"<urlset>" + b" " * 11_000_000 + b"<url><loc>http://a.test/late</loc></url></urlset>"
    found = read(make(1_000_000_000), page("map", gzip.compress(body, 1), content_type=PACKED))
    assert isinstance(found, Document)
    assert [link.url.access for link in found.links] == ["http://a.test/late"]


def test_a_stop_waits_for_nobody(make: Callable[..., Rig], tmp_path: Path) -> None:
    there, flag = make(1_000_000_000, "tests.parse.reading.poisoned_child"), tmp_path / "flag"
    hangs = page("h", HANG + f" {flag} -->".encode() + b"x" * LARGE)
    assert there.pool.sort([hangs, pdf()]) == []
    while not flag.exists():
        os.sched_yield()
    there.end()
    assert there.around.given_back == numbers([hangs])
    assert len(there.pool.rest()) == 1
