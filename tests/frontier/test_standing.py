"""Where hosts stood when a run ended well: the next one begins with it, and reads no record before it is asked for."""

from __future__ import annotations

import pytest

from larm.errors import StorageError
from larm.frontier.checkpoint import CheckpointFile
from larm.frontier.hosts import HostBook
from larm.frontier.resumption import decode_standing, standing_of
from larm.frontier.traps.limits import TrapRules
from larm.kit.disk.block_store import BlockStore
from tests.frontier.digits import Digits
from tests.frontier.rig import CONNECT, HURRIED, Rig, drained, of, ok, status


def pages(rig: Rig) -> list[str]:
    return [address for address in drained(rig) if not address.endswith("robots.txt")]


def next_run(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Rig:
    """Which must not read the records."""

    def never(*_: object) -> None:
        raise AssertionError("it reads all records")

    with monkeypatch.context() as patched:
        patched.setattr(HostBook, "load", never)
        return rig.load()


def test_no_record_is_read_and_turns_stay(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(store, of(hosts_in_memory=2))
    rig.put("c/1", "a/1", "b/1", "d/1", "a/2")
    rig.save(last=True)
    new = next_run(rig, monkeypatch)
    assert (new.book.in_memory(), len(new.book), new.tally.value) == ([], 4, 5)
    assert new.turns.figures().hosts == 4
    assert drained(new) == ["c/1", "a/1", "b/1", "d/1", "a/2"]
    assert new.tally.value == 0


def test_totals_are_those_of_the_last_run(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(store, of(health=1))
    rig.put("a/1", "a/2", "b/1", "b/2", "c/1", "d/1")
    leases = {lease.host: lease for lease in rig.queues.lease(3)}
    rig.end(leases["a"], CONNECT)
    rig.end(leases["b"], status(503))
    rig.changes.block("d")
    rig.end(leases["c"])
    before = rig.turns.figures()
    rig.save(last=True)
    new = next_run(rig, monkeypatch)
    after = new.turns.figures()
    assert (after.given_up, after.blocked, after.uncounted, after.hosts) == (1, before.blocked, before.uncounted, 4)
    assert new.tally.value == rig.tally.value
    with new.book.lock:
        assert not new.book.takes_mail_locked("a"), "it was given up"
        assert not new.book.takes_mail_locked("d"), "it is blocked"
        assert new.book.takes_mail_locked("b")


def test_what_was_in_the_air_is_asked_for_again(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(store)
    rig.screen("a/1", "b/1", "b/2")
    first, second = rig.queues.lease(2)
    rig.robots_lander.land(first, ok())
    rig.save(last=True)
    new = next_run(rig, monkeypatch)
    assert second.host not in rig.arrivals
    assert sorted(pages(new)) == ["a/1", "b/1", "b/2"]
    assert new.tally.value == 0


def test_what_was_put_off_counts_again(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Suspects, which are asked for last: the next run must not end before that."""
    rig = Rig(store)
    rig.put("a/1", "b/1", "c/1")
    first, second = rig.queues.lease(2)
    rig.queues.put_off([first])
    rig.queues.put_off([second])
    rig.queues.take_up(second)
    assert rig.tally.value == 2
    rig.save(last=True)
    new = next_run(rig, monkeypatch)
    assert new.tally.value == 3
    assert sorted(drained(new)) == ["a/1", "b/1", "c/1"]
    assert new.tally.value == 0


def test_who_was_blocked_can_be_unblocked(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(store)
    rig.put("a/1", "b/1")
    rig.changes.block("a")
    rig.save(last=True)
    new = next_run(rig, monkeypatch)
    assert new.turns.figures().shut == 1
    new.changes.unblock("a")
    assert new.turns.figures().shut == 0
    assert sorted(drained(new)) == ["a/1", "b/1"]


def test_nobody_is_asked_before_its_delay_is_over(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last process may have asked it just before its end; and who had to wait longer still has."""
    rig = Rig(store, of(delay=3.0))
    rig.put("a/1", "b/1", "c/1")
    rig.end(next(lease for lease in rig.queues.lease(1)), status(429, 40.0))
    rig.save(last=True)
    new = next_run(rig, monkeypatch)
    assert new.queues.lease(9) == []
    new.fake.advance(2.9)
    assert new.queues.lease(9) == []
    new.fake.advance(0.2)
    assert len(new.queues.lease(9)) == 2
    new.fake.advance(36.0)
    assert new.queues.lease(9) == []
    new.fake.advance(10.0)
    assert len(new.queues.lease(9)) == 1


@pytest.mark.parametrize("back", [-100_000.0, 500_000.0])
def test_a_clock_that_was_set_stalls_no_host(store: BlockStore, back: float) -> None:
    rig = Rig(store)
    rig.put("a/1")
    rig.end(rig.one(), status(429, 40.0))
    rig.put("a/2")
    rig.save(last=True)
    new = rig.load(lambda clock: clock.set_wall(clock.wall() + back))
    assert new.queues.seconds_to_next() <= 40.0


def test_hosts_that_hold_something_back_are_looked_at(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else would decide what is a trap."""
    rig = Rig(store, traps=TrapRules())
    rig.put("a/1", "b/1")
    with rig.book.lock:
        rig.traps._held["a"] = 0
    rig.save(last=True)
    new = next_run(rig, monkeypatch)
    assert new.book.in_memory() == ["a"]
    assert sorted(drained(new)) == ["a/1", "b/1"]


def test_only_the_last_checkpoint_of_a_run_says_it(store: BlockStore) -> None:
    rig = Rig(store)
    rig.put("a/1")
    rig.save(last=True)
    file = CheckpointFile(store)
    found = file.read()
    assert found is not None
    assert file.standing(found[0]) is not None
    file.amend(found[0], b"", {"host/a": store.get("host/a") or b""})
    assert file.standing(found[0]) is None, "a record was changed"
    rig.save(last=True)
    rig.save()
    assert store.get("standing") is None
    assert standing_of(Rig(store, HURRIED, order=Digits(fair=False)).turns, None, 1, 0) is None


def test_damage_is_named() -> None:
    with pytest.raises(StorageError, match=r"where hosts stood is damaged.*larm repair"):
        decode_standing(b"x" * 9, "queues")
