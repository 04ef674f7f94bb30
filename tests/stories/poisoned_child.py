"""The reading process with two documents that are its death."""

from __future__ import annotations

import os
import signal

from larm.kit.helper_process import serve
from larm.processing.apart.child import answer, seconds


def poisoned(frame: bytes) -> bytes:
    while b"HANG" in frame:
        pass
    if b"CRASH" in frame:
        os.kill(os.getpid(), signal.SIGSEGV)
    return answer(frame)


if __name__ == "__main__":
    serve(poisoned, seconds)
