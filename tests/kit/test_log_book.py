"""Whole lines, flushed together, cut back together (LARM-96, LARM-98)."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.errors import StorageError
from larm.kit.logs import log_file
from larm.kit.logs.log_book import LogBook, LogFile, time_of_day
from larm.kit.logs.log_file import blocks, encode_lines
from larm.kit.threads.workers import Workers

ROOT = Path(__file__).parents[2]


def test_lines_are_written_by_the_flush(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "new" / "a.log", "time;what")
    log.line("one")
    log.lines(["two\ttabs", "drei: ü"])
    log.lines([])
    assert log.path.read_bytes() == b""
    expected = "time;what\none\ntwo\ttabs\ndrei: ü\n".encode()
    assert log.position == len(expected)
    log.flush()
    assert log.path.read_bytes() == expected
    log.line("four\n")
    log.sync()
    log.close()
    log.close()
    assert log.path.read_bytes() == expected + b"four\n"
    assert repr(log).endswith(f"a.log {len(expected) + 5} bytes, 0 buffered>")


def test_a_log_that_exists_is_appended_to_without_a_second_header(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    for text in ("one", "two"):
        log = LogFile(path, "header")
        log.line(text)
        log.close()
    path.write_text(path.read_text() + "half a li")  # killed
    log = LogFile(path, "header")
    log.line("three")
    log.close()
    assert path.read_text() == "header\none\ntwo\nhalf a li\nthree\n"


def test_one_that_is_read_may_be_cut_back_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by a crawl that starts. Who had it mapped was killed by SIGBUS."""
    monkeypatch.setattr(log_file, "_BLOCK", 5)
    path = tmp_path / "a.log"
    path.write_bytes(b"12345\n12\n" + b"123456\n" * 100_000)
    read = blocks(path)
    assert [next(read), next(read)] == [b"12345\n", b"12\n123456\n"]
    with path.open("rb+") as log:
        log.truncate(6)
    assert all(block.endswith(b"\n") and block.strip() for block in list(read)[:-1])
    assert [*blocks(path)] == [b"12345\n"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain\ttab", "plain\ttab"),
        ("forged\n12:00:00:000: ok", r"forged\x0a12:00:00:000: ok"),
        ("cr\rlf\r\n", r"cr\x0dlf\x0d"),
        ("\x1b[31mred\x07\x00\x7f", r"\x1b[31mred\x07\x00\x7f"),
        ("c1 \x9b31m \x85", r"c1 \x9b31m \x85"),
        ("lines \u2028 \u2029", r"lines \u2028 \u2029"),
        ("no harm \u00a0 © ’ 漢 \U0001f600", "no harm \u00a0 © ’ 漢 \U0001f600"),
        ("lone \ud800 surrogate", r"lone \ud800 surrogate"),
        ("", ""),
    ],
)
def test_no_text_forges_a_line_or_moves_the_cursor(text: str, line: str) -> None:
    assert encode_lines([text]).decode() == line + "\n"
    assert encode_lines(["before", text, "after"]).decode() == f"before\n{line}\nafter\n"


@given(st.lists(st.text(st.characters(codec=None), max_size=20), min_size=1, max_size=5))
def test_as_many_lines_as_texts(texts: list[str]) -> None:
    lines = encode_lines(texts).decode()
    assert len(lines.splitlines()) == len(texts)
    assert not any((ord(char) < 32 and char not in "\t\n") or 127 <= ord(char) < 160 for char in lines)


def test_much_is_written_before_the_flush(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "a.log")
    for _ in range(300):
        log.line("x" * 1023)
    written = log.path.stat().st_size
    assert 256 * 1024 < written < 300 * 1024
    assert written % 1024 == 0
    log.close()
    assert log.path.stat().st_size == log.position == 300 * 1024


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "a.log")
    workers = Workers(lambda name, error: log.line(f"{name} died"))

    def work(letter: str) -> None:
        for _ in range(200):
            log.lines([letter * 50, letter.upper() * 50])
            log.flush()

    for letter in "abc":
        workers.start(f"larm-{letter}", lambda letter=letter: work(letter))  # type: ignore[misc]
    assert workers.join(30) == []
    log.close()
    lines = log.path.read_text().splitlines()
    pairs = set(zip(lines[::2], lines[1::2], strict=True))
    assert pairs == {(letter * 50, letter.upper() * 50) for letter in "abc"}
    assert len(lines) == 1200


