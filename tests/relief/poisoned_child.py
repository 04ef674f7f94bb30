"""A reading process that some pages end: for tests. ``python -m tests.relief.poisoned_child MEMORY``."""

from __future__ import annotations

import os
import sys

from larm.kit.helper_serve import serve
from larm.relief.child import Child, seconds
from larm.relief.protocol import decode_request

POISON = b"<!-- poison -->"
ONCE = b"<!-- once:"
HANG = b"<!-- hang:"
LONG = 3.0
"""Seconds until the alarm, for a page that hangs."""


def poisoned(child: Child, frame: bytes) -> bytes:
    for _, fetched in decode_request(frame).pages:
        if POISON in fetched.body:
            os.abort()
        if ONCE in fetched.body:  # it ends the first process that sees it
            flag = fetched.body.partition(ONCE)[2].partition(b"-->")[0].strip()
            if os.path.exists(flag):
                os.unlink(flag)
                os.abort()
        if HANG in fetched.body:
            os.close(os.open(fetched.body.partition(HANG)[2].partition(b"-->")[0].strip(), os.O_CREAT))
            while True:
                pass
    return child.answer(frame)


def main(memory: int) -> None:
    ours = Child()
    serve(lambda frame: poisoned(ours, frame), lambda frame: LONG if HANG in frame else seconds(frame), memory)


if __name__ == "__main__":
    main(int(sys.argv[1]))
