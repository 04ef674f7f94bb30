"""Pages that end the process are read two or three times, and then not before the next revisit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from larm.engine.suspects import Suspects
from larm.errors import StorageError
from larm.testing.fakes import lease

PROGRAM = """
import ctypes, os, sys
from pathlib import Path
from larm.engine.suspects import Suspects
suspects = Suspects(Path(sys.argv[1]), 2, int(sys.argv[4]))
with suspects.reading(0, "http://a/good"):
    pass
with suspects.reading(1, sys.argv[3]):
    ctypes.string_at(0) if sys.argv[2] == "crash" else os.kill(os.getpid(), 9)
"""


def die(folder: Path, how: str, url: str = "http://a/bad", cycle: int = 0) -> None:
    command = [sys.executable, "-c", PROGRAM, str(folder), how, url, str(cycle)]
    assert subprocess.run(command, check=False, capture_output=True).returncode < 0


def aside(folder: Path) -> set[str]:
    suspects = Suspects(folder, 2)
    found = set(suspects.aside)
    suspects.close()
    suspects.close()
    return found


def test_two_crashes_set_a_page_aside(tmp_path: Path) -> None:
    die(tmp_path, "crash")
    assert aside(tmp_path) == set()
    die(tmp_path, "crash")
    assert aside(tmp_path) == {"http://a/bad"}
    assert aside(tmp_path) == {"http://a/bad"}


def test_an_address_of_any_length_is_known_again(tmp_path: Path) -> None:
    """Where ``filters.length.max`` lets it pass."""
    url = "http://a/bad?" + "x" * 5_000
    for _ in range(2):
        die(tmp_path, "crash", url)
    suspects = Suspects(tmp_path, 2)
    assert suspects.refuses(url)
    assert not suspects.refuses(url + "x")
    assert not suspects.refuses("http://a/good")
    suspects.close()


@pytest.mark.parametrize("deaths", ["kill kill kill", "kill crash kill", "crash kill kill"])
def test_page_is_set_aside_after_three_deaths_of_which_most_are_kills(tmp_path: Path, deaths: str) -> None:
    """A system kills a process that fills its memory; but a person may have done so."""
    for place, how in enumerate(deaths.split()):
        assert aside(tmp_path) == set(), place
        die(tmp_path, how)
    assert aside(tmp_path) == {"http://a/bad"}


def test_page_that_was_set_aside_is_tried_once_in_each_revisit(tmp_path: Path) -> None:
    (tmp_path / "suspects.json").write_text('{"http://a/bad": {"points": 6}}')
    for cycle in (1, 2):
        suspects = Suspects(tmp_path, 2, cycle - 1)
        assert suspects.refuses("http://a/bad")
        suspects.lose("http://a/bad")
        suspects.begin(cycle)
        assert not suspects.refuses("http://a/bad")
        assert suspects.hold(lease("http://a/bad"))
        assert suspects.lost == ["http://a/bad"]
        suspects.close()
        die(tmp_path, "kill", cycle=cycle)
    suspects = Suspects(tmp_path, 2, 3)
    with suspects.reading(0, "http://a/bad"):
        pass
    assert suspects.lost == []
    suspects.close()
    assert aside(tmp_path) == set()


def test_death_counts_once_where_a_power_cut_brings_back_what_was_not_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    die(tmp_path, "crash")
    before, durable = (tmp_path / "inflight").read_bytes(), list[bytes]()
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (real(file), durable.append((tmp_path / "inflight").read_bytes())))
    Suspects(tmp_path, 2).close()
    assert any(before)
    assert durable
    assert not any(durable[0]), "emptied on the disk before the death is counted"


@pytest.mark.parametrize(("how", "killed"), [("kill", True), ("crash", False)])
def test_a_kill_is_told_from_a_crash(tmp_path: Path, how: str, killed: bool) -> None:
    die(tmp_path, how)
    suspects = Suspects(tmp_path, 2)
    assert suspects.killed is killed
    suspects.close()
    suspects = Suspects(tmp_path, 2)
    assert not suspects.killed
    suspects.close()


def test_a_suspect_is_held_until_its_turn_and_is_none_when_it_was_read(tmp_path: Path) -> None:
    die(tmp_path, "kill")
    bad, good, robots = lease("http://a/bad"), lease("http://a/good"), lease("http://a/bad", robots=True)
    suspects = Suspects(tmp_path, 2)
    assert [suspects.hold(each) for each in (good, robots, bad)] == [False, False, True]
    assert suspects.holds
    assert suspects.next_held() is bad
    assert not suspects.holds
    assert suspects.next_held() is None
    assert not suspects.hold(bad), "its turn has come"
    with suspects.reading(0, "http://a/bad"):
        pass
    suspects.close()
    die(tmp_path, "kill")
    assert aside(tmp_path) == set()


def test_one_whose_turn_did_not_come_stays_a_suspect(tmp_path: Path) -> None:
    die(tmp_path, "kill")
    assert aside(tmp_path) == set()
    suspects = Suspects(tmp_path, 2)
    assert suspects.hold(lease("http://a/bad"))
    suspects.close()


def test_damaged_list(tmp_path: Path) -> None:
    (tmp_path / "suspects.json").write_text("{")
    with pytest.raises(StorageError, match=r"suspects\.json: it is damaged"):
        Suspects(tmp_path, 1)
