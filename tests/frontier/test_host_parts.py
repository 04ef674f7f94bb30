"""A host goes from one frontier to another, as parts of bytes; nothing of it is left, and nothing of it is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.errors import UsageError
from larm.frontier.host import HostState
from larm.frontier.host_parts import FORMAT, Begin, Waiting, decode_part, encode_part, parts_of, take_in_locked, take_out_locked
from larm.frontier.host_records import HostRow
from larm.frontier.traps.limits import TrapRules
from larm.kit.disk.block_store import BlockStore
from larm.kit.units import Seconds
from larm.model.message import decode_messages, encode_messages
from larm.model.url import Url
from larm.testing.fakes import message
from tests.frontier.rig import CONNECT, Rig, drained, of, ok, status

Rigs = Callable[..., Rig]


@pytest.fixture
def rigs(tmp_path: Path) -> Iterator[Rigs]:
    made: list[BlockStore] = []

    def make(**settings: object) -> Rig:
        made.append(BlockStore(tmp_path / str(len(made))))
        return Rig(made[-1], of(host_block=3, **settings))

    yield make
    for store in made:
        store.close()


def move(old: Rig, new: Rig, key: str = "a") -> None:
    """As `larm.engine.moves` does, without the visited set and the page book."""
    old.changes.freeze(key)
    assert old.queues.lease(10) == []
    parts = [encode_part(part) for part in parts_of(old.book, key, "1", [])]
    assert [encode_part(part) for part in parts_of(old.book, key, "1", [])][1:] == parts[1:]
    for part in map(decode_part, parts):
        if isinstance(part, Begin):
            new.changes.freeze(key)
            new.changes.alter(key, lambda host, row=part.row: new.book.adopt_locked(host, row))  # type: ignore[misc]
        elif isinstance(part, Waiting):
            found = decode_messages(part.messages)
            new.changes.alter(key, lambda host, place=part.place, found=found: take_in_locked(host, place, found))  # type: ignore[misc]
    assert new.queues.lease(10) == []
    new.changes.thaw(key)
    while old.changes.alter(key, lambda host: take_out_locked(host, 4)):
        pass
    old.changes.forget(key)


def check_gone(rig: Rig) -> None:
    """No trace, now and in the next process."""
    check_nothing(rig)
    rig.save()
    check_nothing(rig)
    check_nothing(rig.load())


def check_nothing(rig: Rig) -> None:
    figures = rig.turns.figures()
    assert (figures.hosts, figures.given_up, figures.blocked, figures.uncounted, figures.in_flight) == (0, 0, 0, 0, 0)
    assert (figures.ready, rig.tally.value) == (0, 0)
    assert rig.queues.lease(10) == []
    assert len(rig.book) == 0


def test_what_waits_goes_in_its_order(rigs: Rigs) -> None:
    old, new = rigs(), rigs()
    old.put(*(f"a/{number}" for number in range(14)))
    old.save()
    move(old, new)
    check_gone(old)
    assert new.tally.value == 14
    new.save()
    assert drained(new.load()) == [f"a/{number}" for number in range(14)]


def test_how_long_it_must_be_left_alone_goes_with_it_whatever_the_clocks_say(rigs: Rigs) -> None:
    old, new = rigs(delay=Seconds(5), backoff=Seconds(60)), rigs(delay=Seconds(5), backoff=Seconds(60))
    new.fake.advance(1_000_000.0)
    old.put("a/1", "a/2")
    old.end(old.one(), status(503, retry_after=300.0))
    old.fake.advance(100.0)
    move(old, new)
    check_gone(old)
    assert new.turns.figures().blocked == 1
    new.fake.advance(199.0)
    assert new.queues.lease(10) == []
    new.fake.advance(2.0)
    assert new.one().message.url.access == "http://a/2", "one that was not refused"
    assert new.host("a").backoffs == 1


def test_it_waits_a_delay_at_least(rigs: Rigs) -> None:
    old, new = rigs(delay=Seconds(5)), rigs(delay=Seconds(5))
    old.put("a/1", "a/2")
    old.end(old.one())
    old.fake.advance(1_000.0)
    move(old, new)
    new.fake.advance(4.9)
    assert new.queues.lease(10) == []
    new.fake.advance(0.2)
    assert len(new.queues.lease(10)) == 1


def test_retries_and_a_host_that_was_given_up(rigs: Rigs) -> None:
    old, new = rigs(health=1, retry_wait=Seconds(10)), rigs(health=1, retry_wait=Seconds(10))
    old.put("a/1", "a/2")
    old.end(old.one(), CONNECT)
    assert (old.turns.figures().given_up, old.tally.value) == (1, 0)
    move(old, new)
    check_gone(old)
    assert (new.turns.figures().given_up, new.turns.figures().uncounted, new.tally.value) == (1, 2, 0)
    new.fake.advance(10_000.0)
    assert {new.one().message.url.access for _ in range(1)} <= {"http://a/1", "http://a/2"}
    assert (new.turns.figures().given_up, new.tally.value) == (0, 2)


def test_robots_txt_goes_with_it_and_who_waits_for_one_waits_there(rigs: Rigs) -> None:
    old, new = rigs(), rigs()
    old.screen("a/1", "a/no")
    old.robots_lander.land(old.one(), ok(body=b"User-agent: *\nDisallow: /no"))
    passed, forbidden = old.settle()
    assert (passed, forbidden) == (["http://a/1"], ["http://a/no"])
    move(old, new)
    check_gone(old)
    assert new.screen("a/no", "a/2") == (["http://a/2"], ["http://a/no"])
    assert drained(new) == ["a/1", "a/2"]


def test_who_waits_for_robots_txt_asks_for_it_again(rigs: Rigs) -> None:
    old, new = rigs(), rigs()
    old.screen("a/1")
    assert (old.tally.value, len(old.host("a").robots_tasks)) == (1, 1)
    move(old, new)
    check_gone(old)
    from larm.frontier.robots.desk import Arrival

    new.arrivals.append(Arrival("a", "", None))  # of `larm.engine.moves`
    assert new.settle() == ([], [])
    assert new.tally.value == 1
    assert new.one().robots


def test_what_is_held_back_goes_with_what_is_known_of_the_patterns(tmp_path: Path) -> None:
    stores = [BlockStore(tmp_path / str(number)) for number in range(2)]
    old, new = (Rig(store, of(host_block=3), traps=TrapRules(segments=3)) for store in stores)
    deep = [message(f"http://a/x/y/z/{number}/", depth=1) for number in range(9)]
    passing = old.traps.sift(deep, lambda *_: None)
    assert (len(passing), old.traps.held_back) == (0, 9)
    move(old, new)
    check_gone(old)
    assert (old.traps.held_back, new.traps.held_back) == (0, 9)
    assert new.traps.explain(deep[0]) == "held back: beyond filters.traps.limits: 3 segments of a path"
    assert new.traps.sift([message("http://a/x/y/z/10/", depth=1)], lambda *_: None) == []
    assert new.traps.held_back == 10
    for store in stores:
        store.close()


@given(st.lists(st.sampled_from(["put", "park", "lease", "fail", "save"]), max_size=30), st.integers(0, 2))
@settings(max_examples=40)
def test_all_that_waits_is_there_afterwards(tmp_path_factory: pytest.TempPathFactory, steps: list[str], kept: int) -> None:
    """Whatever was done to the host before, and whatever the new one had of it already."""
    folder = tmp_path_factory.mktemp("hosts")
    with closing(BlockStore(folder / "old")) as one, closing(BlockStore(folder / "new")) as two:
        old, new = Rig(one, of(host_block=2)), Rig(two, of(host_block=2))
        for number, step in enumerate(steps):
            if step == "put":
                old.put(f"a/{number}")
            elif step == "park":
                old.screen(f"a/{number}")
            elif step in ("lease", "fail"):
                for lease in [each for each in old.queues.lease(1) if not each.robots]:
                    old.end(lease, CONNECT if step == "fail" else None)
            else:
                old.save()
            old.fake.advance(100.0)
        for lease in list(old.queues.lease(10)):
            old.queues.give_back([lease])
        waiting = old.tally.value + old.turns.figures().uncounted
        new.put(*(f"a/new{count}" for count in range(kept)))
        move(old, new)
        assert old.tally.value == old.turns.figures().uncounted == 0
        assert new.tally.value + new.turns.figures().uncounted == waiting + kept


def test_what_is_no_part_or_of_a_later_larm_is_refused() -> None:
    row = HostRow({}, [], [], [], 0.0, HostState(3))
    part = Begin("a", "1", 0, row)
    nowhere = msgspec.structs.replace(message("http://a/"), url=Url("a", "a", "a", 1))
    assert decode_part(encode_part(part)) == part
    with pytest.raises(UsageError, match="no part of a host"):
        decode_part(b"\x01")
    for wrong in (
        msgspec.structs.replace(part, row=msgspec.structs.replace(row, traps=b"\x01")),
        msgspec.structs.replace(part, row=msgspec.structs.replace(row, delayed=[(0.0, message("http://b/"))])),
        Waiting("a", "1", 1, 0, b"\x01"),
        Waiting("a", "1", 1, 0, encode_messages([message("http://b/")])),
        Waiting("a", "1", 1, 0, encode_messages([nowhere])),
    ):
        with pytest.raises(UsageError, match="no part of a host"):
            decode_part(encode_part(wrong))
    with pytest.raises(UsageError, match=f"format {FORMAT + 1}"):
        decode_part(encode_part(msgspec.structs.replace(part, format=FORMAT + 1)))


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda tail: encode_part(Waiting("a", "1", 1, 0, b"")) + tail))
def test_no_bytes_do_anything_but_be_refused(data: bytes) -> None:
    with pytest.raises(UsageError):
        decode_part(data)
