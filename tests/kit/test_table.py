"""Rows by key, fingerprint and parent, and the effect of a crash or a bad disk on them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.errors import StorageError
from larm.kit.disk.database import Database, Values
from larm.kit.disk.table import TAIL, Table, TableRow

A = TableRow(1, 1, b"a", (10, 11), generation=1)
B = TableRow(2, 1, b"b", generation=1)
C = TableRow(2**62, 2**62, b"c", (11, 12), generation=1)


def opened(folder: Path, generation: int = 0, tail: int = TAIL) -> Table:
    made = Table(folder / "table.db", tail=tail)
    try:
        made.open_at(generation)
    except StorageError:
        made.close()
        raise
    return made


def content(table: Table) -> tuple[object, ...]:
    entries = table.get_many(range(12))
    return entries, sorted(table.find(range(40))), {key: table.children(key) for key in range(12)}, len(table)


def test_rows_are_found_by_fingerprint_and_listed_by_parent(tmp_path: Path) -> None:
    table = opened(tmp_path)
    table.put([A, B, C], new=True)
    assert sorted(table.find([11, 12, 13])) == [(11, 1), (11, 2**62), (12, 2**62)]
    assert table.get_many([1, 2, 3]) == {1: A, 2: B}
    assert table.children(1) == [B]
    assert table.children(1, after=2) == []
    table.put([A._replace(parent=2**62, fingerprints=())])
    assert table.find([10, 11]) == [(11, 2**62)]
    table.remove([2**62, 77])
    assert table.find([11, 12]) == []
    assert len(table) == 2
    table.close()


def test_find_returns_eight_rows_of_a_fingerprint_that_many_share(tmp_path: Path) -> None:
    table = opened(tmp_path)
    table.put([TableRow(key, key, b"", (5,)) for key in range(2000)], new=True)
    assert len(table.find([5])) == 8
    assert len(table) == 2000
    table.close()


def test_a_generation_that_was_not_committed_leaves_nothing(tmp_path: Path) -> None:
    table = opened(tmp_path)
    table.put([A], new=True)
    assert table.commit() == 1
    assert table.commit() == 1
    table.put([C], new=True)
    table.remove([1])
    table.close()
    table = opened(tmp_path, 1)
    assert table.get_many([1, 2**62]) == {1: A}
    table.close()


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
    folder = tmp_path_factory.mktemp("table")
    table = opened(folder, tail=tail)

    def change(changes: list) -> None:
        for what, key, first, fingerprints in changes:
            if what == "put":
                table.put([TableRow(key, first, bytes([first]), tuple(fingerprints) if first == key else ())])
            elif what == "remove":
                table.remove([key])
            elif changes is before:
                table.commit()

    change(before)
    generation = table.commit()
    expected = content(table)
    change(after)
    table.commit()
    table.close()
    table = opened(folder, generation, tail)
    assert content(table) == expected
    table.put([A])  # and goes on
    table.commit()
    table.close()


def test_all_rows_return_when_the_generation_that_removed_them_is_undone(tmp_path: Path) -> None:
    table = opened(tmp_path, tail=4)
    for key in range(9):
        table.put([TableRow(key, key % 2, b"old", (20 + key % 3,))])
        table.commit()
    before = content(table)
    table.put([TableRow(9, 9, b"new"), TableRow(1, 1, b"changed")])
    table.clear()
    assert (len(table), table.find(range(40)), table.children(1)) == (0, [], [])
    assert table.commit() == 10
    table.close()
    table = opened(tmp_path, 9, tail=4)
    assert content(table) == before
    table.close()


def test_a_table_of_another_generation_is_refused(tmp_path: Path) -> None:
    table = opened(tmp_path)
    for row in (A, C):
        table.put([row], new=True)
        table.commit()
    table.close()
    for generation in (0, 3):
        with pytest.raises(StorageError, match=r"of generation 2, the last checkpoint of"):
            opened(tmp_path, generation)


def test_damage_is_named(tmp_path: Path) -> None:
    table = opened(tmp_path)
    table.put([A], new=True)
    table.commit()
    table.close()
    with sqlite3.connect(tmp_path / "table.db") as connection:
        connection.execute("UPDATE tail SET parent = 7")
    connection.close()
    table = opened(tmp_path, 1)
    with pytest.raises(StorageError, match="record 1 is damaged"):
        table.get_many([1])
    table.close()
    (tmp_path / "table.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StorageError, match=r"table\.db"):
        opened(tmp_path)


def crawled(folder: Path, generations: int, tail: int, earlier: dict[int, TableRow] | None = None) -> dict[int, TableRow]:
    """Write as a crawl does, with a process for some generations each; return the rows to expect."""
    choose, model = random.Random(generations), dict(earlier or {})
    table, done = opened(folder, tail=tail), 0
    for _ in range(generations):
        new = []
        for _ in range(choose.randrange(1, 8)):
            key = choose.getrandbits(62)
            leads = not model or choose.random() < 0.6
            fingerprints = tuple({choose.randrange(50) for _ in range(7)}) if leads else ()
            parent = key if leads else choose.choice(sorted(model))
            new.append(TableRow(key, parent, b"%d" % key, fingerprints, done + 1))
        table.put(new, new=True)
        model |= {row.key: row for row in new}
        changed = choose.sample(sorted(model), min(len(model), 2))
        table.remove(changed[:1])
        del model[changed[0]]
        for key in changed[1:]:
            model[key] = model[key]._replace(data=b"changed", generation=done + 1)
            table.put([model[key]])
        done = table.commit()
        if choose.random() < 0.3:
            table.close()
            table = opened(folder, done, tail)
    check(table, model)
    table.close()
    return model


def check(table: Table, model: dict[int, TableRow]) -> None:
    """The table has the rows of the model, and no others."""
    assert len(table) == len(model)
    assert table.get_many([*model, 5]) == model
    assert walked(lambda last: table.after(last, 7)) == sorted(model.values())
    for print_ in range(50):
        sharing = [(print_, key) for key in sorted(model) if print_ in model[key].fingerprints]
        assert sorted(table.find([print_])) == sharing[:8]
    led = sorted({row.parent for row in model.values() if row.parent != row.key})
    assert table.parents(limit=10_000) == led
    for lead in led:
        children = sorted(row for row in model.values() if row.parent == lead != row.key)
        assert table.children(lead, limit=10_000) == children
        assert walked(lambda last, lead=lead: table.children(lead, last, 2)) == children  # type: ignore[misc]
    assert table.count_children() == sum(row.parent != row.key for row in model.values())


def walked(some: Callable[[int], Sequence[TableRow]]) -> list[TableRow]:
    found: list[TableRow] = []
    while more := some(found[-1].key if found else -1):
        found += more
    return found


@pytest.mark.parametrize("tail", [5, 40])
def test_rows_are_complete_in_every_state_of_the_runs(tmp_path: Path, tail: int) -> None:
    crawled(tmp_path, 150, tail)


def test_the_number_of_runs_stays_small(tmp_path: Path) -> None:
    """With any number of rows; merged runs are dropped."""
    crawled(tmp_path, 200, 4)
    with closing(sqlite3.connect(tmp_path / "table.db")) as looked:
        for kind in ("rows", "prints", "children"):
            tables = looked.execute(f"SELECT count(*) FROM sqlite_master WHERE name GLOB '{kind}[0-9]*' AND type = 'table'")
            assert 2 <= tables.fetchone()[0] <= 20


def test_a_reader_sees_one_moment_while_another_process_drops_runs(tmp_path: Path) -> None:
    table = opened(tmp_path, tail=3)
    for key in range(40):
        table.put([TableRow(key, key, b"", (key,))], new=True)
        table.commit()
    reader = Table(tmp_path / "table.db", read_only=True)
    with reader.moment():
        assert len(reader) == 40
        for key in range(40, 90):
            table.put([TableRow(key, key, b"", (key,))], new=True)
            table.commit()
        assert sorted(reader.get_many(range(100))) == list(range(40))
    assert sorted(reader.get_many(range(100))) == list(range(90)), "the next moment is a later one"
    reader.close()
    table.close()


def test_a_run_that_is_missing_is_named(tmp_path: Path) -> None:
    crawled(tmp_path, 30, 5)
    with closing(sqlite3.connect(tmp_path / "table.db")) as other:
        (name,) = other.execute("SELECT name FROM sqlite_master WHERE name GLOB 'prints[0-9]*' LIMIT 1").fetchone()
        other.execute(f"DROP TABLE {name}")
    with pytest.raises(StorageError, match=f"no table {name}"):
        opened(tmp_path, 30)


def test_children_in_several_runs_are_listed_to_the_last(tmp_path: Path) -> None:
    """Each run has its own next rows. If the rows far ahead were returned, the next call would skip the others."""
    table = opened(tmp_path, tail=4)
    for keys in ((5, 6, 7, 8), (1, 20, 30, 40), (9, 10, 11, 50)):
        table.put([TableRow(key, 100, b"") for key in keys], new=True)
        table.commit()
    found, after = [], -1
    while some := table.children(100, after, limit=2):
        assert len(some) <= 2
        found += [row.key for row in some]
        after = found[-1]
    assert found == [1, 5, 6, 7, 8, 9, 10, 11, 20, 30, 40, 50]
    table.close()


def rows(*pairs: tuple[int, bytes], parent: int | None = None) -> list[TableRow]:
    return [TableRow(key, key if parent is None else parent, data) for key, data in pairs]


def test_rows_are_written_replaced_and_read(tmp_path: Path) -> None:
    with closing(Table(tmp_path / "table.db")) as table:
        assert table.generation == 0
        table.write(1, rows((5, b"one"), (2**63 - 1, b"")))
        table.write(2, rows((5, b"five")))
        assert table.get(1) is None
        assert [(row.key, row.generation, row.data) for row in table.after(-1, 10)] == [(5, 2, b"five"), (2**63 - 1, 1, b"")]
        assert (len(table), table.generation) == (2, 2)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE tail SET data = CAST(zeroblob(8) AS BLOB)",
        "UPDATE tail SET key = 2",
        "UPDATE tail SET data = 'text'",
        "UPDATE tail SET data = substr(data, 1, 5)",
        "UPDATE tail SET parent = 7",
    ],
)
def test_a_damaged_row_is_refused(tmp_path: Path, damage: str) -> None:
    with closing(Table(tmp_path / "table.db")) as table:
        table.write(1, rows((1, b"one")))
        with closing(sqlite3.connect(tmp_path / "table.db", isolation_level=None)) as other:
            other.execute(damage)
        with pytest.raises(StorageError, match=r"table.db: record \d is damaged"):
            table.after(-1, 10)


def test_a_generation_that_fails_halfway_leaves_nothing(tmp_path: Path) -> None:
    def some() -> Iterator[TableRow]:
        yield from rows((1, b"one"))
        raise KeyError("no more")

    with closing(Table(tmp_path / "table.db")) as table:
        with pytest.raises(KeyError):
            table.write(1, some())
        assert (len(table), table.generation) == (0, 0)
        table.write(1, rows((1, b"one")))
        assert len(table) == 1


def test_a_generation_leaves_nothing_when_any_statement_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second write makes runs of the tail; each of its statements fails once."""
    real, statements, failing = Database.write, 0, -1

    def write(self: Database, statement: str, values: Values = ()) -> int:
        nonlocal statements
        statements += 1
        if statements == failing:
            raise StorageError("the disk is full")
        return real(self, statement, values)

    monkeypatch.setattr(Database, "write", write)
    old, new = rows(*((key, b"old") for key in range(8))), rows(*((key, b"new") for key in range(4, 12)))
    for at in range(1, 100):
        with closing(Table(tmp_path / f"{at}.db", tail=8)) as table:
            table.open_at(0)
            table.write(1, old)
            statements, failing = 0, at
            try:
                table.write(2, new, [0])
                break
            except StorageError:
                failing = -1
            assert ([row.data for row in table.after(-1, 99)], table.generation) == ([b"old"] * 8, 1)
            table.write(2, new, [0])
            assert [row.key for row in table.after(-1, 99) if row.data == b"new"] == list(range(4, 12))
            assert (len(table), table.generation) == (11, 2)
    assert at > 20


