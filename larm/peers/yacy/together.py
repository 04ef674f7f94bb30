"""together: carries out tasks, some at a time, on threads of their own. Called on any thread."""

from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from larm.kit.threads.workers import Workers

Do = Callable[[], None]
Together = Callable[[Sequence[Do]], None]
"""Carries out all tasks, at the same time or in turn, and returns when all are done."""
_AT_A_TIME = 16
"""Number of tasks at a time."""


def together(tasks: Sequence[Do]) -> None:
    """Carry out all tasks. An exception of one is raised when all are done."""
    waiting: SimpleQueue[Do] = SimpleQueue()
    failed: list[BaseException] = []
    for each in tasks:
        waiting.put(each)

    def work() -> None:
        while True:
            try:
                task = waiting.get_nowait()
            except Empty:
                return
            task()

    if len(tasks) <= 1:
        work()
        return
    workers = Workers(lambda _, error: failed.append(error))
    for number in range(min(_AT_A_TIME, len(tasks))):
        workers.start(f"larm-network-{number + 1}", work)
    while workers.join(60.0):
        pass
    if failed:
        raise failed[0]
