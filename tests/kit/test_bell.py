"""How the main thread is told that it is over."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from larm.kit.threads.bell import Bell
from larm.kit.threads.workers import Workers


def test_first_come_first_heard() -> None:
    bell: Bell[str] = Bell()
    bell.ring("one")
    bell.ring("two")
    assert [bell.wait(1), bell.wait(0), bell.wait(0)] == ["one", "two", None]


def test_it_is_heard_on_another_thread() -> None:
    bell: Bell[int] = Bell()
    workers = Workers(lambda name, error: None)
    workers.start("ringer", lambda: bell.ring(7))
    assert bell.wait(10) == 7
    assert workers.join(10) == []


@pytest.fixture
def alarm() -> Iterator[None]:
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
def test_a_signal_handler_may_ring_while_the_main_thread_waits() -> None:
    """And at any other moment: here a thousand times, most of them inside `wait`."""
    assert threading.current_thread() is threading.main_thread()
    bell: Bell[str] = Bell()
    signal.signal(signal.SIGALRM, lambda number, frame: bell.ring("signal"))
    signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
    assert [bell.wait(10) for _ in range(1_000)] == ["signal"] * 1_000
