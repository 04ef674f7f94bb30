"""What was acknowledged is there after a kill, whatever was being written then; what was not is cut off."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk import journal as module
from larm.kit.disk.journal import Journal

RECORDS = [b"add http://a/", b"", b"block b" * 40]


def write(path: Path, records: list[bytes] = RECORDS) -> list[int]:
    journal = Journal(path, 0)
    ends = [journal.append(record) for record in records]
    journal.close()
    return ends


def left(path: Path, position: int = 0) -> list[bytes]:
    journal = Journal(path, position)
    journal.close()
    return [record for record, _ in journal.left]


def test_nothing_is_on_the_disk_before_the_first_record(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Journal(path, 0).close()
    assert not path.exists()


def test_records_from_a_position_on(tmp_path: Path) -> None:
    ends = write(tmp_path / "journal")
    assert left(tmp_path / "journal") == RECORDS
    for number, end in enumerate(ends, 1):
        assert left(tmp_path / "journal", end) == RECORDS[number:]


def test_it_goes_on_where_it_ended(tmp_path: Path) -> None:
    ends = write(tmp_path / "journal")
    journal = Journal(tmp_path / "journal", ends[-1])
    journal.append(b"more")
    journal.close()
    assert left(tmp_path / "journal") == [*RECORDS, b"more"]


def test_cut_at_every_byte(tmp_path: Path) -> None:
    """The records that are whole are there, the half one is not, and the next one takes its place."""
    ends = [0, *write(tmp_path / "journal")]
    whole = (tmp_path / "journal").read_bytes()
    begin = len(whole) - ends[-1]
    for length in range(len(whole)):
        path = tmp_path / f"cut{length}"
        path.write_bytes(whole[:length])
        kept = RECORDS[: sum(end + begin <= length for end in ends[1:])]
        assert left(path) == kept
        write(path, [b"next"])
        assert left(path) == [*kept, b"next"]


def test_a_tail_that_the_file_system_filled_with_zeros(tmp_path: Path) -> None:
    write(tmp_path / "journal")
    with (tmp_path / "journal").open("ab") as file:
        file.write(bytes(4096))
    assert left(tmp_path / "journal") == RECORDS


def test_every_flipped_bit_before_the_last_record_is_refused(tmp_path: Path) -> None:
    ends = write(tmp_path / "journal")
    whole = bytearray((tmp_path / "journal").read_bytes())
    last = len(whole) - (ends[-1] - ends[-2])
    for at, bit in itertools.product(range(last), (1, 0x80)):
        damaged = whole.copy()
        damaged[at] ^= bit
        path = tmp_path / "damaged"
        path.write_bytes(damaged)
        with pytest.raises(StorageError, match="damaged"):
            left(path)


@pytest.mark.parametrize("what", ["removed", "emptied", "shorter", "another"])
def test_one_in_which_the_position_was_not_noted_is_refused(tmp_path: Path, what: str) -> None:
    ends = write(tmp_path / "journal")
    path = tmp_path / what
    if what == "emptied":
        path.write_bytes(b"")
    elif what == "shorter":
        write(path, RECORDS[:1])
    elif what == "another":
        path.write_bytes(b"x" * 1000)
    with pytest.raises(StorageError, match="larm repair"):
        left(path, ends[-1])


def test_what_nobody_needs_any_more_leaves_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FORGET", 100)
    path = tmp_path / "journal"
    journal = Journal(path, 0)
    ends = [journal.append(b"x" * 60) for _ in range(4)]
    before = path.stat().st_size
    journal.forget(ends[0])
    assert path.stat().st_size == before, "not worth it"
    journal.forget(ends[2])
    assert path.stat().st_size < before / 2
    last = journal.append(b"y")
    journal.close()
    assert left(path, ends[2]) == [b"x" * 60, b"y"]
    assert left(path, last) == []
    with pytest.raises(StorageError):
        left(path, ends[0])


def test_a_full_disk_leaves_no_half_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    write(path)
    journal = Journal(path, 0)
    with monkeypatch.context() as patched:
        patched.setattr(module.os, "fsync", full)
        with pytest.raises(StorageError, match="journal"):
            journal.append(b"never said to be done")
    journal.append(b"done")
    journal.close()
    assert left(path) == [*RECORDS, b"done"]


def full(_: int) -> None:
    raise OSError(28, "No space left on device")


def test_many_threads(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", 0)
    ends: list[int] = []

    def append(number: int) -> None:
        ends.extend([journal.append(b"%d %d" % (number, n)) for n in range(5)])

    threads = [threading.Thread(target=append, args=(number,)) for number in range(4)]  # noqa: TID251
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close()
    assert len(set(ends)) == 20
    assert sorted(left(tmp_path / "journal")) == sorted(b"%d %d" % (number, n) for number in range(4) for n in range(5))
