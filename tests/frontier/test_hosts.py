"""All host records, on the disk and back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from larm.errors import StorageError
from larm.frontier.host_records import ROW
from larm.kit.disk.block_store import BlockStore
from larm.testing.clock import FakeClock
from tests.frontier.rig import HURRIED, Rig, drained, of, ok, status


def test_a_record_is_made_on_first_sight(store: BlockStore) -> None:
    rig = Rig(store)
    with rig.book.lock:
        assert rig.book.find_locked("a") is None
        made = rig.book.get_locked("a")
        assert rig.book.get_locked("a") is made
        assert rig.book.find_locked("a") is made
    assert rig.all_hosts() == [made]
    assert len(rig.book) == 1
    assert made.health == HURRIED.health
    assert repr(made) == "<Host a: 0 queued, 0 parked, 0 running, health 5>"


def test_repr_of_a_host_given_up(store: BlockStore) -> None:
    rig = Rig(store)
    with rig.book.lock:
        host = rig.book.get_locked("a")
    host.dormant = True
    assert "dormant" in repr(host)


def test_a_cut_takes_the_changes(store: BlockStore) -> None:
    rig = Rig(store)
    rig.put("a/1", "b/1")
    assert [cut.key for cut in rig.book.cut()] == ["a", "b"]
    assert rig.book.cut() == []


def test_a_cut_is_a_copy(store: BlockStore) -> None:
    """It is encoded while the crawl goes on."""
    rig = Rig(store)
    rig.screen("a/1")
    rig.put("a/2")
    (cut,) = rig.book.cut()
    before = cut.encode()
    rig.robots_lander.land(rig.one(), ok())
    rig.settle()
    rig.end(rig.one())
    assert cut.encode() == before


@pytest.mark.parametrize("damage", [b"", b"\x00", b"\xc1", b"garbage", b"\x94\xa1a\x00\x00\x00"])
def test_a_damaged_row_is_named(store: BlockStore, damage: bytes) -> None:
    store.put(ROW + "a.example", damage)
    with pytest.raises(StorageError, match=r"frontier.*the record host/a\.example is damaged.*larm repair"):
        list(Rig(store).book.load([ROW + "a.example"]))


def test_a_row_that_is_cut_off_anywhere_is_named(store: BlockStore) -> None:
    rig = Rig(store)
    rig.screen("a/1")
    rig.put("a/2")
    rig.save()
    whole = store.get(ROW + "a")
    assert whole is not None
    for end in range(0, len(whole), 7):
        store.put(ROW + "a", whole[:end])
        with pytest.raises(StorageError, match="host/a is damaged"):
            list(Rig(store).book.load([ROW + "a"]))


def test_a_row_with_broken_text_is_named(store: BlockStore) -> None:
    rig = Rig(store)
    rig.screen("a/1")
    rig.save()
    whole = store.get(ROW + "a")
    assert whole is not None
    store.put(ROW + "a", whole.replace(b"http", b"\xdattp"))
    with pytest.raises(StorageError, match="host/a is damaged"):
        list(Rig(store).book.load([ROW + "a"]))


def test_a_missing_row_is_named(store: BlockStore) -> None:
    with pytest.raises(StorageError, match="host/a is damaged"):
        list(Rig(store).book.load([ROW + "a"]))


# -- in bounded memory


def in_memory(rig: Rig) -> tuple[int, int]:
    """(hosts, messages)."""
    return len(rig.book._hosts), sum(host.in_memory for host in rig.book._hosts.values())


def test_of_many_hosts_the_last_used_stay_in_memory_and_none_is_lost(store: BlockStore) -> None:
    rig = Rig(store, of(hosts_in_memory=3))
    rig.put(*(f"h{number}/{page}" for page in range(2) for number in range(10)))
    assert in_memory(rig)[0] == 10, "what no checkpoint has written must stay"
    rig.save()
    assert [host.key for host in rig.book._hosts.values()] == ["h7", "h8", "h9"]
    assert (len(rig.book), rig.turns.figures().hosts) == (10, 10)
    rig.put("h0/2")
    assert rig.host("h0").waiting == 3
    assert sorted(drained(rig)) == sorted(["h0/2", *(f"h{number}/{page}" for page in range(2) for number in range(10))])
    assert rig.tally.value == 0


class Running(FakeClock):
    """Time passes whenever somebody looks."""

    def monotonic(self) -> float:
        self.advance(0.001)
        return super().monotonic()


def test_a_lease_reads_no_more_hosts_than_it_needs(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that is read while leases are given out may be asked by these: its time has come long since."""
    rig = Rig(store, of(hosts_in_memory=1), clock=Running(1_000_000.0))
    rig.put(*(f"h{number}/1" for number in range(10)))
    rig.save()
    monkeypatch.setattr(rig.book, "warm", lambda _: None)  # others had the turns of those that were read before
    assert [lease.host for _ in range(5) for lease in rig.queues.lease(2)] == [f"h{number}" for number in range(10)]


def test_a_host_with_requests_in_the_air_stays(store: BlockStore) -> None:
    rig = Rig(store, of(hosts_in_memory=1))
    rig.put("a/1", "b/1", "c/1")
    (lease,) = rig.queues.lease(1)
    rig.save()
    assert lease.host in rig.book._hosts
    rig.end(lease)


def test_a_host_whose_rules_are_on_their_way_stays(store: BlockStore) -> None:
    """A checkpoint knows only the task for them; read back, it would be done a second time."""
    rig = Rig(store, of(hosts_in_memory=1))
    rig.screen("a/1")
    rig.robots_lander.land(rig.one(), ok())
    rig.put("b/1", "c/1")
    rig.save()
    assert rig.settle() == (["http://a/1"], [])
    assert sorted(drained(rig)) == ["a/1", "b/1", "c/1"]


