from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

from larm.model.outcome import Failed, FailReason, Fetched, Timing
from larm.reading.slow_lane import SlowLane
from larm.testing.fakes import lease, page


def is_slow(fetched: Fetched) -> bool:
    return fetched.headers["content-type"] == "application/pdf"


def pdf(size: int = 10) -> Fetched:
    return page("x" * size, content_type="application/pdf")


def test_what_is_slow_waits_and_the_rest_goes_on_in_its_order() -> None:
    lane = SlowLane(is_slow, 100)
    slow = (lease("http://a.localhost/1"), pdf())
    quick = [
        (lease("http://a.localhost/2"), page("x")),
        (lease("http://a.localhost/robots.txt", robots=True), pdf()),
        (lease("http://a.localhost/3"), Failed(FailReason.TIMEOUT, "", Timing())),
    ]
    assert lane.divert([quick[0], slow, *quick[1:]]) == quick
    assert lane.divert(quick) is quick
    assert "1 documents, 10 of 100 bytes" in repr(lane)
    assert lane.take() == slow
    lane.stop()
    assert lane.take() is None
    assert lane.rest() == []


def test_readers_that_wait_take_the_first_while_there_is_no_room_for_the_second() -> None:
    lane = SlowLane(is_slow, 100)
    leases = [lease(f"http://a.localhost/{number}") for number in range(3)]
    with ThreadPoolExecutor() as threads:
        reading = threads.submit(lambda: [lane.take() for _ in leases])
        while not lane._changed._waiters:  # type: ignore[attr-defined]
            os.sched_yield()
        lane.divert([(each, pdf(100)) for each in leases])
        assert [ended and ended[0] for ended in reading.result(10)] == leases


def test_who_puts_too_much_waits_until_there_is_room() -> None:
    lane = SlowLane(is_slow, 100)
    leases = [lease(f"http://a.localhost/{number}") for number in range(3)]
    with ThreadPoolExecutor() as threads:
        putting = threads.submit(lane.divert, [(each, pdf(80)) for each in leases])
        taken = [lane.take() for _ in leases]
        assert putting.result(20) == []
    assert [each[0] for each in taken if each] == leases


def test_who_must_wait_says_so_before() -> None:
    lane = SlowLane(is_slow, 100)
    said: list[str] = []
    lane.divert([(lease("http://a.localhost/1"), pdf(99)), (lease("http://a.localhost/2"), pdf(99))], lambda: said.append("x"))
    assert said == []
    more = (lease("http://a.localhost/3"), pdf())
    with ThreadPoolExecutor() as threads:
        putting = threads.submit(lane.divert, [more], lambda: said.append(f"full: {lane!r}"))
        while not said:
            os.sched_yield()
        lane.stop()
        assert putting.result(20) == []
    assert said == ["full: <SlowLane: 2 documents, 198 of 100 bytes>"]


def test_stop_lets_all_go_and_the_rest_is_given_back() -> None:
    lane = SlowLane(is_slow, 100)
    leases = [lease(f"http://a.localhost/{number}") for number in range(3)]
    begun = threading.Event()

    def put() -> None:
        begun.set()
        lane.divert([(each, pdf(80)) for each in leases])

    with ThreadPoolExecutor() as threads:
        putting = threads.submit(put)
        begun.wait(20)
        lane.stop()
        putting.result(20)
        assert threads.submit(lane.take).result(20) is None
    assert lane.rest() == leases
    assert lane.rest() == []