def test_a_full_disk_is_told_and_nothing_is_forgotten() -> None:
    log = LogFile(Path("/dev/full"))
    log.line("one")
    for _ in range(2):
        with pytest.raises(StorageError, match="/dev/full: No space left on device: the disk is full"):
            log.flush()
    assert log.position == 4
    with pytest.raises(StorageError):
        log.close()
    log.close()


def test_a_log_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "a.log").mkdir()
    with pytest.raises(StorageError, match=r"a.log: Is a directory"):
        LogFile(tmp_path / "a.log")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file: File exists"):
        LogBook(tmp_path / "file")


def test_a_book_opens_each_log_once(tmp_path: Path) -> None:
    book = LogBook(tmp_path / "logs")
    assert book.open("thread0") is book.open("thread0", "other header")
    assert book.open("a").path == tmp_path / "logs" / "a.log"
    for name in ("", "../a", "a/b", "/a"):
        with pytest.raises(ValueError, match="no name of a log"):
            book.open(name)
    book.open("a").line("one")
    book.sync()
    assert (tmp_path / "logs" / "a.log").read_text() == "one\n"
    assert repr(book).endswith("logs: thread0, a>")
    book.close()


def test_only_what_is_new_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = LogBook(tmp_path)
    a, b = book.open("a"), book.open("b")
    book.sync()
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", synced.append)
    book.sync()
    assert synced == []
    b.line("new")
    book.sync()
    book.sync()
    assert synced == [b._file.fileno()]
    a.sync()
    assert len(synced) == 1, "nothing of an empty file can be lost"
    a.line("again")
    a.sync()
    assert synced[1:] == [a._file.fileno()]
    assert (tmp_path / "b.log").read_text() == "new\n"
    book.close()


def test_positions_count_what_is_buffered_and_the_next_run_goes_back_to_them(tmp_path: Path) -> None:
    book = LogBook(tmp_path)
    a, b = book.open("a", "header"), book.open("b")
    a.line("kept")
    positions = book.positions()
    assert positions == {"a": 12, "b": 0}
    book.sync()  # the checkpoint makes them durable before it notes them
    for log in (a, b, book.open("later", "header")):
        log.line("dropped")
    book.sync()
    book.close()
    book = LogBook(tmp_path)
    assert book.go_back(positions) == {}
    for log in (book.open("a", "header"), book.open("b"), book.open("later", "header")):
        log.line("new")
    assert book.positions() == {"a": 16, "b": 4, "later": 11}
    book.close()
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert texts == {"a.log": "header\nkept\nnew\n", "b.log": "new\n", "later.log": "header\nnew\n"}


def test_a_killed_process_is_cut_back_to_its_checkpoint(tmp_path: Path) -> None:
    script = """
import json, os, sys
from pathlib import Path
from larm.kit.logs.log_book import LogBook
book = LogBook(Path(sys.argv[1]))
a, b = book.open("a"), book.open("b", "header")
a.lines(["1", "2"])
positions = book.positions()
b.line("between the cut and the flush")
book.sync()
print(json.dumps(positions), flush=True)
a.line("after"); book.open("c", "header").line("after"); a.flush()
with open(a.path, "ab") as file:
    file.write(b"half")
a.line("never flushed")
os._exit(9)
"""
    run = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], check=False, stdout=subprocess.PIPE, cwd=ROOT, timeout=60
    )
    assert run.returncode == 9
    (tmp_path / "users.log").write_text("not ours")
    positions = {"a": 4, "b": 7}
    assert run.stdout == b'{"a": 4, "b": 7}\n'
    book = LogBook(tmp_path)
    book.go_back(positions)
    assert book.positions() == positions  # also of those that are not open yet
    for name in ("a", "b", "c"):
        book.open(name, "header" if name != "a" else None).line("resumed")
    book.close()
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert texts == {
        "a.log": "1\n2\nresumed\n",
        "b.log": "header\nresumed\n",
        "c.log": "header\nresumed\n",
        "users.log": "not ours",
    }


