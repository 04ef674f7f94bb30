"""Numbers on the disk, in runs that become fewer and longer."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk.fingerprint_table import FingerprintTable
from larm.kit.disk.sorted_runs import LIVE, OBSOLETE, TARGET


def add(runs: FingerprintTable, numbers: list[int], gone: tuple[int, ...] = (), epoch: int | None = None) -> None:
    runs.show(runs.write(sorted(numbers), gone, epoch if epoch is not None else runs.epoch + 1))


def filled(path: Path, rounds: int, *, seed: int = 1, each: int = 10, tail: int = 16) -> tuple[FingerprintTable, set[int]]:
    choose, runs, model = random.Random(seed), FingerprintTable(path, tail=tail), set[int]()
    for _ in range(rounds):
        new = {choose.getrandbits(63) for _ in range(each)}
        add(runs, sorted(new))
        model |= new
    return runs, model


def states(runs: FingerprintTable) -> list[str]:
    return [run.state for run in runs._sorted.runs]


def test_it_knows_what_it_was_given_and_nothing_else(tmp_path: Path) -> None:
    """Whatever state its merges are in."""
    choose, runs, model = random.Random(2), FingerprintTable(tmp_path / "runs.db", tail=16), set[int]()
    met = set[str]()
    for _ in range(150):
        new = {choose.getrandbits(63) for _ in range(choose.randrange(12))}
        add(runs, sorted(new))
        model |= new
        met |= set(states(runs))
        asked = {*choose.sample(sorted(model), min(len(model), 20)), *(choose.getrandbits(63) for _ in range(20))}
        assert set(runs.look_up(asked)) == asked & model
        assert runs.entries == len(model)
    assert met == {LIVE, TARGET, OBSOLETE}
    runs.check()
    assert set(runs.look_up(model)) == model
    runs.close()


def test_few_are_looked_for_on_the_disk_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of another process, a while after its start, and when there are more of them than the filter was made for."""
    choose, asked = random.Random(3), list[int]()
    find = FingerprintTable._find
    monkeypatch.setattr(
        FingerprintTable, "_find", staticmethod(lambda base, view, some: asked.extend(some) or find(base, view, some))
    )

    def looked_for(runs: FingerprintTable) -> int:
        asked.clear()
        assert runs.look_up([choose.getrandbits(63) for _ in range(1000)]) == []
        return len(asked)

    runs, model = filled(tmp_path / "runs.db", 300)
    assert looked_for(runs) < 300
    runs.close()
    again = FingerprintTable(tmp_path / "runs.db", tail=16)
    assert looked_for(again) == 1000
    for _ in range(12):
        add(again, new := [choose.getrandbits(63) for _ in range(40)])
        model |= set(new)
        assert set(again.look_up(model)) == model
    assert looked_for(again) < 300
    again.close()


def test_runs_stay_few(tmp_path: Path) -> None:
    runs, model = filled(tmp_path / "runs.db", 400, tail=20)
    assert len(model) == 4000
    assert len([state for state in states(runs) if state == LIVE]) <= 12  # 200 times the tail: four sorted_runs
    assert max(run.level for run in runs._sorted.runs) >= 3
    with closing(sqlite3.connect(tmp_path / "runs.db")) as looked:
        tables = {name for (name,) in looked.execute("SELECT name FROM sqlite_master WHERE name LIKE 'run_%'")}
    assert len(tables) <= len(runs._sorted.runs) + 1, "what was merged is dropped"
    runs.close()


def test_a_merge_goes_on_where_nothing_new_has_come(tmp_path: Path) -> None:
    """A write that only removes must not take a merge that moves no row for one that is done."""
    runs, model = filled(tmp_path / "runs.db", 28, each=1, tail=7)
    assert TARGET in states(runs)
    gone = min(model)
    add(runs, [], gone=(gone,))
    runs.check()
    assert set(runs.look_up(model)) == model - {gone}
    runs.close()


def test_it_goes_on_after_a_kill_anywhere(tmp_path: Path) -> None:
    """Closed after each write, in whatever state: the next process goes on with the same merges."""
    choose, model = random.Random(3), set[int]()
    for epoch in range(1, 60):
        runs = FingerprintTable(tmp_path / "runs.db", tail=8)
        assert runs.epoch == epoch - 1
        assert set(runs.look_up(model)) == model
        new = {choose.getrandbits(63) for _ in range(5)}
        runs.write(sorted(new), (), epoch)  # nobody gets to see it
        model |= new
        runs.check()
        runs.close()
    runs = FingerprintTable(tmp_path / "runs.db", tail=8)
    assert runs.entries == len(model) == len(runs.look_up(model))
    runs.close()


def test_a_write_that_fails_changes_nothing(tmp_path: Path) -> None:
    runs, model = filled(tmp_path / "runs.db", 37)
    before, epoch = states(runs), runs.epoch
    pages = runs.writer.row("PRAGMA page_count")[0]
    runs.writer.write(f"PRAGMA max_page_count = {pages:d}")
    new = list(range(50_000))
    with pytest.raises(StorageError, match="disk is full"):
        add(runs, new)
    assert (states(runs), runs.epoch, runs.entries) == (before, epoch, len(model))
    assert set(runs.look_up(model)) == model
    assert not runs.look_up(new)
    runs.check()
    runs.writer.write("PRAGMA max_page_count = 1000000")
    add(runs, new)
    assert runs.look_up(new) == new
    runs.check()
    runs.close()


@pytest.mark.parametrize("rounds", range(30, 40))
def test_what_is_removed_is_gone_from_wherever_it_is(tmp_path: Path, rounds: int) -> None:
    """From the tail, from runs, from those that a merge has moved already, and from those that it will move."""
    runs, model = filled(tmp_path / "runs.db", rounds)
    choose = random.Random(rounds)
    gone = set(choose.sample(sorted(model), len(model) // 2))
    add(runs, [], (*sorted(gone), 2**63 - 1))
    model -= gone
    for _ in range(12):  # merges go on
        new = {choose.getrandbits(63) for _ in range(10)}
        add(runs, sorted(new))
        model |= new
        assert not runs.look_up(gone)
        assert runs.entries == len(model)
    assert set(runs.look_up(model)) == model
    runs.check()
    add(runs, sorted(gone))  # they may come back
    assert set(runs.look_up(gone)) == gone
    runs.check()
    runs.close()


def test_nothing_is_there_twice(tmp_path: Path) -> None:
    """A checkpoint that is applied again, or without a number."""
    runs, model = filled(tmp_path / "runs.db", 12)
    for epoch in (runs.epoch, None):
        runs.show(runs.write(sorted(model), (), epoch))
        assert runs.entries == len(model)
        runs.check()
    runs.close()


def test_who_looks_sees_one_moment(tmp_path: Path) -> None:
    """A command beside a running crawl, which drops runs meanwhile."""
    runs, model = filled(tmp_path / "runs.db", 20)
    looked = FingerprintTable(tmp_path / "runs.db", read_only=True, tail=16)
    choose = random.Random(5)
    for _ in range(30):
        add(runs, sorted({choose.getrandbits(63) for _ in range(10)}))
    assert set(looked.look_up(model)) == model
    assert looked.entries == len(model)
    looked.close()
    runs.close()
