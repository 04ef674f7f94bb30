"""A helper process lives, dies and is born again; and it never outlives us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from larm.kit.processes.helper_process import Died, HelperProcess, Killed, TookTooLong, TookTooMuch

ECHO = "tests.kit.echoing"


@pytest.fixture
def helper() -> Iterator[HelperProcess]:
    helper = HelperProcess(ECHO, 200_000_000)
    yield helper
    helper.close()


def test_it_answers_and_is_started_once(helper: HelperProcess) -> None:
    assert helper.starts == 0
    assert "not started" in repr(helper)
    for request in (b"x", b"", b"y" * 5_000_000):
        assert helper.ask(request, 20) == request
    assert len(helper.ask(b"long 3000000", 20)) == 3_000_000
    assert helper.starts == 1


def test_answers_wait_while_requests_are_sent(helper: HelperProcess) -> None:
    requests = [bytes([number]) * 900_000 for number in range(8)]  # neither of the pipes holds them all
    helper.start()
    for request in requests:
        helper.send(request, 20)
    assert [helper.receive(20, bytes) for _ in requests] == requests
    assert helper.starts == 1


def test_an_answer_that_is_too_long_is_none(helper: HelperProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.kit.processes.helper_process.MAX_ANSWER", 1_000)
    assert helper.ask(b"long 996", 20) == b"x" * 996
    with pytest.raises(Died, match="its answer is too long") as death:
        helper.ask(b"long 997", 20)
    assert not isinstance(death.value, TookTooLong)


@pytest.mark.parametrize(
    ("request_", "how"),
    [
        (b"crash", "it crashed (SIGSEGV)"),
        (b"leave", "it ended with status 3"),
        (b"hang", "it took too long"),
    ],
)
def test_it_dies_and_the_next_one_answers(helper: HelperProcess, request_: bytes, how: str) -> None:
    assert helper.ask(b"x", 20) == b"x"
    with pytest.raises(Died, match=how.replace("(", r"\(").replace(")", r"\)")):
        helper.ask(request_, 20)
    assert helper.ask(b"x", 20) == b"x"
    assert helper.starts == 2


def test_we_do_not_wait_for_its_own_alarm(helper: HelperProcess) -> None:
    assert helper.ask(b"x", 20) == b"x"
    with pytest.raises(TookTooLong):
        helper.ask(b"hang", 0.1)
    assert helper.ask(b"x", 20) == b"x"


def test_one_that_was_killed_meanwhile_is_replaced(helper: HelperProcess) -> None:
    pid = int(helper.ask(b"pid", 20))
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # until the kernel has done it
    assert helper.ask(b"x", 20) == b"x"


def test_memory_and_files_are_limited(helper: HelperProcess, tmp_path: Path) -> None:
    assert helper.ask(b"eat 1000000", 20) == b"1000000"
    assert helper.ask(b"eat 500000000", 20) == b"no memory"
    assert helper.ask(f"write {tmp_path / 'x'}".encode(), 20) == b"OSError"


def test_what_it_prints_is_no_answer(helper: HelperProcess) -> None:
    assert helper.ask(b"print", 20) == b"print"
    assert helper.ask(b"x", 20) == b"x"


def test_a_module_that_is_none() -> None:
    helper = HelperProcess("tests.kit.nothing", 200_000_000)
    with pytest.raises(Died, match="it ended with status 1"):
        helper.ask(b"x" * 1_000_000, 20)


@pytest.mark.parametrize("request_", ["x", "hang"])
def test_it_does_not_outlive_us(request_: str) -> None:
    """Idle or busy, after a kill -9."""
    code = (
        "import sys; from larm.kit.processes.helper_process import HelperProcess\n"
        f"helper = HelperProcess({ECHO!r}, 200_000_000)\n"
        "print(helper.ask(b'pid', 20).decode(), flush=True)\n"
        f"helper.ask({request_.encode()!r}, 60)\n"
        "print('idle', flush=True)\n"
        "sys.stdin.read()\n"
    )
    it_ends_with_its_parent([sys.executable, "-c", code], idle=request_ == "x")


def it_ends_with_its_parent(command: Sequence[str], *, idle: bool) -> None:
    """The command says the number of its helper, and ``idle`` once that is."""
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdin is not None
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    if idle:
        assert parent.stdout.readline() == "idle\n"
    parent.kill()
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()
    status = Path(f"/proc/{pid}/stat")
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        os.sched_yield()  # the test's time-out bounds it


def test_one_that_needs_too_much_memory_says_so(helper: HelperProcess) -> None:
    with pytest.raises(TookTooMuch, match="it needed more memory than it may have"):
        helper.ask(b"gorge 500000000", 20)
    assert helper.ask(b"gorge 50000000", 20) == b"50000000"


def test_it_may_have_less_for_a_while(helper: HelperProcess) -> None:
    helper.start()
    helper.limit(60_000_000)
    with pytest.raises(TookTooMuch):
        helper.ask(b"gorge 60000000", 20)
    helper.start()
    helper.limit(60_000_000)
    helper.limit(10**12)
    assert helper.ask(b"gorge 60000000", 20) == b"60000000"


def test_who_is_killed_from_outside_is_told_from_who_crashes(helper: HelperProcess) -> None:
    number = int(helper.ask(b"pid", 20))
    helper.send(b"hang", 20)
    os.kill(number, signal.SIGKILL)
    with pytest.raises(Killed):
        helper.receive(20, bytes)


def test_an_interrupt_ends_what_it_does(helper: HelperProcess) -> None:
    helper.start()
    helper.send(b"hang", 20)
    helper.interrupt()
    with pytest.raises(Died):
        helper.receive(20, bytes)
