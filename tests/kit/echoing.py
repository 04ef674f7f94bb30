"""A helper process for tests: does what its request says."""

from __future__ import annotations

import os
import signal
import sys

from larm.kit.processes.helper_serve import serve


def answer(request: bytes) -> bytes:
    word, _, rest = request.partition(b" ")
    if word == b"hang":
        while True:
            pass
    if word == b"crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if word == b"leave":
        os._exit(3)
    if word == b"print":
        print("into the pipe", flush=True)
        os.write(1, b"and again")
    if word == b"eat":
        try:
            return str(len(bytearray(int(rest)))).encode()
        except MemoryError:
            return b"no memory"
    if word == b"gorge":
        return str(len(bytearray(int(rest)))).encode()
    if word == b"write":
        try:
            with open(rest, "wb") as file:
                file.write(b"x")
        except OSError as error:
            return type(error).__name__.encode()
    if word == b"closed":
        os.close(0)
    if word == b"pid":
        return str(os.getpid()).encode()
    if word == b"long":
        return b"x" * int(rest)
    return request


def main(memory: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    serve(bytes, lambda _: 0.3, answer, memory)
    sys.exit("not reached")


if __name__ == "__main__":
    main(int(sys.argv[1]))
