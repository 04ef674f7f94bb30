"""Takes pages out of the journal of the link graph, for ``larm forget``. Main thread, of a directory that is locked.

The journal is written anew without their rows, and takes the old one's place. The snapshot goes: it is made again when the
graph is opened next. Both can be done again. Of pages that link to these, the texts of their links stay, as they are theirs.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from larm.graph.block import read_block, stored, without
from larm.graph.files import JOURNAL, SNAPSHOT
from larm.kit.disk.atomic import rewrite_atomically
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import is_there


def purge_graph(folder: Path, end: int, unwanted: Callable[[str], bool]) -> int:
    """Of the first ``end`` bytes of the journal, or less where it was done before; its length then. Raises StorageError.

    ``unwanted``: whether a page is, by its address as it was fetched.
    """
    journal = folder / JOURNAL
    if not is_there(journal):
        return 0
    with disk_failures(journal), journal.open("rb") as file:
        end = min(end, os.fstat(file.fileno()).st_size)
        rewrite_atomically(journal, _rest(file.fileno(), end, journal, unwanted))
    with disk_failures(folder):
        (folder / SNAPSHOT).unlink(missing_ok=True)
    return journal.stat().st_size


def _rest(file: int, end: int, path: Path, unwanted: Callable[[str], bool]) -> Iterator[bytes]:
    offset = 0
    while offset < end:
        found = read_block(file, offset, end, path)
        rows = [not unwanted(url) for url in found.block.urls.decode("utf-8", "replace").split("\n")]
        yield os.pread(file, found.end - offset, offset) if all(rows) else stored(without(found.block, rows))
        offset = found.end
