"""Rows of bytes by a number, in runs that are few, and in the transactions of who owns them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk import letter_box
from larm.kit.disk.database import Database
from larm.kit.disk.letter_box import Done, Letter, Size
from larm.kit.disk.sorted_runs import LIVE, OBSOLETE, TARGET

Model = dict[tuple[int, int], bytes]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "letters.db", "")
    yield made
    made.close()


def write(database: Database, new: list[Letter], done: list[Done], run: int = 16) -> None:
    with database.transaction():
        letter_box.write(database, new, done, run=run)


def there(database: Database, boxes: set[int]) -> Model:
    found = letter_box.read(database, boxes)
    assert len({each[:2] for each in found}) == len(found), "none is there twice"
    return {(box, number): data for box, number, data in found}


def states(database: Database) -> list[str]:
    return [state for (state,) in database.rows("SELECT state FROM letters_runs")]


def letters(choose: random.Random, model: Model, last: int, most: int = 12) -> list[Letter]:
    """Some more."""
    new = [Letter(choose.randrange(40), last + number, choose.randbytes(5)) for number in range(1, choose.randrange(most) + 1)]
    model |= {(box, number): data for box, number, data in new}
    return new


def taken(model: Model, box: int) -> list[Done]:
    """All of a box."""
    gone = [key for key in model if key[0] == box]
    for key in gone:
        del model[key]
    return [Done(box, max(number for _, number in gone), len(gone))] if gone else []


def test_where_nothing_was_ever_written_nothing_is_there(database: Database) -> None:
    assert letter_box.size_of(database) == Size(0, 0)
    assert letter_box.read(database, [1, 2]) == []
    letter_box.check(database)
    write(database, [], [])
    assert database.rows("SELECT name FROM sqlite_master") == []


@pytest.mark.parametrize("seed", range(3))
def test_it_has_what_it_was_given_and_was_not_taken(database: Database, tmp_path: Path, seed: int) -> None:
    """Whatever state its merges are in, for who writes and for who reads beside that, and after a kill anywhere."""
    choose, model, met, last = random.Random(seed), Model(), set[str](), 0
    reader = Database(tmp_path / "letters.db", "")
    for _ in range(90):
        new = letters(choose, model, last)
        last = max(last, *(each.number for each in new)) if new else last
        box = choose.randrange(40)
        done = taken(model, box) if choose.random() < 0.5 else []
        write(database, new, done)
        met |= set(states(database)) if last else set()
        asked = {choose.randrange(40) for _ in range(5)}
        wanted = {key: data for key, data in model.items() if key[0] in asked}
        assert there(database, asked) == there(reader, asked) == wanted
        with closing(Database(tmp_path / "letters.db", "")) as after_a_kill:
            assert letter_box.size_of(after_a_kill) == Size(len(model), last)
            letter_box.check(after_a_kill)
    assert met == {LIVE, TARGET, OBSOLETE}
    assert there(database, set(range(40))) == model
    reader.close()


def test_what_was_not_committed_was_never_there(database: Database) -> None:
    choose, model, last = random.Random(5), Model(), 0
    for _ in range(60):
        before = dict(model)
        new = letters(choose, model, last)
        with suppress(ZeroDivisionError), database.transaction():
            letter_box.write(database, new, [], run=16)
            raise ZeroDivisionError
        assert there(database, set(range(40))) == before
        write(database, new, [])
        last = letter_box.size_of(database).last
        assert there(database, set(range(40))) == model


def test_runs_stay_few_and_large_ones_are_not_written_again(database: Database) -> None:
    for start in range(0, 6_400, 10):
        write(database, [Letter(number * 7 % 1_000, number, b"x") for number in range(start + 1, start + 11)], [], run=10)
    sorted_runs = database.rows("SELECT level, count(*) FROM letters_runs WHERE state = 'live' GROUP BY level")
    assert max(level for level, _ in sorted_runs) == 2
    assert sum(number for _, number in sorted_runs) <= 6_400 // 160 + 8
    letter_box.check(database)


def test_there_are_never_more_runs_than_sqlite_can_look_into(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """500 tables, which would end a crawl of which 130 million URLs wait, or have waited."""
    monkeypatch.setattr("larm.kit.disk.sorted_runs._MANY", 8)
    with database.transaction():
        for number in range(1, 421):
            letter_box.write(database, [Letter(number % 7, number, b"")], [], run=1)
    assert len(states(database)) < 25
    assert len(there(database, {1, 2})) == 120
    letter_box.check(database)


def test_a_run_of_which_all_is_taken_is_dropped(database: Database) -> None:
    new = [Letter(number, number, b"x" * 1_000) for number in range(1, 21)]
    write(database, new, [])
    write(database, [], [Done(each.box, each.number, 1) for each in new])
    write(database, [Letter(1, 21, b"y")], [])
    write(database, [Letter(1, 22, b"y")], [])
    assert states(database) == []
    assert there(database, {1}) == {(1, 21): b"y", (1, 22): b"y"}


def test_what_is_taken_leaves_one_mark_and_is_merged_away(database: Database) -> None:
    """Nothing is looked for in the runs when it is taken; they never come to much more than twice what is there."""
    model = Model({(number % 500, number): b"x" for number in range(1, 5_001)})
    write(database, [Letter(*key, data) for key, data in sorted(model.items(), key=lambda each: each[0][1])], [])
    boxes = sorted({box for box, _ in model})
    for at in range(0, 480, 10):
        write(database, [], [mark for box in boxes[at : at + 10] for mark in taken(model, box)])
        if at > 250:
            tables = [f"letters{number}" for (number,) in database.rows("SELECT number FROM letters_runs WHERE state = 'live'")]
            lie = sum(database.row(f"SELECT count(*) FROM {table}")[0] for table in tables)
            assert lie <= 2 * len(model) + 2_500, "half of what was there is the most that waits to be merged away"
        letter_box.check(database)
    assert there(database, set(boxes)) == model
    write(database, [Letter(0, 5_001, b"again")], [])
    assert there(database, {0, 1}) == {(0, 5_001): b"again"}


def test_where_all_is_taken_there_are_no_marks(database: Database) -> None:
    """A larm that knows of none may go on with the directory."""
    model = Model({(number, number): b"x" for number in range(1, 60)})
    write(database, [Letter(*key, b"x") for key in sorted(model)], [])
    write(database, [], [mark for box in range(1, 60) for mark in taken(model, box)])
    assert database.row("SELECT count(*) FROM letters_done") == database.row("SELECT count(*) FROM letters_tail") == (0,)
    assert set(states(database)) == {OBSOLETE}
    letter_box.check(database)
    write(database, [Letter(1, 60, b"y")], [])
    assert (there(database, {1, 2}), states(database)) == ({(1, 60): b"y"}, [])


@pytest.mark.parametrize("data", [b"", b"\0\0\0\0x", "text"])
def test_a_damaged_row_is_named(database: Database, data: object) -> None:
    write(database, [Letter(3, 1, b"x")], [])
    database.write("UPDATE letters_tail SET data = ?", (data,))
    with pytest.raises(StorageError, match="row 1 of 3 is damaged"):
        letter_box.read(database, [3])


def test_a_row_in_the_place_of_another_is_damage(database: Database) -> None:
    write(database, [Letter(3, 1, b"x"), Letter(4, 2, b"y")], [])
    database.write("UPDATE letters_tail SET box = 5 WHERE box = 4")
    with pytest.raises(StorageError, match="row 2 of 5 is damaged"):
        letter_box.read(database, [5])


def test_a_row_that_is_lost_is_found_by_the_check(database: Database) -> None:
    write(database, [Letter(box, box + 1, b"x") for box in range(40)], [])
    letter_box.check(database)
    (run,) = database.row("SELECT number FROM letters_runs")
    database.write(f"DELETE FROM letters{run} WHERE box = 7")
    with pytest.raises(StorageError, match="damaged"):
        letter_box.check(database)


def test_a_table_that_is_missing_is_named(database: Database, tmp_path: Path) -> None:
    write(database, [Letter(box, box + 1, b"x") for box in range(40)], [])
    with closing(sqlite3.connect(tmp_path / "letters.db")) as other:
        other.execute("DROP TABLE letters1")
    with pytest.raises(StorageError, match="no table letters1"):
        letter_box.read(database, [7])
