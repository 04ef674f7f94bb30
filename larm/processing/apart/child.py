"""The reading process: a document in, what is found in it out, until its pipe closes. Started by `DocumentReader`.

``python -m larm.processing.apart.child MEMORY``. It imports little, and each reader only when its first document comes.
"""

from __future__ import annotations

import sys

from larm.kit.helper_serve import serve
from larm.processing.apart.limits import Budget
from larm.processing.apart.protocol import PDF, Found, Request, decode_request, encode_found


def answer(request: Request) -> bytes:
    """The frame of what was found. Whatever a reader raises is an answer, too."""
    try:
        return encode_found(read(request))
    except MemoryError:
        return encode_found(Found(warnings=("it needs too much memory",), failed=True))
    except Exception as error:  # noqa: BLE001  it was found in a document, and is said of it
        what = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        return encode_found(Found(warnings=(what,), failed=True))


def read(request: Request) -> Found:
    """With the reader for its kind."""
    budget = Budget(request.seconds)
    if request.kind == PDF:
        from larm.processing.apart.pdf import read_pdf

        return read_pdf(request.body, budget)
    from larm.processing.apart.office import read_office

    return read_office(request.body, request.kind, budget)


def seconds(request: Request) -> float:
    """What it may take."""
    return request.seconds


def main(memory: int) -> None:
    """The whole process; ``memory``: bytes that it may have."""
    serve(decode_request, seconds, answer, memory)


if __name__ == "__main__":
    main(int(sys.argv[1]))
