from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from larm.kit.processes.children import helpers, memory_together
from larm.kit.processes.memory_budget import LEAST, MemoryBudget

MB = 1_000_000


def test_what_is_wanted_is_granted_where_there_is_room() -> None:
    budget = MemoryBudget(1_000 * MB, lambda: 100 * MB)
    with budget.granted(400 * MB) as one, budget.granted(300 * MB) as other:
        assert (one, other) == (400 * MB, 300 * MB)
        assert "700,000,000 of 1,000,000,000" in repr(budget)
    assert "<MemoryBudget: 0 of" in repr(budget)


def test_the_first_gets_what_is_left_and_never_less_than_the_least() -> None:
    with MemoryBudget(1_000 * MB, lambda: 700 * MB).granted(400 * MB) as given:
        assert given == 175 * MB, "and an eighth is kept for what grows meanwhile"
    with MemoryBudget(1_000 * MB, lambda: 2_000 * MB).granted(400 * MB) as given:
        assert given == LEAST
    with MemoryBudget(1_000 * MB, lambda: 2_000 * MB).granted(MB) as given:
        assert given == MB


def test_after_a_death_nobody_gets_more_than_the_least() -> None:
    with MemoryBudget(1_000 * MB, lambda: 0, careful=True).granted(400 * MB) as given:
        assert given == LEAST


def test_what_does_not_fit_waits() -> None:
    budget = MemoryBudget(1_000 * MB, lambda: 100 * MB)
    with ThreadPoolExecutor() as threads:
        with budget.granted(600 * MB):
            waiting = threads.submit(lambda: budget.granted(600 * MB).__enter__())
            while not budget._changed._waiters:  # type: ignore[attr-defined]
                os.sched_yield()
            assert not waiting.done()
        assert waiting.result(20) == 600 * MB


def test_at_a_stop_nobody_waits() -> None:
    budget = MemoryBudget(1_000 * MB, lambda: 100 * MB)
    with ThreadPoolExecutor() as threads, budget.granted(600 * MB):
        waiting = threads.submit(lambda: budget.granted(600 * MB).__enter__())
        while not budget._changed._waiters:  # type: ignore[attr-defined]
            os.sched_yield()
        budget.stop()
        assert waiting.result(20) == 175 * MB


def test_the_memory_of_helpers_is_ours() -> None:
    before, eater = memory_together(), "import sys; x = bytearray(b'x' * 90_000_000); print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", eater], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        assert process.pid in helpers()
        assert memory_together() - before > 80 * MB
        process.stdin.close()
