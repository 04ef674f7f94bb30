from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.errors import StorageError
from larm.kit.disk.twin_table import Entry, TwinTable

A = Entry(1, 1, b"a", (10, 11))
B = Entry(2, 1, b"b")
C = Entry(2**62, 2**62, b"c", (11, 12))


def table(folder: Path, generation: int = 0) -> TwinTable:
    made = TwinTable(folder / "twins.db")
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


@settings(max_examples=60, deadline=None)
@given(before=_CHANGES, after=_CHANGES)
def test_the_last_generation_can_be_undone(tmp_path_factory: pytest.TempPathFactory, before: list, after: list) -> None:
    folder = tmp_path_factory.mktemp("twins")
    twins = table(folder)

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
    twins = table(folder, generation)
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
        connection.execute("UPDATE entries SET first = 7")
    connection.close()
    twins = table(tmp_path, 1)
    with pytest.raises(StorageError, match="record 1 is damaged"):
        twins.get_many([1])
    twins.close()
    (tmp_path / "twins.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StorageError, match=r"twins\.db"):
        table(tmp_path)
