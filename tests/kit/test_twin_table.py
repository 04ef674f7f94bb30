from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.errors import StorageError
from larm.kit.disk.twin_table import TAIL, Entry, TwinTable

A = Entry(1, 1, b"a", (10, 11))
B = Entry(2, 1, b"b")
C = Entry(2**62, 2**62, b"c", (11, 12))


def table(folder: Path, generation: int = 0, tail: int = TAIL) -> TwinTable:
    made = TwinTable(folder / "twins.db", tail=tail)
    try:
        made.open_at(generation)
    except StorageError:
        made.close()
        raise
    return made


def content(twins: TwinTable) -> tuple[object, ...]:
    entries = twins.get_many(range(12))
    return entries, sorted(twins.find(range(40))), {key: twins.followers(key) for key in range(12)}, len(twins)


def test_those_who_lead_are_found_by_their_marks(tmp_path: Path) -> None:
    twins = table(tmp_path)
    twins.put([A, B, C], new=True)
    assert sorted(twins.find([11, 12, 13])) == [(11, 1), (11, 2**62), (12, 2**62)]
    assert twins.get_many([1, 2, 3]) == {1: A, 2: B}
    assert twins.followers(1) == [B]
    assert twins.followers(1, after=2) == []
    twins.put([A._replace(first=2**62, marks=())])
    assert twins.find([10, 11]) == [(11, 2**62)]
    twins.remove([2**62, 77])
    assert twins.find([11, 12]) == []
    assert len(twins) == 2
    twins.close()


def test_many_of_one_mark_are_not_all_told(tmp_path: Path) -> None:
    twins = table(tmp_path)
    twins.put([Entry(key, key, b"", (5,)) for key in range(2000)], new=True)
    assert len(twins.find([5])) == 8
    assert len(twins) == 2000
    twins.close()


def test_what_was_not_committed_was_never_there(tmp_path: Path) -> None:
    twins = table(tmp_path)
    twins.put([A], new=True)
    assert twins.commit() == 1
    assert twins.commit() == 1
    twins.put([C], new=True)
    twins.remove([1])
    twins.close()
    twins = table(tmp_path, 1)
    assert twins.get_many([1, 2**62]) == {1: A}
    twins.close()


_CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["put", "remove", "commit"]),
        st.integers(0, 11),
        st.integers(0, 11),
        st.lists(st.integers(20, 30), max_size=3, unique=True),
    ),
    max_size=25,
)


@settings(max_examples=60)
@given(before=_CHANGES, after=_CHANGES, tail=st.integers(1, 6))
def test_the_last_generation_can_be_undone(
    tmp_path_factory: pytest.TempPathFactory, before: list, after: list, tail: int
) -> None:
    folder = tmp_path_factory.mktemp("twins")
    twins = table(folder, tail=tail)

    def change(changes: list) -> None:
        for what, key, first, marks in changes:
            if what == "put":
                twins.put([Entry(key, first, bytes([first]), tuple(marks) if first == key else ())])
            elif what == "remove":
                twins.remove([key])
            elif changes is before:
                twins.commit()

    change(before)
    generation = twins.commit()
    expected = content(twins)
    change(after)
    twins.commit()
    twins.close()
    twins = table(folder, generation, tail)
    assert content(twins) == expected
    twins.put([A])  # and goes on
    twins.commit()
    twins.close()


def test_a_table_of_another_time_is_refused(tmp_path: Path) -> None:
    twins = table(tmp_path)
    for entry in (A, C):
        twins.put([entry], new=True)
        twins.commit()
    twins.close()
    for generation in (0, 3):
        with pytest.raises(StorageError, match=r"of generation 2, the last checkpoint of"):
            table(tmp_path, generation)


