"""together: carry out tasks a few at a time, each on a thread. Called on any."""

from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from larm.kit.threads.workers import Workers

Do = Callable[[], None]
Together = Callable[[Sequence[Do]], None]
"""Carries out all of them, at the same time or one after the other, and returns when all are done."""
_AT_A_TIME = 16
"""Peers that are asked."""


def together(tasks: Sequence[Do]) -> None:
    """All of them; what one raises is raised when all are done."""
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
