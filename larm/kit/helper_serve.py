"""serve: the other end of `larm.kit.helper_process`: requests in, answers out, until the pipe closes.

Runs in the process that helps, on its only thread. What the process may do is limited here: memory, time, no files.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

T = TypeVar("T")
LENGTH: Final = 4
"""Bytes of the length in front of each frame, big-endian."""
GRACE: Final = 1.0
"""Seconds from the end of a request's time to the alarm in the process."""


def serve(read: Callable[[bytes], T], seconds: Callable[[T], float], answer: Callable[[T], bytes], memory: int) -> None:
    """Answer requests until the pipe closes; then the process ends.

    ``read``: a request of its frame. ``seconds(request)``: what it may take; the alarm comes `GRACE` seconds later.
    ``memory``: bytes of address space. What ``answer`` prints goes nowhere.
    """
    _limit(memory)
    pipe = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    while (head := _read(LENGTH)) is not None:
        frame = _read(int.from_bytes(head, "big"))
        if frame is None:
            break
        request = read(frame)
        del frame  # what has been read would take room beside the next one
        signal.setitimer(signal.ITIMER_REAL, seconds(request) + GRACE)  # nobody handles the alarm, so it ends the process
        found = answer(request)
        signal.setitimer(signal.ITIMER_REAL, 0)
        rest = memoryview(len(found).to_bytes(LENGTH, "big") + found)
        while rest:
            rest = rest[os.write(pipe, rest) :]
        del request, found, rest
    os._exit(0)  # nothing is worth being cleaned up


def _read(size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        chunk = os.read(0, min(1_000_000, size - len(data)))
        if not chunk:
            return None
        data += chunk
    return bytes(data)


def _limit(memory: int) -> None:
    """No more memory than this, no files written, no trace of a crash."""
    for what, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(what)
        with suppress(ValueError):  # macOS has no limit of address space; time still is limited there
            resource.setrlimit(what, (limit if hard == resource.RLIM_INFINITY else min(limit, hard),) * 2)
