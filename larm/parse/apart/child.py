"""The reading process: a document in, what is found in it out, until its pipe closes. Started by `DocumentReader`.

``python -m larm.parse.apart.child MEMORY``. It imports little, and each reader only when its first document comes.
"""

import sys

from larm.kit.processes.helper_serve import serve
from larm.model.cuts import DOCUMENTS
from larm.parse.apart.limits import Budget, one_line
from larm.parse.apart.protocol import PDF, RTF, Found, Request, decode_request, encode_found


def answer(request: Request) -> bytes:
    """The frame of what was found. Whatever a reader raises, what it had read until then is the answer."""
    return encode_found(found_in(request))


def found_in(request: Request) -> Found:
    """Never raises for what is in a document."""
    budget = Budget(request)
    try:
        return read(request, budget)
    except MemoryError:
        budget.cuts[DOCUMENTS] = None
        return budget.given_up("it needs too much memory")
    except Exception as error:  # noqa: BLE001  it was found in a document, and is said of it
        return budget.given_up(one_line(error))


def read(request: Request, budget: Budget) -> Found:
    """With the reader for its kind."""
    if request.kind == PDF:
        from larm.parse.apart.pdf import read_pdf

        return read_pdf(request.body, budget)
    if request.kind == RTF:
        from larm.parse.apart.rich_text import read_rich_text

        return read_rich_text(request.body, budget)
    from larm.parse.apart.office import read_office

    return read_office(request.body, request.kind, budget)


def seconds(request: Request) -> float:
    """What it may take."""
    return request.seconds


def main(memory: int) -> None:
    """The whole process; ``memory``: bytes that it may have."""
    serve(decode_request, seconds, answer, memory)


if __name__ == "__main__":
    main(int(sys.argv[1]))
