"""A reading process that some pages end: for tests. ``python -m tests.parse.reading.poisoned_child MEMORY``."""

from __future__ import annotations

import os
import sys

from larm.kit.processes.helper_serve import serve
from larm.parse.reading.child import Child, seconds
from larm.parse.reading.protocol import Request, decode_request

POISON = b"<!-- poison -->"
CRASH = b"<!-- crashes lexbor -->"
ONCE = b"<!-- once:"
HANG = b"<!-- hang:"
LONG = 3.0
"""Seconds until the alarm, for a page that hangs."""


def poisoned(child: Child, request: Request) -> bytes:
    for _, fetched in request.pages:
        if POISON in fetched.body or (CRASH in fetched.body and not request.careful):
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
    return child.answer(request)


def allowed(request: Request) -> float:
    return LONG if any(HANG in fetched.body for _, fetched in request.pages) else seconds(request)


def main(memory: int) -> None:
    ours = Child()
    serve(decode_request, allowed, lambda request: poisoned(ours, request), memory)


if __name__ == "__main__":
    main(int(sys.argv[1]))