def test_a_log_that_is_long_begins_anew_and_keeps_one_old_part(tmp_path: Path) -> None:
    book = LogBook(tmp_path, size=20)
    log, short = book.open("a", "head"), book.open("b")
    gone = []
    for n in range(4):
        log.line(f"line {n} and more")
        short.line("x")
        log.flush()
        log.line("late")  # is buffered, and comes into the new file
        gone.append(book.turn())
        book.sync()
    assert book.turns() == {"a": 4}
    assert gone == [0, 21, 26, 26]
    book.close()
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert texts == {"a.log": "head\nlate\n", "a.log.4": "head\nlate\nline 3 and more\n", "b.log": "x\n" * 4}


def test_a_turn_that_no_checkpoint_knows_is_taken_back(tmp_path: Path) -> None:
    book = LogBook(tmp_path, size=20)
    log = book.open("a")
    for n in range(2):
        log.line(f"part {n} of the log")
        log.flush()
        if n == 0:
            book.turn()
    positions, turns = book.positions(), book.turns()
    book.sync()
    log.line("after the checkpoint")
    log.flush()
    book.turn()
    log.line("after the turn")
    book.close()
    assert {path.name for path in tmp_path.iterdir()} == {"a.log", "a.log.2"}
    book = LogBook(tmp_path, size=20)
    book.go_back(positions, turns)
    book.open("a").line("resumed")
    book.close()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.log": "part 1 of the log\nresumed\n"}


def test_a_turn_before_the_first_checkpoint_leaves_nothing(tmp_path: Path) -> None:
    book = LogBook(tmp_path, size=2)
    book.open("a").line("one")
    book.open("a").flush()
    book.turn()
    book.close()
    book = LogBook(tmp_path)
    book.go_back({})
    book.open("a").line("two")
    book.close()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.log": "two\n"}


@pytest.mark.parametrize("runs", [1, 2])
def test_a_kill_in_the_middle_of_a_turn_loses_no_line(tmp_path: Path, runs: int) -> None:
    """The old part has its name, the new file is not there yet. The next run may be killed before its first checkpoint."""
    (tmp_path / "a.log.3").write_text("noted\nlater\n")
    for _ in range(runs):
        book = LogBook(tmp_path, size=20)
        assert book.go_back({"a": 6}, {"a": 2}) == {}
        book.open("a").line("again")
        book.close()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.log": "noted\nagain\n"}


def test_what_others_cut_or_removed_is_told_and_goes_on_from_what_is_left(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("1\nhal")
    noted = {"a": 9, "gone": 4, "empty": 0}
    book = LogBook(tmp_path)
    assert book.go_back(noted) == {tmp_path / "a.log": 5, tmp_path / "gone.log": 0}
    for name in noted:
        book.open(name).line("x")
    book.close()
    book = LogBook(tmp_path)  # killed before a checkpoint noted the new lengths
    assert book.go_back(noted) == {tmp_path / "a.log": 8, tmp_path / "gone.log": 2}
    assert book.positions() == {"a": 8, "gone": 2, "empty": 0}
    assert (tmp_path / "a.log").read_text() == "1\nhal\nx\n"


def test_a_book_closes_all_before_it_complains(tmp_path: Path) -> None:
    (tmp_path / "full.log").symlink_to("/dev/full")
    book = LogBook(tmp_path)
    book.open("full").line("x")
    book.open("good").line("y")
    with pytest.raises(StorageError, match=r"full.log: No space left"):
        book.close()
    assert (tmp_path / "good.log").read_text() == "y\n"


def test_time_of_day() -> None:
    class Clock:
        def wall(self) -> float:
            return datetime(2002, 6, 7, 8, 9, 5, 42_999).timestamp()

    assert time_of_day(Clock().wall()) == "08:09:05:042"
