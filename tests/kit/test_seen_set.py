"""What was seen, in constant memory (LARM-52, LARM-107)."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.errors import StorageError
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.threads.workers import Workers

LARGEST = 2**63 - 1


@pytest.fixture
def seen(tmp_path: Path) -> Iterator[DiskSeenSet]:
    seen = DiskSeenSet(tmp_path / "seen.db", 100)
    yield seen
    seen.close()


def checkpoint(seen: DiskSeenSet) -> None:
    seen.apply(seen.cut())


def test_each_commit_waits_for_the_disk(seen: DiskSeenSet) -> None:
    """Else a power cut takes the last ones, and the checkpoint makes up for one only: pages would be fetched twice."""
    checkpoint(seen)
    assert seen._runs.writer.row("PRAGMA synchronous") == (2,)


def test_new_is_what_was_never_given_before(seen: DiskSeenSet) -> None:
    assert seen.add_new([]) == []
    assert seen.add_new([1, 2, 1, LARGEST]) == [True, True, False, True]
    assert seen.add_new([2, 0, 3]) == [False, True, True]
    assert seen.add_new([0, 0]) == [False, False]
    assert len(seen) == 5
    assert 3 in seen
    assert 4 not in seen
    assert 4 not in seen  # asking does not remember


def test_every_layer_knows(tmp_path: Path) -> None:
    seen = DiskSeenSet(tmp_path / "seen.db", 4)
    seen.add_new(range(0, 1000, 2))
    first = seen.cut()
    seen.add_new([LARGEST])
    assert seen.add_new([0, 998, LARGEST, 1]) == [False, False, False, True]  # frozen, fresh
    seen.apply(first)
    assert seen.add_new([0, 998, LARGEST, 1, 3]) == [False, False, False, False, True]  # on disk, fresh
    assert 500 in seen
    assert 501 not in seen
    assert len(seen) == 503
    assert len(seen._young) + len(seen._old) <= 4
    seen.close()


def test_it_is_there_after_a_restart_with_its_length(tmp_path: Path) -> None:
    seen = DiskSeenSet(tmp_path / "seen.db", 10)
    seen.add_new([5, LARGEST, 7])
    checkpoint(seen)
    seen.add_new([8])
    seen.close()
    seen = DiskSeenSet(tmp_path / "seen.db", 10)
    assert len(seen) == 3
    assert seen.add_new([5, 8, LARGEST]) == [False, True, False]
    seen.close()


def test_a_delta_may_be_applied_again_after_a_kill(tmp_path: Path) -> None:
    seen = DiskSeenSet(tmp_path / "seen.db", 10)
    seen.add_new([5, 6])
    delta = seen.cut()
    assert len(seen._fresh) == 0
    seen.close()  # killed between cut and apply
    for _ in range(2):
        seen = DiskSeenSet(tmp_path / "seen.db", 10)
        seen.apply(delta)
        seen.apply(delta)
        assert len(seen) == 2
        assert seen.add_new([5, 6, 7]) == [False, False, True]
        seen.close()


def test_two_cuts_before_the_first_is_applied(seen: DiskSeenSet) -> None:
    seen.add_new([1])
    first = seen.cut()
    seen.add_new([2])
    second = seen.cut()
    assert seen.cut() == b""
    seen.apply(first)
    assert seen.add_new([1, 2]) == [False, False]
    seen.apply(second)
    seen.apply(b"")
    assert seen.add_new([1, 2]) == [False, False]
    assert len(seen) == 2
    assert "2 stored, 0 frozen, 0 fresh" in repr(seen)


def test_a_delta_is_eight_bytes_each(seen: DiskSeenSet) -> None:
    seen.add_new([LARGEST, 3])
    assert sorted(array("q", seen.cut())) == [3, LARGEST]
    with pytest.raises(StorageError, match=r"seen.db: a delta of 9 bytes is damaged"):
        seen.apply(bytes(9))


def test_recent_ones_need_no_disk(tmp_path: Path) -> None:
    seen = DiskSeenSet(tmp_path / "seen.db", 100, tail=10)
    seen.add_new(range(40))
    checkpoint(seen)
    seen._runs.reader.close()
    assert seen.add_new(range(40)) == [False] * 40
    with pytest.raises(StorageError):
        seen.add_new([41])
    assert len(seen._fresh) == 0
    seen.close()


def test_a_full_disk_loses_nothing(seen: DiskSeenSet) -> None:
    seen._runs.writer.write("PRAGMA max_page_count = 5")
    seen.add_new(range(0, 10**7, 1000))
    delta = seen.cut()
    with pytest.raises(StorageError, match=r"seen.db: database or disk is full: the disk is full; make room"):
        seen.apply(delta)
    assert seen.add_new([1000, 1001]) == [False, True]
    seen._runs.writer.write("PRAGMA max_page_count = 100000")
    seen.apply(delta)
    assert len(seen) == 10_001
    assert seen.add_new([1000, 9_999_000]) == [False, False]


def test_a_failed_transaction_is_undone(seen: DiskSeenSet) -> None:
    seen.add_new([1, 2])
    delta = seen.cut()
    seen._runs.writer.write("ALTER TABLE size RENAME TO hidden")
    with pytest.raises(StorageError, match="no such table"):
        seen.apply(delta)
    seen._runs.writer.write("ALTER TABLE hidden RENAME TO size")
    seen.apply(delta)
    assert len(seen) == 2


def test_memory_is_bounded_and_keeps_what_is_asked_for(tmp_path: Path) -> None:
    seen = DiskSeenSet(tmp_path / "seen.db", 20)
    seen.add_new(range(1000))
    checkpoint(seen)
    for fingerprint in range(1000):
        assert seen.add_new([7, fingerprint]) == [False, False]
        assert len(seen._young) + len(seen._old) <= 20
    assert 7 in seen._young | seen._old
    assert not seen._fresh | seen._frozen
    seen.close()


def test_what_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "seen.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StorageError, match=r"seen.db: file is not a database: the database is damaged"):
        DiskSeenSet(tmp_path / "seen.db", 10)
    with pytest.raises(StorageError, match=r"missing/seen.db: No such file"):
        DiskSeenSet(tmp_path / "missing" / "seen.db", 10)
    with sqlite3.connect(tmp_path / "odd.db", isolation_level=None) as odd:
        odd.executescript("CREATE TABLE size (entries INTEGER, checksum INTEGER); INSERT INTO size VALUES (1, 0), (2, 0)")
    odd.close()
    with pytest.raises(StorageError, match=r"odd.db: the database is damaged"):
        DiskSeenSet(tmp_path / "odd.db", 10)


def test_adding_while_another_thread_applies(tmp_path: Path) -> None:
    seen = DiskSeenSet(tmp_path / "seen.db", 50, tail=100)
    answers: list[bool] = []
    deaths: list[BaseException] = []
    workers = Workers(lambda name, error: deaths.append(error))

    def add() -> None:
        for start in range(0, 5000, 50):
            answers.extend(seen.add_new(range(start, start + 100)))  # each but the first 50 comes twice

    workers.start("larm-handler", add)
    while workers.alive():
        checkpoint(seen)
    assert workers.join(30) == []
    assert deaths == []
    checkpoint(seen)
    assert sum(answers) == len(seen) == 5050
    seen.close()


BATCHES = st.lists(
    st.one_of(
        st.lists(st.integers(0, 30), max_size=12),
        st.sampled_from(["cut", "apply", "kill"]),
    ),
    max_size=25,
)


@settings(max_examples=40)
@given(steps=BATCHES, recent=st.integers(0, 9))
def test_it_behaves_like_a_set(tmp_path_factory: pytest.TempPathFactory, steps: list[list[int] | str], recent: int) -> None:
    path = tmp_path_factory.mktemp("seen") / "seen.db"
    seen = DiskSeenSet(path, recent, tail=6)
    model: set[int] = set()
    durable: set[int] = set()  # of the last checkpoint
    pending: list[bytes] = []
    for step in steps:
        if isinstance(step, list):
            expected = []
            for fingerprint in step:
                expected.append(fingerprint not in model)
                model.add(fingerprint)
            assert seen.add_new(step) == expected
        elif step == "cut":
            pending.append(seen.cut())
            durable = set(model)
        elif step == "apply" and pending:
            seen.apply(pending.pop(0))
        elif step == "kill":
            seen.close()
            seen = DiskSeenSet(path, recent, tail=6)
            for delta in pending:
                seen.apply(delta)
            pending.clear()
            model = set(durable)
        assert len(seen) == len(model)
    assert [fingerprint for fingerprint in range(31) if fingerprint in seen] == sorted(model)
    seen.close()


def test_asking_for_an_old_one_makes_it_young_again(tmp_path: Path) -> None:
    seen = DiskSeenSet(tmp_path / "seen.db", 4)
    seen.add_new([1, 2, 3, 4])
    checkpoint(seen)
    assert seen._old == {1, 2}
    for fingerprint in (1, 3, 4):
        seen.add_new([fingerprint])
    assert 1 in seen._old
    seen.close()


def test_recall_asks_only_the_memory(tmp_path: Path) -> None:
    """New ones, ones being written and recent ones are known; old ones on disk may not be."""
    seen = DiskSeenSet(tmp_path / "seen", 2)
    seen.add_new([1, 2, 3])
    assert seen.recall([1, 3, 4, 4]) == {1, 3}
    delta = seen.cut()
    assert seen.recall([1, 2, 3]) == {1, 2, 3}
    seen.apply(delta)
    assert seen.recall([1, 2, 3]) <= {1, 2, 3}
    assert seen.add_new([1, 2, 3]) == [False] * 3
    seen.close()


def test_what_is_assumed_is_not_written(tmp_path: Path) -> None:
    seen = DiskSeenSet(tmp_path / "seen", 2)
    seen.assume(array("q", [1, 2]).tobytes())
    assert 1 in seen
    seen.close()
    seen = DiskSeenSet(tmp_path / "seen", 2)
    assert 1 not in seen
    seen.close()


def test_it_says_of_which_checkpoint_it_is(tmp_path: Path) -> None:
    seen = DiskSeenSet(tmp_path / "seen.db", 10)
    assert seen.epoch == 0
    seen.add_new([1, 2])
    seen.apply(seen.cut(), 7)
    seen.apply(seen.cut(), 8)  # nothing new
    seen.close()
    seen = DiskSeenSet(tmp_path / "seen.db", 10)
    assert seen.epoch == 8
    seen.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM run1 WHERE fingerprint = 3",
        "INSERT INTO run2 VALUES (4)",
        "UPDATE run1 SET fingerprint = fingerprint + 1 WHERE fingerprint = 5",
        "UPDATE run1 SET fingerprint = fingerprint - 4294967296 WHERE fingerprint > 5",
        "DELETE FROM tail",
        "UPDATE tail SET fingerprints = x'0100000000000000'",
        "UPDATE tail SET fingerprints = x'01'",
        "UPDATE runs SET state = 'obsolete' WHERE number = 1",
        "DELETE FROM runs WHERE number = 2",
        "DROP TABLE run2",
    ],
)
def test_a_fingerprint_that_is_lost_or_another_is_noticed(tmp_path: Path, damage: str) -> None:
    seen = DiskSeenSet(tmp_path / "seen.db", 100, tail=2)
    seen.check()
    for fingerprints in ([3, 5, LARGEST], [9, LARGEST - 1], [20]):
        seen.add_new(fingerprints)
        delta = seen.cut()
        seen.apply(delta)
        seen.apply(delta)  # a second time changes nothing
        seen.check()
    seen._runs.writer.write(damage)
    seen.close()
    with pytest.raises(StorageError, match=r"seen.db: .*damaged"):  # noqa: PT012  some of it shows at once
        seen = DiskSeenSet(tmp_path / "seen.db", 100, tail=2)
        seen.check()
    seen.close()


Steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.integers(0, 20), max_size=8)),
        st.tuples(st.just("discard"), st.lists(st.integers(0, 20), max_size=5)),
        st.just(("cut", [])),
        st.just(("apply", [])),
        st.just(("kill", [])),
    ),
    max_size=25,
)


@given(steps=Steps)
@settings(max_examples=50)
def test_what_is_forgotten_was_never_seen(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[int]]]) -> None:
    """In any order with checkpoints, of which the second half may come later, and kills, after which the delta is applied."""
    path = tmp_path_factory.mktemp("seen") / "seen.db"
    seen, model, saved, pending, epoch = DiskSeenSet(path, 4, tail=2), set[int](), set[int](), b"", 0
    for step, numbers in [*steps, ("cut", []), ("kill", [])]:
        if step == "add":
            known = set(model)
            for number, new in zip(numbers, seen.add_new(numbers), strict=True):
                assert new == (number not in known)
                known.add(number)
            model |= set(numbers)
        elif step == "discard":
            seen.discard(numbers)
            model -= set(numbers)
        elif step == "cut" and not pending:
            pending, saved, epoch = seen.cut(), set(model), epoch + 1
        elif step == "apply" and pending:
            seen.apply(pending, epoch)
            pending = b""
        elif step == "kill":
            seen.close()
            seen, model = DiskSeenSet(path, 4, tail=2), set(saved)
            if pending:
                seen.apply(pending, epoch)
                pending = b""
            seen.check()
            assert len(seen) == len(model)
        assert {number for number in range(21) if number in seen} == model
        assert seen.recall(range(21)) <= model
    seen.close()


def test_what_is_forgotten_and_seen_again_is_there_once(tmp_path: Path) -> None:
    """Twice in the runs, it would end the merge that meets both, and each later start."""
    seen = DiskSeenSet(tmp_path / "seen.db", 4, tail=8)
    seen.add_new(range(8))
    seen.apply(seen.cut(), 1)
    seen.discard([3])
    assert seen.add_new([3]) == [True]
    for epoch in range(2, 40):
        seen.apply(seen.cut(), epoch)
        seen.check()
        assert len(seen) == 8 * (epoch - 1)
        seen.add_new(range(8 * (epoch - 1), 8 * epoch))
    assert seen.add_new([3]) == [False]
    seen.close()