def test_children_are_listed_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "table.db"
    with closing(Table(path)) as table:
        table.write(2, [row for key in (9, 1, 5, 3, 2) for row in rows((key, b"new"), parent=107 + key % 2)])
        assert [each.key for each in table.children(108, -1, 2)] == [1, 3]
        assert [each.key for each in table.children(108, 3, 3)] == [5, 9]
        table.write(3, rows((4, b"new"), parent=107), [1, 5, 77])
        assert [each.key for each in table.children(108, -1, 9)] == [3, 9]
    with closing(Table(path)) as table, closing(Table(path, read_only=True)) as reader:
        assert (len(table), table.generation) == (4, 3)
        assert [each.data for each in reader.children(107, -1, 9)] == [b"new", b"new"]


def test_the_last_generation_is_amended_and_the_next_one_undone(tmp_path: Path) -> None:
    """An amended row stays; a changed one is restored by the function of the caller; a new one goes, a removed one returns."""
    path = tmp_path / "table.db"
    with closing(Table(path)) as table:
        table.open_at(0)
        table.write(1, rows((1, b"one"), (2, b"two"), (3, b"three")))
        table.write(1, rows((1, b"amended")))
        table.write(2, rows((2, b"later"), (4, b"new")), [3])
    with closing(Table(path)) as table:
        table.open_at(1, lambda old, later: old._replace(data=old.data + b" before " + later.data))
        found = {row.key: (row.data, row.generation) for row in table.after(-1, 9)}
        assert found == {1: (b"amended", 1), 2: (b"two before later", 1), 3: (b"three", 1)}
        assert table.generation == 1


