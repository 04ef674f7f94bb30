"""A crash leaves a trace in the file of each crawl of the process; a kill leaves none."""

from __future__ import annotations

import faulthandler
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm.kit.processes.crash_trace import CrashTrace

PROGRAM = """
import ctypes, os, sys
from pathlib import Path
from larm.kit.processes.crash_trace import CrashTrace
folder = Path(sys.argv[1])
traces = [CrashTrace(folder / name) for name in "abc"]
for name in sys.argv[3]:
    traces["abc".index(name)].close()
ctypes.string_at(0) if sys.argv[2] == "crash" else os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def _switched_off() -> Iterator[None]:
    """As pytest has it, or not."""
    enabled = faulthandler.is_enabled()
    faulthandler.disable()
    yield
    if enabled:
        faulthandler.enable(sys.__stderr__)


def die(folder: Path, how: str, closed: str) -> None:
    command = [sys.executable, "-c", PROGRAM, str(folder), how, closed]
    assert subprocess.run(command, check=False, capture_output=True).returncode < 0


@pytest.mark.parametrize(("closed", "left"), [("", "abc"), ("a", "bc"), ("ab", "c"), ("b", "ac"), ("ca", "b")])
def test_all_that_are_open_know_of_a_crash(tmp_path: Path, closed: str, left: str) -> None:
    die(tmp_path, "crash", closed)
    assert [name for name in "abc" if CrashTrace.crashed(tmp_path / name)] == list(left)


def test_a_kill_leaves_none(tmp_path: Path) -> None:
    die(tmp_path, "kill", "a")
    assert not any(CrashTrace.crashed(tmp_path / name) for name in "abc")


def test_one_does_not_switch_it_off_under_another(tmp_path: Path) -> None:
    first, second = CrashTrace(tmp_path / "a"), CrashTrace(tmp_path / "b")
    first.close()
    first.close()
    assert faulthandler.is_enabled()
    assert list(tmp_path.iterdir()) == [tmp_path / "b"]
    second.close()
    assert not faulthandler.is_enabled()
    assert list(tmp_path.iterdir()) == []


def test_what_the_program_had_switched_on_is_on_again(tmp_path: Path) -> None:
    faulthandler.enable(sys.__stderr__)
    CrashTrace(tmp_path / "a").close()
    assert faulthandler.is_enabled()
