"""The reading process with two documents that are its death."""

from __future__ import annotations

import os
import signal
import sys

from larm.kit.helper_serve import serve
from larm.processing.apart.child import answer, seconds


def poisoned(frame: bytes) -> bytes:
    while b"HANG" in frame:
        pass
    if b"CRASH" in frame:
        os.kill(os.getpid(), signal.SIGSEGV)
    return answer(frame)


def main(memory: int) -> None:
    serve(poisoned, seconds, memory)


if __name__ == "__main__":
    main(int(sys.argv[1]))
