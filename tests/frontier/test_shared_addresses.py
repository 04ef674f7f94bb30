"""Hosts that share an IP address share a delay and a number of requests (LARM-105)."""

from __future__ import annotations

from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.config import Config, FrontierSettings
from larm.engine.verdicts import live_rows
from larm.frontier.host import NEVER
from larm.frontier.shared_addresses import SharedAddresses
from larm.kit.disk.block_store import BlockStore
from larm.kit.units import Seconds
from larm.model.lease import Lease
from larm.ops.control.hosts import HostLister
from larm.ops.control.requests import Hosts
from larm.testing.clock import FakeClock
from larm.testing.fakes import message
from tests.frontier.rig import Rig, of, ok

IP, OTHER = "192.0.2.1", "192.0.2.2"


def made(delay: float = 1.0, per_address: int = 4, per_host: int = 1) -> tuple[SharedAddresses, FakeClock]:
    clock = FakeClock(1_000.0)
    settings = FrontierSettings(delay=Seconds(delay), per_address=per_address, per_host=per_host)
    return SharedAddresses(clock, settings), clock


def test_a_connection_that_comes_too_early_is_not_opened() -> None:
    shared, clock = made()
    assert shared.admit(1, IP)
    assert not shared.admit(2, IP)
    assert shared.admit(3, OTHER)
    assert shared.end(2) == (IP, False)
    clock.advance(0.25)
    assert shared.admit(4, IP)


def test_a_lease_whose_address_is_known_is_admitted_at_once_and_once() -> None:
    shared, clock = made(per_address=2)
    shared.take(1, IP)
    assert shared.admit(1, IP)
    assert not shared.admit(2, IP)
    clock.advance(0.5)
    assert shared.admit(3, IP)
    clock.advance(0.5)
    assert not shared.admit(4, IP), "two are out"
    assert shared.end(1) == (IP, False)
    assert shared.admit(5, IP)


def test_a_host_with_several_addresses_is_asked_at_the_known_one() -> None:
    shared, _ = made()
    shared.take(1, IP)
    assert [shared.admit(1, OTHER), shared.admit(1, IP)] == [False, True]
    assert shared.admit(1, OTHER), "the known one did not answer"
    assert shared.end(1) == (OTHER, False)


def test_a_host_that_has_moved_is_asked_at_its_new_address_the_next_time() -> None:
    shared, _ = made()
    shared.take(1, IP)
    assert not shared.admit(1, OTHER)
    assert shared.end(1) == (OTHER, False)
    shared.take(2, OTHER)
    assert shared.admit(2, OTHER)


def test_a_dead_address_is_passed_over_at_the_pace_of_the_next_one() -> None:
    """As ::1, where nothing listens but at 127.0.0.1. Who is too early at one address does not try the others."""
    shared, _ = made()
    assert [shared.admit(1, "::1"), shared.admit(1, IP)] == [True, True]
    assert [shared.admit(2, "::1"), shared.admit(2, OTHER)] == [False, False]
    assert shared.end(2) == ("::1", False)
    shared.take(3, "::1")
    assert [shared.admit(3, "::1"), shared.admit(3, IP)] == [True, False]
    assert shared.end(3) == (IP, False)


@pytest.mark.parametrize(("delay", "per_address"), [(0.0, 4), (1.0, 0)])
def test_where_nobody_shall_wait_nobody_does(delay: float, per_address: int) -> None:
    shared, _ = made(delay, per_address)
    assert all(shared.admit(number, IP) for number in range(100))
    assert not shared.wait("a", IP)


def test_a_line_moves_on_when_requests_end() -> None:
    """Where as many are out as may be, nobody has a turn till one of them has ended."""
    shared, clock = made(per_address=1)
    shared.take(1, IP)
    clock.advance(5.0)
    assert shared.wait("a", IP)
    assert (shared.next_turn(), shared.due(), shared.in_line) == (NEVER, [], 1)
    assert shared.end(1) == (IP, True)
    assert shared.due() == ["a"]
    assert not shared.wait("a", IP)


