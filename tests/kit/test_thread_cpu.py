"""Processor time by thread: of those that run, and of those that have ended."""

from __future__ import annotations

import threading
import time

from larm.kit.threads.thread_cpu import ThreadCpu
from larm.kit.threads.workers import Workers


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def no_death(name: str, error: BaseException) -> None:
    raise AssertionError(f"{name} died") from error


def test_time_counts_while_a_thread_runs_and_after_it_has_ended() -> None:
    cpu = ThreadCpu()
    workers = Workers(no_death, cpu)
    burnt, go = threading.Event(), threading.Event()

    def work() -> None:
        burn(0.02)
        burnt.set()
        go.wait(10)

    workers.start("larm-a", work)
    assert burnt.wait(10)
    running = cpu.seconds()["larm-a"]
    assert running >= 0.02
    go.set()
    assert workers.join(10) == []
    ended = cpu.seconds()["larm-a"]
    assert ended >= running
    assert cpu.seconds()["larm-a"] == ended


def test_threads_of_one_name_are_added() -> None:
    cpu = ThreadCpu()
    workers = Workers(no_death, cpu)
    for _ in range(2):
        workers.start("larm-a", lambda: burn(0.01))
        assert workers.join(10) == []
    assert cpu.seconds()["larm-a"] >= 0.02
