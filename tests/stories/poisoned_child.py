"""The reading process with documents that are its death."""

from __future__ import annotations

import os
import signal
import sys

from larm.kit.processes.helper_serve import serve
from larm.parse.apart.child import answer, seconds
from larm.parse.apart.protocol import Request, decode_request


def poisoned(request: Request) -> bytes:
    if b"HANG:" in request.body:  # tell who has the other end of a pipe of that name
        os.close(os.open(request.body.partition(b"HANG:")[2].partition(b":")[0], os.O_WRONLY))
    while b"HANG" in request.body:
        pass
    if b"CRASH" in request.body:
        os.kill(os.getpid(), signal.SIGSEGV)
    if request.body.count(b"ONCE:"):  # whoever reads it first
        flag = request.body.partition(b"ONCE:")[2].partition(b":")[0].decode()
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return answer(request)
        os.kill(os.getpid(), signal.SIGKILL)
    return answer(request)


def main(memory: int) -> None:
    serve(decode_request, seconds, poisoned, memory)


if __name__ == "__main__":
    main(int(sys.argv[1]))
