"""serve: the other end of `larm.kit.processes.helper_process`: requests in, answers out, until the pipe closes.

Runs in the process that helps, on its only thread. What the process may do is limited here: memory, time, no files.
"""

import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from larm.kit.processes.frames import Frames, framed, write_some

T = TypeVar("T")
GRACE: Final = 1.0
"""Seconds from the end of a request's time to the alarm in the process."""
NO_MEMORY: Final = 77
"""Exit status of a process that needed more memory than it may have."""


def serve(
    read: Callable[[memoryview], T], seconds: Callable[[T], float], answer: Callable[[T], bytes | bytearray], memory: int
) -> None:
    """Answer requests until the pipe closes; then the process ends.

    ``read``: a request of its frame, whose memory it must not keep.
    ``seconds(request)``: what it may take; the alarm comes `GRACE` seconds later.
    ``memory``: bytes of address space. What ``answer`` prints goes nowhere; where it raises MemoryError, the process ends.
    """
    _limit(memory)
    pipe = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    frames = Frames()
    while True:
        while not frames.whole:
            if not frames.take(0):
                os._exit(0)  # nothing is worth being cleaned up
        request = frames.pop(read)
        signal.setitimer(signal.ITIMER_REAL, seconds(request) + GRACE)  # nobody handles the alarm, so it ends the process
        try:
            found = answer(request)
        except MemoryError:
            os._exit(NO_MEMORY)
        signal.setitimer(signal.ITIMER_REAL, 0)
        rest = framed(found)
        while rest:
            write_some(pipe, rest)
        del request, found  # they would take room beside the next one


def _limit(memory: int) -> None:
    """No more memory than this, no files written, no trace of a crash."""
    for what, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        soft, hard = (limit if there == resource.RLIM_INFINITY else min(limit, there) for there in resource.getrlimit(what))
        with suppress(ValueError):  # macOS has no limit of address space; time still is limited there
            resource.setrlimit(what, (soft, hard))  # who started us may have been here before, with less
