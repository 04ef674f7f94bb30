"""Ahead: the first process that reads pages is made before the crawl's own parts are loaded.

Both then load at the same time, each on a core of its own, and the crawl never loads what reads pages unless it has to read
some itself. Called by the command line and by `larm.building.readers`, on the main thread.
"""

import os
from typing import Final

from larm.config import ProcessingSettings
from larm.kit.processes.helper_process import HelperProcess
from larm.parse.triage import parser_of

CHILD: Final = "larm.parse.reading.child"
MEMORY: Final = {"lexbor": 750_000_000, "html5lib": 600_000_000}
"""Bytes of address space by the parser: what the worst page takes that is read among others, with Python and all that it loads.
Larger ones are read elsewhere (`larm.engine.reading_pool`)."""
_MOST_READERS: Final = 3
"""Processes beside the crawl, if nothing else is said: three take in what one process can fetch and store. Measured on two
cores, a crawl with index of 10,000 pages: 15.1 s without, 11.8 s with one, 11.1 s with two."""


def readers_of(settings: ProcessingSettings) -> int:
    """How many processes may read pages; none where processors of the user's own read some: they may want to remember."""
    if settings.by_mime:
        return 0
    if settings.processes is not None:
        return settings.processes
    return min(max((os.cpu_count() or 1) - 1, 0), _MOST_READERS)


def document_threads(settings: ProcessingSettings) -> int:
    """How many threads have documents and large pages read: one at least, for the latter."""
    return max(1, settings.documents.processes)


def new_reader(settings: ProcessingSettings) -> HelperProcess:
    """One that is not started yet."""
    return HelperProcess(CHILD, MEMORY[parser_of(settings)])


def reader_ahead(settings: ProcessingSettings) -> HelperProcess | None:
    """The first one, running; None where there shall be none, or it can't be had at once. Before there are other threads."""
    if not readers_of(settings):
        return None
    process = new_reader(settings)
    return process if process.fork() else None