def test_a_host_keeps_all_it_was_when_it_comes_back(store: BlockStore) -> None:
    """Health, back-off, rules and the next time are the same as if it had never left."""
    rig = Rig(store, of(hosts_in_memory=1))
    rig.put("a/1", "a/2", "b/1")
    for lease, outcome in zip(rig.queues.lease(2), (status(503), ok()), strict=True):
        rig.end(lease, outcome)
    before = repr(rig.host("a")), rig.host("a").next_start, rig.host("a").backoffs
    rig.host("b")
    rig.save()
    assert "a" not in rig.book._hosts
    host = rig.host("a")
    assert (repr(host), host.backoffs) == (before[0], before[2])
    assert host.next_start == pytest.approx(before[1])


def test_messages_beyond_the_bound_go_to_disk_and_come_back_in_order(store: BlockStore) -> None:
    rig = Rig(store, of(messages_in_memory=8))
    for page in range(20):
        rig.put(*(f"h{number}/{page}" for number in range(5)))
        assert in_memory(rig)[1] <= 8 + 5
    assert rig.turns.figures().hosts == 5
    order = drained(rig)
    assert [address for address in order if address.startswith("h3/")] == [f"h3/{page}" for page in range(20)]
    assert len(order) == 100


def test_a_few_messages_leave_with_their_record_and_are_no_block_of_their_own(store: BlockStore) -> None:
    rig = Rig(store, of(messages_in_memory=200))
    rig.put(*(f"h{number}/{page}" for page in range(3) for number in range(40)), *(f"long/{page}" for page in range(30)))
    assert rig.crowds > 0, "more than half of the bound"
    assert {key.partition("_")[0] for key in store.keys("") if key.endswith(".cqb")} == {"host-long"}
    rig.save()
    assert 80 <= in_memory(rig)[1] <= 100
    assert "h0" not in rig.book._hosts
    assert "h39" in rig.book._hosts
    order = drained(rig)
    assert len(order) == 150
    assert [address for address in order if address.startswith("h7/")] == ["h7/0", "h7/1", "h7/2"]


def test_parked_messages_are_bounded_too(store: BlockStore) -> None:
    rig = Rig(store, of(messages_in_memory=8))
    for page in range(10):
        rig.screen(*(f"h{number}/{page}" for number in range(5)))
    assert in_memory(rig)[1] <= 8 + 5


def test_messages_that_come_back_with_their_hosts_are_bounded_too(store: BlockStore) -> None:
    """Each record that left the memory took some with it; nothing is put here, only taken."""
    rig = Rig(store, of(hosts_in_memory=2, messages_in_memory=40))
    for number in range(30):
        rig.put(*(f"h{number}/{page}" for page in range(5)))
        rig.save()
    assert in_memory(rig)[1] <= 40
    for _ in range(30):
        rig.end(*rig.queues.lease(1))
        assert in_memory(rig)[1] <= 40
    assert len(drained(rig)) == 120


def test_what_is_in_memory_after_the_start_is_bounded(store: BlockStore) -> None:
    rig = Rig(store, of(hosts_in_memory=2, messages_in_memory=40))
    for number in range(30):
        rig.put(*(f"h{number}/{page}" for page in range(5)))
        rig.save()
    rig.settings = of(messages_in_memory=40)
    new = rig.load()
    assert in_memory(new)[1] <= 20
    assert len(drained(new)) == 150


@pytest.mark.parametrize("way", [Rig.put, Rig.screen])
def test_many_changed_hosts_ask_for_an_early_checkpoint(store: BlockStore, way: Callable[..., object]) -> None:
    """Also those whose messages are all parked: then nothing comes to the queues."""
    rig = Rig(store, of(hosts_in_memory=12))
    way(rig, "a/1", "b/1", "c/1")
    assert rig.crowds == 0
    way(rig, "d/1")
    assert rig.crowds > 0
    rig.save()
    rig.crowds = 0
    way(rig, "a/2")
    assert rig.crowds == 0


def test_messages_that_are_lost_on_their_way_to_disk_are_in_no_checkpoint(
    store: BlockStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tick may come between the failure and the end of the crawl."""
    rig = Rig(store, of(messages_in_memory=8))

    def full(_: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(store, "put_many", full)
    with pytest.raises(StorageError, match="the disk is full"):
        rig.put(*(f"a/{number}" for number in range(20)))
    with pytest.raises(StorageError, match="the disk is full"):
        rig.book.cut()


@pytest.mark.parametrize("known", [True, False])
def test_a_host_may_have_been_asked_since_the_last_checkpoint(store: BlockStore, known: bool) -> None:
    """So it is left alone for its delay when the crawl is continued, whether the checkpoint knows the host or not."""
    rig = Rig(store, of(delay=3.0))
    rig.put("a/1" if known else "b/1")
    rig.save()
    new = rig.load()
    if not known:
        new.put("a/1")
    with new.book.lock:
        assert new.book.get_locked("a").next_start == new.clock.monotonic() + 3


def test_who_may_not_lease_before_a_checkpoint_asks_for_one(store: BlockStore) -> None:
    """The last one was cut while requests were out: nobody else would say how many records have changed since."""
    rig = Rig(store, of(hosts_in_memory=4))
    rig.put("a/1", "b/1", "c/1", "d/1", "d/2")
    leases = rig.queues.lease(4)
    rig.save()
    for lease in leases:
        rig.end(lease)
    rig.may_lease, rig.crowds = rig.book.has_room(), 0
    assert (rig.queues.lease(4), rig.may_lease, rig.crowds) == ([], False, 1)
