"""So many requests a minute and an hour to a host, and to the hosts of one IP address (LARM-105)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.config import Config, FrontierSettings
from larm.engine.verdicts import live_rows
from larm.frontier.request_count import PERIODS, RequestCount
from larm.frontier.shared_addresses import SharedAddresses
from larm.kit.disk.block_store import BlockStore
from larm.kit.units import ByteSize, Seconds
from larm.ops.control.hosts import HostLister
from larm.ops.control.requests import Hosts
from larm.testing.clock import FakeClock
from larm.testing.fakes import message
from tests.frontier.rig import Rig, of, ok

IP = "192.0.2.1"
QUICK = Seconds(0)


def fetch(rig: Rig, seconds: float) -> list[float]:
    """Ask as soon as may be, for so long; when each request began, from the first one on."""
    began, times = rig.clock.monotonic(), list[float]()
    while rig.clock.monotonic() < began + seconds:
        for lease in rig.queues.lease(10):
            times.append(rig.clock.monotonic() - began)
            rig.end(lease)
        rig.fake.advance(1.0)
    return times


def pages(rig: Rig, number: int, host: str = "a.test") -> None:
    rig.put(*(f"{host}/{page}" for page in range(number)))


@given(st.lists(st.floats(0, 100), max_size=60), st.integers(0, 4), st.integers(0, 12))
def test_no_period_has_more_than_its_limit(waits: list[float], per_minute: int, per_hour: int) -> None:
    """Whatever is asked for when; a period begins with its first request. Who waits as told may go on."""
    count, now, limits = RequestCount(), 1_000.0, (per_minute, per_hour, 0)
    sent: list[float] = []
    for wait in waits:
        now += wait
        if (at := count.free_at(limits, now)) > now:
            now = at
            assert count.free_at(limits, now) == now
        count.add(now)
        sent.append(now)
    for seconds, most in zip(PERIODS[:2], limits[:2], strict=True):
        begin, made = -PERIODS[1], 0
        for at in sent:
            begin, made = (begin, made + 1) if at < begin + seconds else (at, 1)
            assert not most or made <= most


def test_a_host_has_no_more_requests_in_a_minute(store: BlockStore) -> None:
    rig = Rig(store, of(delay=QUICK, per_minute=3))
    pages(rig, 7)
    assert fetch(rig, 180) == [0.0, 1.0, 2.0, 60.0, 61.0, 62.0, 120.0]
    assert rig.counted["politeness/limit_waits"] == 2
    assert rig.tally.value == 0


def test_the_hour_holds_beyond_its_minutes(store: BlockStore) -> None:
    rig = Rig(store, of(delay=QUICK, per_minute=2, per_hour=3))
    pages(rig, 4)
    assert fetch(rig, 3_700) == [0.0, 1.0, 60.0, 3600.0]


def test_a_host_gives_no_more_bytes_in_an_hour(store: BlockStore) -> None:
    """The answer that reaches the limit comes whole, and its bytes count once, though the page is read elsewhere."""
    settings = of(delay=QUICK, bytes_per_hour=ByteSize(1_000))
    rig = Rig(store, settings)
    pages(rig, 4)
    lease = rig.one()
    rig.queues.answered([(lease, ok(received=999))])
    rig.end(lease, ok(received=999))
    rig.fake.advance(10.0)
    rig.end(rig.one(), ok(received=500))
    assert not rig.queues.lease(10)
    rows = dict(live_rows(message("http://a.test/2").url, (), rig.book, Config(frontier=settings)))
    assert rows["in its hour"].startswith("1,499 bytes of 1,000 (frontier.bytes_per_hour), till ")
    rig.save()
    rig = rig.load()
    assert fetch(rig, 3_600) == [3_590.0, 3_591.0]
    assert rig.tally.value == 0


def test_hosts_have_their_limits_each(store: BlockStore) -> None:
    rig = Rig(store, of(delay=QUICK, per_minute=1))
    pages(rig, 1, "a.test")
    pages(rig, 1, "b.test")
    assert fetch(rig, 10) == [0.0, 0.0]


def test_a_later_run_goes_on_with_the_hour(store: BlockStore) -> None:
    rig = Rig(store, of(delay=QUICK, per_hour=2))
    pages(rig, 3)
    rig.end(rig.one())  # it may be asked for one more at once, so only what it was asked for tells that two are too many
    rig.fake.advance(600.0)
    rig.save()
    rig = rig.load()
    assert fetch(rig, 3_600) == [0.0, 3_000.0]


def test_what_was_not_sent_does_not_count(store: BlockStore) -> None:
    rig = Rig(store, of(delay=QUICK, per_hour=1))
    pages(rig, 1)
    rig.queues.give_back([rig.one()], unsent=True)
    assert len(fetch(rig, 2)) == 1


def test_another_limit_counts_at_once(store: BlockStore) -> None:
    rig = Rig(store, of(delay=QUICK))
    pages(rig, 4)
    rig.turns.change(of(delay=QUICK, per_minute=1))
    assert fetch(rig, 10) == [0.0]
    rig.turns.change(of(delay=QUICK))
    rig.fake.advance(50.0)  # it has been told its time
    assert fetch(rig, 10) == [0.0, 1.0, 2.0]


def test_who_asks_is_told(store: BlockStore) -> None:
    settings = of(delay=QUICK, per_minute=2)
    rig = Rig(store, settings)
    pages(rig, 3)
    fetch(rig, 10)
    rows = dict(live_rows(message("http://a.test/2").url, (), rig.book, Config(frontier=settings)))
    assert rows["in its minute"].startswith("2 requests of 2 (frontier.per_minute), till ")
    assert "in its hour" not in rows
    (line,) = HostLister(rig.book, lambda: settings, rig.clock, rig.addresses).table(Hosts()).hosts
    assert line.state == "at its limit"


def address(delay: float = 0.0) -> tuple[SharedAddresses, FakeClock]:
    clock = FakeClock(1_000.0)
    return SharedAddresses(clock, FrontierSettings(delay=Seconds(delay), per_address=2, per_minute=1)), clock


@pytest.mark.parametrize("delay", [0.0, 1.0])
def test_hosts_of_one_address_share_so_many_times_the_limit(delay: float) -> None:
    shared, clock = address(delay)
    for number in range(2):
        shared.take(number, IP)
        shared.end(number)
        clock.advance(1.0)
    assert not shared.admit(2, IP)
    assert shared.wait("c.test", IP)
    assert shared.next_turn() == 1_060.0
    clock.advance(58.0)
    assert shared.due() == ["c.test"]
    assert not shared.wait("c.test", IP)


def test_hosts_of_one_address_share_so_many_times_the_bytes() -> None:
    clock = FakeClock(1_000.0)
    shared = SharedAddresses(clock, FrontierSettings(delay=QUICK, per_address=2, bytes_per_hour=ByteSize(500)))
    shared.take(1, IP)
    shared.end(1, 999)
    assert shared.admit(2, IP)
    shared.end(2, 1)
    assert not shared.admit(3, IP)
    assert shared.wait("c.test", IP)
    assert shared.next_turn() == 4_600.0


def test_an_address_with_a_minute_to_remember_is_kept() -> None:
    shared, clock = address()
    shared._sweep = 2
    for number in range(2):
        shared.take(number, IP)
        shared.end(number)
    for number in range(10, 20):
        assert shared.admit(number, f"192.0.2.{number}")
        shared.end(number)
    assert not shared.admit(99, IP)
    clock.advance(3_601.0)
    shared._sweep = 2
    assert shared.admit(100, "198.51.100.1")
    assert len(shared._addresses) == 1
