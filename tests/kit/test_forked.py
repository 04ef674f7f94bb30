"""A copy of a process helps it like any other process; and it is made only where that is safe."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.test_helper_process import ECHO, it_ends_with_its_parent

BEGIN = f"""
import os, signal, subprocess, sys, threading
from larm.kit.processes.forked import fork
from larm.kit.processes.helper_process import Died, HelperProcess
helper = HelperProcess({ECHO!r}, 2_000_000_000)
"""


def alone(code: str) -> str:
    """What a process prints that has one thread."""
    done = subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


def test_it_answers_like_any_other(tmp_path: Path) -> None:
    found = alone(
        "assert helper.fork() and helper.fork()\n"  # asked twice it is made once
        "pid = int(helper.ask(b'pid', 20))\n"
        "assert pid != os.getpid() and os.getpgid(pid) == pid\n"
        "assert helper.ask(b'y' * 5_000_000, 20) == b'y' * 5_000_000\n"
        "assert helper.ask(b'print', 20) == b'print'\n"
        f"assert helper.ask(b'write {tmp_path / 'x'}', 20) == b'OSError'\n"
        "print(helper.starts, repr(helper).endswith(f'process {pid}>'))\n"
        "helper.close()\n"
        "try: os.kill(pid, 0)\n"
        "except ProcessLookupError: print('gone')\n"
    )
    assert found == "1 True\ngone\n"


@pytest.mark.parametrize(
    ("request_", "how"),
    [("crash", "it crashed (SIGSEGV)"), ("leave", "it ended with status 3"), ("hang", "it took too long")],
)
def test_where_it_dies_a_new_python_answers(request_: str, how: str) -> None:
    found = alone(
        "assert helper.fork()\n"
        f"try: helper.ask({request_.encode()!r}, 20)\n"
        "except Died as death: print(death)\n"
        "print(helper.ask(b'x', 20).decode(), helper.starts)\n"
    )
    assert found == f"{how}\nx 2\n"


def test_one_that_was_killed_meanwhile_is_replaced() -> None:
    assert alone(
        "assert helper.fork()\n"
        "pid = int(helper.ask(b'pid', 20))\n"
        "os.kill(pid, signal.SIGKILL)\n"
        "os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)\n"
        "print(helper.ask(b'x', 20).decode(), helper.starts)\n"
    ) == ("x 2\n")


def test_its_memory_comes_on_top_of_ours() -> None:
    """Of which it has a copy, and might have used up all that it may have."""
    assert alone(
        "import mmap\n"
        "ours = mmap.mmap(-1, 3_000_000_000)\n"
        "assert helper.fork()\n"
        "print(helper.ask(b'eat 20000000', 20).decode(), helper.ask(b'eat 2500000000', 20).decode())\n"
    ) == ("20000000 no memory\n")


@pytest.mark.parametrize("taken", ["signal.signal(signal.SIGCHLD, signal.SIG_IGN)", "reap = True"])
def test_somebody_else_asks_for_its_end(taken: str) -> None:
    """A supervisor has left SIGCHLD ignored, or a program around us waits for all its children."""
    found = alone(
        f"reap = False\n{taken}\n"
        "assert helper.fork()\n"
        "pid = int(helper.ask(b'pid', 20))\n"
        "os.kill(pid, signal.SIGKILL)\n"
        "if reap: os.waitpid(-1, 0)\n"
        "try: helper.ask(b'x', 20)\n"
        "except Died: pass\n"
        "print(helper.ask(b'x', 20).decode())\n"
        "helper.close()\n"
        "assert helper.fork()\n"
        "helper.close()\n"
    )
    assert found == "x\n"


def test_it_has_nothing_of_ours_open_and_nothing_of_ours_to_say(tmp_path: Path) -> None:
    """Neither files nor locks nor signal handlers; and it never comes back from where it was made."""
    (tmp_path / "ours").touch()
    found = alone(
        f"ours = open({str(tmp_path / 'ours')!r})\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('handled'))\n"
        "def look():\n"
        "    left = [name for name in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{name}')]\n"
        "    os.write(1, f'{sorted(map(int, left))} {signal.getsignal(signal.SIGTERM)!r}'.encode())\n"
        "    print('standard output is a pipe', file=sys.stderr)\n"
        "    raise ValueError\n"
        "made = fork(look)\n"
        "print(made.stdout.read().decode())\n"
        "print(made.wait(20), made.poll())\n"
        "made.kill()\n"
        "print('original')\n"
    )
    assert found == "[0, 1, 2] <Handlers.SIG_DFL: 0>\n1 1\noriginal\n"


def test_we_do_not_wait_for_ever() -> None:
    assert alone(
        "made = fork(lambda: os.read(0, 1))\n"
        "try: made.wait(0.01)\n"
        "except subprocess.TimeoutExpired: print('it lives')\n"
        "made.stdin.close()\n"
        "print(made.wait())\n"
    ) == ("it lives\n1\n")


def test_none_where_its_end_can_not_be_seen() -> None:
    """Some containers forbid that call."""
    assert alone(
        "def forbidden(pid):\n"
        "    raise PermissionError(pid)\n"
        "os.pidfd_open = forbidden\n"
        "before = sorted(os.listdir('/proc/self/fd'))\n"
        "print(helper.fork(), sorted(os.listdir('/proc/self/fd')) == before, helper.ask(b'x', 20).decode(), helper.starts)\n"
    ) == ("False True x 1\n")


@pytest.mark.parametrize("files", range(6))
def test_short_of_files_it_is_made_or_not(files: int) -> None:
    found = alone(
        "import resource\n"
        "ends = [os.dup(0) for _ in range(20)]; [os.close(end) for end in ends]\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (min(ends) + {files}, 4096))\n"
        "made = fork(lambda: os.read(0, 1))\n"
        "if made: made.stdin.close(); assert made.wait() == 1\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))\n"
        "print(bool(made), os.dup(0) == min(ends) + bool(made))\n"
    )
    assert found.split()[0] == str(files >= 4)


def test_none_beside_other_threads() -> None:
    assert alone(
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "print(helper.fork(), fork(print), helper.starts)\n"
        "print(helper.ask(b'x', 20).decode(), helper.starts)\n"
    ) == ("False None 0\nx 1\n")


def test_none_where_nobody_can_tell_when_it_ends() -> None:
    """As in some containers; and then none is made, only to be waited for."""
    assert alone(
        "def forbidden(*_): raise PermissionError\n"
        "def never(): raise AssertionError\n"
        "os.pidfd_open, os.fork = forbidden, never\n"
        "print(helper.fork(), fork(print), helper.starts)\n"
    ) == ("False None 0\n")


@pytest.mark.parametrize("request_", ["x", "hang"])
def test_it_does_not_outlive_us(request_: str) -> None:
    """Idle or busy, after a kill -9."""
    code = (
        "assert helper.fork()\n"
        "print(helper.ask(b'pid', 20).decode(), flush=True)\n"
        f"helper.ask({request_.encode()!r}, 60)\n"
        "print('idle', flush=True)\n"
        "sys.stdin.read()\n"
    )
    it_ends_with_its_parent([sys.executable, "-c", BEGIN + code], idle=request_ == "x")
