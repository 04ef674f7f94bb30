"""Signals of a running crawl: the first one asks it to stop, the second one leaves at once; SIGUSR1 asks how it is going.

Main thread only.

Leaving at once is safe: what is on the disk is the last checkpoint. The next run takes back what came after it, and completes
what the end of this one has left half made.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

INTERRUPTED = 130
"""Exit status: interrupted, can be resumed."""
_STOPPING = "stopping (again to leave at once: what came since the last checkpoint, 5 s, is then fetched again)"
_LEFT = b"\nlarm: left at once; the same command goes on from the last checkpoint\n"
_SHOW_CURSOR = b"\x1b[?25h\n"  # a live display hides it, and will not get to show it again


@contextmanager
def stopping_by_signal(
    stop: Callable[[], None], tell: Callable[[str], object] | None = None, show: Callable[[], object] | None = None
) -> Iterator[list[int]]:
    """Within it, SIGINT, SIGTERM and SIGHUP call ``stop``; a second one ends the process with status 130.

    SIGUSR1 and SIGUSR2, which end a process that doesn't know them, call ``show``: ``dd`` and others tell their progress then.

    Yields the signals that came: of none, somebody else has stopped it, or nobody.
    ``tell`` gets the message for the person; without it stderr does.
    """
    asked: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        if asked:
            _write((_SHOW_CURSOR if sys.stderr and sys.stderr.isatty() else b"") + _LEFT)
            os._exit(INTERRUPTED)
        else:
            asked.append(number)
            stop()
            if tell:
                tell(_STOPPING)
            else:
                _write(f"\nlarm: {_STOPPING}\n".encode())

    def look(_number: int, _frame: FrameType | None) -> None:
        if show:
            show()

    handlers = dict.fromkeys(_signals(), handle) | dict.fromkeys((signal.SIGUSR1, signal.SIGUSR2), look)
    before = {number: signal.getsignal(number) for number in handlers}
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        yield asked
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _signals() -> list[signal.Signals]:
    """With SIGHUP (the terminal went away), but not where nohup has it ignored."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        numbers.append(hangup)
    return numbers


def _write(text: bytes) -> None:
    """Past all buffers: the signal may have come in the middle of a print."""
    with suppress(OSError):
        os.write(2, text)
