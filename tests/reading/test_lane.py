"""Relief: only where there is need, and never a wait."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence

from larm.kit.threads.workers import Workers
from larm.model.lease import Lease
from larm.model.message import URLMessage
from larm.model.outcome import Fetched, Refused, Timing
from larm.model.url import URLNormalizer
from larm.reading.lane import (
    BATCH,
    BATCH_BYTES,
    LATER,
    MUCH,
    SOME,
    WAITING,
    WAITING_BYTES,
    WINDOW,
    Ended,
    ReliefLane,
)
from larm.testing.clock import FakeClock

NORMALIZER = URLNormalizer()


def ended(number: int, kind: str = "text/html", *, robots: bool = False, size: int = 1) -> Ended:
    message = URLMessage(NORMALIZER.parse(f"http://a.test/{number}"))
    return Lease(number, "a.test", message, robots), Fetched(200, {"content-type": kind}, b"<" * size, Timing())


def is_page(fetched: Fetched) -> bool:
    return "html" in fetched.headers["content-type"]


def no_death(name: str, error: BaseException) -> None:
    raise AssertionError(f"{name} died") from error


def waiting(number: int, condition: threading.Condition) -> None:
    """Until so many threads wait."""
    patience = threading.Event()
    for _ in range(1000):
        with condition:
            if len(condition._waiters) >= number:  # type: ignore[attr-defined]
                return
        patience.wait(0.01)
    raise AssertionError(f"{number} threads should wait")


def lane(*, processes: int = 1) -> ReliefLane:
    clock = FakeClock()
    found = ReliefLane(clock, lambda _: None, lambda: True, is_page)
    clock.advance(WINDOW)
    found.spent(WINDOW)
    for number in range(processes):
        assert found.wait_for_need(number)
        found.open(number)
    return found


def test_without_need_nobody_starts_a_process() -> None:
    clock = FakeClock()
    idle = ReliefLane(clock, lambda _: None, lambda: True, is_page)
    for _ in range(10):
        clock.advance(WINDOW)
        idle.spent(WINDOW * MUCH * 0.9)
    assert "0 of 0 processes" in repr(idle)
    needed: list[bool] = []
    workers = Workers(no_death)
    workers.start("larm-relief-0", lambda: needed.append(idle.wait_for_need(0)))
    idle.stop()
    assert workers.join(10) == []
    assert needed == [False]


def test_one_that_is_there_already_gets_the_first_page() -> None:
    found = ReliefLane(FakeClock(), lambda _: None, lambda: True, is_page)
    found.at_once()
    assert found.divert([ended(1)]) == []
    assert found.wait_for_need(0)
    found.open(0)
    assert "1 of 1 processes" in repr(found), "it was open already"
    assert found.take() == [ended(1)]
    assert found.divert([ended(number) for number in range(WAITING + 1)]) == [ended(WAITING)]


def test_for_a_few_pages_nobody_starts_a_process() -> None:
    clock = FakeClock()
    found = ReliefLane(clock, lambda _: None, lambda: False, is_page)
    clock.advance(WINDOW)
    found.spent(WINDOW)
    assert "0 of 0 processes" in repr(found)


def test_another_one_comes_where_the_fetchers_still_read_much_themselves() -> None:
    clock = FakeClock()
    found = ReliefLane(clock, lambda _: None, lambda: True, is_page)
    clock.advance(WINDOW)
    found.spent(WINDOW)
    clock.advance(LATER)
    found.spent(LATER)
    assert "0 of 1 processes" in repr(found), "the first is on its way"
    found.open(0)
    clock.advance(LATER)
    found.spent(LATER * SOME * 0.9)
    assert "1 of 1 processes" in repr(found), "that little is no need"
    clock.advance(LATER)
    found.spent(LATER * SOME * 1.1)
    assert "1 of 2 processes" in repr(found)
    assert found.wait_for_need(1)


def test_before_a_process_is_ready_nothing_is_diverted() -> None:
    pages = [ended(1)]
    assert lane(processes=0).divert(pages) is pages


def test_pages_of_html_wait_in_their_order() -> None:
    found = lane()
    others = [ended(2, "application/pdf"), ended(3, robots=True), (ended(4)[0], Refused(404, {}, Timing()))]
    pages = [ended(1), ended(5, "application/xhtml+xml")]
    assert found.divert([pages[0], *others, pages[1]]) == others
    assert found.take() == pages


def test_what_there_is_no_room_for_comes_back() -> None:
    found = lane()
    pages = [ended(number) for number in range(WAITING + 3)]
    assert found.divert(pages) == pages[-3:]
    assert found.divert(pages) is pages
    assert found.take() == pages[:BATCH]
    assert found.divert(pages[:1]) == []


def test_room_is_bounded_in_bytes_too() -> None:
    found = lane()
    large = [ended(number, size=WAITING_BYTES // 2) for number in range(3)]
    small = [ended(9), ended(10)]
    assert found.divert([small[0], *large, small[1]]) == [large[2], small[1]], "the last one that fits may be too large"
    assert found.take() == [small[0], large[0]]
    assert found.divert([small[1]]) == []
    assert found.take() == [large[1]]
    assert found.take() == [small[1]]
    assert BATCH_BYTES < WAITING_BYTES // 2


def test_a_stop_lets_go_of_who_waits_and_keeps_what_nobody_took() -> None:
    found = lane()
    pages = [ended(1), ended(2)]
    found.divert(pages)
    found.stop()
    assert found.take() == []
    assert found.divert([ended(3)]) != []
    assert found.rest() == [lease for lease, _ in pages]
    assert found.rest() == []
    assert not found.wait_for_need(1)


def test_the_host_of_a_page_that_waits_is_told_before_somebody_may_take_it() -> None:
    told: list[int] = []

    def tell(pages: Sequence[tuple[Lease, Fetched]]) -> None:
        assert found.take(wait=False) == []
        told.extend(lease.number for lease, _ in pages)

    clock = FakeClock()
    found = ReliefLane(clock, tell, lambda: True, is_page)
    clock.advance(WINDOW)
    found.spent(WINDOW)
    found.open(0)
    found.divert([ended(1), ended(7), ended(3, "application/pdf")])
    assert told == [1, 7]
    assert len(found.take(wait=False)) == 2
    assert found.take(wait=False) == []


def test_pages_wake_who_takes_them_and_not_who_is_not_needed_yet() -> None:
    clock = FakeClock()
    found = ReliefLane(clock, lambda _: None, lambda: True, is_page)
    taken: queue.SimpleQueue[int] = queue.SimpleQueue()

    def idle() -> None:
        assert not found.wait_for_need(1)

    def busy() -> None:
        assert found.wait_for_need(0)
        found.open(0)
        while pages := found.take():
            taken.put(len(pages))

    workers = Workers(no_death)
    workers.start("larm-relief-1", idle)
    waiting(1, found._needed)
    workers.start("larm-relief-0", busy)
    waiting(2, found._needed)
    clock.advance(WINDOW)
    found.spent(WINDOW)
    for number in range(3):
        waiting(1, found._work)
        found.divert([ended(number)])
        assert taken.get(timeout=5) == 1
    found.stop()
    assert workers.join(10) == []


def test_a_process_brings_its_room_once_whichever_is_ready_first() -> None:
    found = ReliefLane(FakeClock(), lambda _: None, lambda: True, is_page)
    pages = [ended(number) for number in range(2 * WAITING + 1)]
    for number in (1, 0, 1):
        found.open(number)
    assert found.divert(pages) == pages[-1:]