def test_damage_is_named(tmp_path: Path) -> None:
    twins = table(tmp_path)
    twins.put([A], new=True)
    twins.commit()
    twins.close()
    with sqlite3.connect(tmp_path / "twins.db") as connection:
        connection.execute("UPDATE tail SET first = 7")
    connection.close()
    twins = table(tmp_path, 1)
    with pytest.raises(StorageError, match="record 1 is damaged"):
        twins.get_many([1])
    twins.close()
    (tmp_path / "twins.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StorageError, match=r"twins\.db"):
        table(tmp_path)


def crawled(folder: Path, generations: int, tail: int, earlier: dict[int, Entry] | None = None) -> dict[int, Entry]:
    """As a crawl does it, with a process for some generations each; what is to be there."""
    choose, model = random.Random(generations), dict(earlier or {})
    twins, done = table(folder, tail=tail), 0
    for _ in range(generations):
        new = []
        for _ in range(choose.randrange(1, 8)):
            key = choose.getrandbits(62)
            leads = not model or choose.random() < 0.6
            marks = tuple({choose.randrange(50) for _ in range(7)}) if leads else ()
            new.append(Entry(key, key if leads else choose.choice(sorted(model)), b"%d" % key, marks))
        twins.put(new, new=True)
        model |= {entry.key: entry for entry in new}
        changed = choose.sample(sorted(model), min(len(model), 2))
        twins.remove(changed[:1])
        del model[changed[0]]
        for key in changed[1:]:
            model[key] = model[key]._replace(data=b"changed")
            twins.put([model[key]])
        done = twins.commit()
        if choose.random() < 0.3:
            twins.close()
            twins = table(folder, done, tail)
    check(twins, model)
    twins.close()
    return model


def check(twins: TwinTable, model: dict[int, Entry]) -> None:
    """It has what the model has, and nothing else."""
    assert len(twins) == len(model)
    assert twins.get_many([*model, 5]) == model
    for mark in range(50):
        assert sorted(twins.find([mark])) == [(mark, key) for key in sorted(model) if mark in model[key].marks][:8]
    led = sorted({entry.first for entry in model.values() if entry.first != entry.key})
    assert twins.leads(limit=10_000) == led
    for lead in led:
        assert twins.followers(lead, limit=10_000) == sorted(each for each in model.values() if each.first == lead != each.key)
    assert twins.following() == sum(entry.first != entry.key for entry in model.values())


@pytest.mark.parametrize("tail", [5, 40])
def test_it_has_what_came_in_whatever_state_its_runs_are(tmp_path: Path, tail: int) -> None:
    crawled(tmp_path, 150, tail)


def test_few_tables_are_asked(tmp_path: Path) -> None:
    """Whatever the number of entries; and what was merged is dropped."""
    crawled(tmp_path, 200, 4)
    with closing(sqlite3.connect(tmp_path / "twins.db")) as looked:
        for kind in ("entries", "marks", "followers"):
            tables = looked.execute(f"SELECT count(*) FROM sqlite_master WHERE name GLOB '{kind}[0-9]*' AND type = 'table'")
            assert 2 <= tables.fetchone()[0] <= 20


def test_who_looks_sees_one_moment(tmp_path: Path) -> None:
    """A command beside a running crawl, which drops runs meanwhile."""
    twins = table(tmp_path, tail=3)
    for key in range(40):
        twins.put([Entry(key, key, b"", (key,))], new=True)
        twins.commit()
    looked = TwinTable(tmp_path / "twins.db", read_only=True)
    for key in range(40, 90):
        twins.put([Entry(key, key, b"", (key,))], new=True)
        twins.commit()
    assert sorted(looked.get_many(range(100))) == list(range(40))
    looked.close()
    twins.close()


def test_a_run_that_is_missing_is_named(tmp_path: Path) -> None:
    crawled(tmp_path, 30, 5)
    with closing(sqlite3.connect(tmp_path / "twins.db")) as other:
        (name,) = other.execute("SELECT name FROM sqlite_master WHERE name GLOB 'marks[0-9]*' LIMIT 1").fetchone()
        other.execute(f"DROP TABLE {name}")
    with pytest.raises(StorageError, match=f"no table {name}"):
        table(tmp_path, 30)


def test_followers_of_several_runs_are_listed_to_the_last(tmp_path: Path) -> None:
    """Each run has its own next ones: with those that are far ahead, the next question would begin behind the others."""
    twins = table(tmp_path, tail=4)
    for keys in ((5, 6, 7, 8), (1, 20, 30, 40), (9, 10, 11, 50)):
        twins.put([Entry(key, 100, b"") for key in keys], new=True)
        twins.commit()
    found, after = [], -1
    while some := twins.followers(100, after, limit=2):
        assert len(some) <= 2
        found += [entry.key for entry in some]
        after = found[-1]
    assert found == [1, 5, 6, 7, 8, 9, 10, 11, 20, 30, 40, 50]
    twins.close()