def test_who_had_a_turn_and_found_somebody_faster_is_the_first_again() -> None:
    shared, clock = made()
    shared.take(1, IP)
    assert shared.wait("a", IP)
    assert shared.wait("b", IP)
    clock.advance(0.25)
    assert shared.due() == ["a"]
    shared.take(2, IP)
    assert shared.wait("a", IP)
    clock.advance(0.25)
    assert shared.due() == ["a"]
    shared.after("a")
    assert shared.due() == ["b"]


def test_slow_hosts_are_asked_less_often() -> None:
    shared, clock = made()
    shared.take(1, IP)
    shared.slow(IP, 20.0)
    clock.advance(4.9)
    assert not shared.admit(2, IP)
    clock.advance(0.1)
    assert shared.admit(3, IP)


def test_nobody_waits_any_more_when_the_delay_is_gone() -> None:
    shared, _ = made()
    shared.take(1, IP)
    assert shared.wait("a", IP)
    assert shared.wait("b", IP)
    shared.change(FrontierSettings(delay=Seconds(0)))
    assert shared.due() == ["a"]
    shared.after("a")
    assert shared.due() == ["b"]


def test_addresses_of_which_nothing_is_left_to_know_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.frontier.shared_addresses._SWEEP", 10)
    shared, clock = made()
    shared._sweep = 10
    for number in range(100):
        assert shared.admit(number, f"192.0.2.{number}")
        shared.end(number)
        clock.advance(1.0)
    assert len(shared._addresses) <= 10


def test_leases_of_one_address_are_apart(store: BlockStore) -> None:
    """Of four hosts each is asked as often as alone; of more, all together as often as four. All is fetched, in turns."""
    rig = Rig(store, of(delay=Seconds(4), per_address=4))
    rig.put(*(f"h{host}.test/{page}" for page in range(3) for host in range(12)))
    started = fetch(rig, {f"h{host}.test": IP for host in range(12)})
    times = [at for at, _ in started]
    assert len(started) == 36
    assert min(after - before for before, after in pairwise(times)) >= 1.0
    assert times[-1] - times[0] == pytest.approx(35.0)
    assert [host for _, host in started] == [f"h{host}.test" for host in range(12)] * 3


def test_where_a_host_is_known_from_another_run(store: BlockStore) -> None:
    """Its address is part of its record."""
    rig = Rig(store, of(delay=Seconds(4), per_address=4))
    rig.put(*(f"h{host}.test/{page}" for page in range(2) for host in range(6)))
    fetch(rig, {f"h{host}.test": IP for host in range(6)}, most=6)
    rig.save()
    rig = rig.load()
    rig.turns.announce()
    rig.clock.advance(100.0)  # type: ignore[attr-defined]
    assert len(rig.queues.lease(10)) == 1


def in_line(store: BlockStore) -> Rig:
    """b, c and d wait for a; it is b's turn next."""
    rig = Rig(store, of(delay=Seconds(4), per_address=4))
    rig.put(*(f"{host}.test/{page}" for page in range(2) for host in "abcd"))
    fetch(rig, {f"{host}.test": IP for host in "abcd"}, most=4)
    rig.clock.advance(4.0)  # type: ignore[attr-defined]
    assert [lease.host for lease in rig.queues.lease(9)] == ["a.test"]
    assert rig.turns.figures().in_line == 3
    return rig