def write_all(table: Table, model: dict[int, TableRow], choose: random.Random, generation: int) -> None:
    """Write some new rows, replace some, and remove some."""
    puts = {choose.getrandbits(62): bytes([generation % 256]) for _ in range(choose.randrange(6))}
    known = sorted(model)
    puts |= dict.fromkeys(choose.sample(known, min(3, len(known))), b"again")
    gone = [key for key in choose.sample(known, min(2, len(known))) if key not in puts]
    new = [TableRow(key, 1 + key % 3, data, (), generation) for key, data in puts.items()]
    table.write(generation, new, gone)
    model |= {row.key: row for row in new}
    for key in gone:
        del model[key]


@pytest.mark.parametrize("tail", [4, 25])
def test_written_rows_are_complete_in_every_state_of_the_runs(tmp_path: Path, tail: int) -> None:
    """With another process every now and then, and one that only reads beside it."""
    path, choose, model = tmp_path / "table.db", random.Random(tail), dict[int, TableRow]()
    table, reader = Table(path, tail=tail), Table(path)
    for generation in range(1, 200):
        write_all(table, model, choose, generation)
        if choose.random() < 0.1:
            table.close()
            table = Table(path, tail=tail)
            check(reader, model)
    check(table, model)
    check(reader, model)
    reader.close()
    table.close()
    with closing(Table(path, read_only=True)) as reader:
        assert walked(lambda last: reader.after(last, 7)) == sorted(model.values())