def test_who_stands_in_line_can_be_told_so(store: BlockStore) -> None:
    rig = in_line(store)
    assert [rig.addresses.place_of(f"{host}.test", IP) for host in "abcd"] == [(0, 0), (1, 3), (2, 3), (3, 3)]
    assert rig.addresses.place_of("b.test", "") == rig.addresses.place_of("b.test", "192.0.2.99") == (0, 0)
    url = message("http://c.test/1").url
    rows = dict(live_rows(url, (), rig.book, Config(), rig.addresses))
    assert rows["IP address"] == (
        f"{IP}, whose hosts share a delay (frontier.per_address): number 2 of 3 hosts that wait there for their turn"
    )
    rows = dict(live_rows(url, (), rig.book, Config()))
    assert rows["IP address"] == f"{IP}, whose hosts share a delay (frontier.per_address)"
    table = HostLister(rig.book, lambda: rig.settings, rig.clock, rig.addresses).table(Hosts(sort="host"))
    assert [line.state for line in table.hosts] == ["fetching", "in line", "in line", "in line"]


@pytest.mark.parametrize("having_turn", [False, True])
def test_a_host_that_has_gone_to_another_crawl_lets_the_next_one_have_its_turn(store: BlockStore, having_turn: bool) -> None:
    rig = in_line(store)
    rig.clock.advance(1.0)  # type: ignore[attr-defined]
    if having_turn:
        with rig.book.lock:
            rig.turns.wake_due_locked(rig.clock.monotonic())
        assert rig.turns.places.in_ring == 1
    rig.changes.freeze("b.test")
    rig.changes.forget("b.test")
    assert rig.queues.lease(9) or rig.queues.lease(9)
    assert rig.turns.figures().in_line == 1
    assert rig.book.find_locked("b.test") is None or not rig.host("b.test").running


@given(st.data())
def test_nobody_is_forgotten_and_no_address_asked_too_often(data: st.DataObject) -> None:
    """Hosts that come, wait, have their turn and make nothing of it, in any order."""
    shared, clock = made(delay=2.0, per_address=2)
    numbers, out, ready, starts = count(), list[int](), list("abcdef"), list[float]()
    for _ in range(data.draw(st.integers(1, 60))):
        match data.draw(st.sampled_from(["lease", "end", "pass", "sleep"])):
            case "lease" if ready:
                key = ready.pop(0)
                if not shared.wait(key, IP):
                    number = next(numbers)
                    shared.take(number, IP)
                    shared.after(key)
                    out.append(number)
                    starts.append(clock.monotonic())
                    ready.append(key)
            case "pass" if ready:
                shared.after(ready[0])
                ready.append(ready.pop(0))
            case "end" if out:
                shared.end(out.pop(0))
            case "sleep":
                clock.advance(0.5)
        ready += shared.due()
        assert len(ready) + shared.in_line == 6
        assert len(out) <= 2
    assert all(after - before >= 1.0 for before, after in pairwise(starts))
    for number in out:
        shared.end(number)
    while shared.in_line:
        assert shared.next_turn() < NEVER or ready
        for key in ready:
            shared.after(key)
        clock.advance(2.0)
        ready += shared.due()


def fetch(rig: Rig, addresses: dict[str, str], most: int = 1_000) -> list[tuple[float, str]]:
    """As the fetchers do, a tenth of a second for each request: when they started, and of which host."""
    shared, started, out = rig.turns.addresses, list[tuple[float, str]](), list[tuple[float, Lease]]()
    while len(started) < most:
        for lease in rig.queues.lease(20):
            if shared.admit(lease.number, addresses[lease.host]):
                started.append((rig.clock.monotonic(), lease.host))
                out.append((rig.clock.monotonic() + 0.1, lease))
            else:
                rig.queues.give_back([lease], unsent=True)
        wait = min([rig.queues.seconds_to_next(), *(at - rig.clock.monotonic() for at, _ in out)])
        if wait == NEVER:
            break
        rig.clock.advance(max(wait, 0.001))  # type: ignore[attr-defined]
        for each in [each for each in out if each[0] <= rig.clock.monotonic()]:
            out.remove(each)
            rig.end(each[1], ok())
    for _, lease in out:
        rig.end(lease, ok())
    return started
