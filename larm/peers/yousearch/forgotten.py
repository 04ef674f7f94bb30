"""ForgottenFiles: what ``larm forget`` has taken out of the index of a share is not opened for others either. Any thread.

That outlives the index, which is removed where the folder is shared no more, and where an index page changes: until the crawl
of a new one has been told of it, nobody knows what is forgotten.
"""

import shutil
from pathlib import Path

import msgspec

from larm.crawldir.state import QUEUES, forgotten_of, last_header
from larm.errors import LarmError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.block_store import DATABASE
from larm.kit.disk.json_file import read_json
from larm.model.forgotten import ForgottenPages

_FILES = (DATABASE, f"{DATABASE}-wal")


class ForgottenFiles:
    """Of the crawl in ``directory``, which may not be there yet."""

    def __init__(self, directory: Path) -> None:
        # constant after construction
        self._directory = directory
        self._left = directory.with_name(f"{directory.name}.forgotten")
        # replaced as a whole; a race reads twice
        self._known: tuple[object, ForgottenPages | None] = (None, None)

    def holds(self, url: str) -> bool:
        """Whether a file: URL is forgotten; where nobody can know, it is."""
        moment = [_moment(path) for path in (*(self._directory / QUEUES / name for name in _FILES), self._left)]
        if moment != self._known[0]:
            try:
                known = None if any(moment[-1]) else ForgottenPages(forgotten_of(last_header(self._directory)).items)
                self._known = (moment, known)
            except LarmError:
                self._known = (None, None)
        pages = self._known[1]
        return pages is None or pages.holds(url)

    def remove_index(self) -> None:
        """The directory with all that is in it. Raises StorageError, where what is forgotten can't be read."""
        if said := [item.said for item in forgotten_of(last_header(self._directory)).items]:
            write_atomically(self._left, msgspec.json.encode(list(dict.fromkeys([*self.left(), *said]))))
        shutil.rmtree(self._directory, ignore_errors=True)

    def left(self) -> list[str]:
        """What a new crawl has to be told; see `told`. Raises StorageError."""
        return read_json(self._left, list[str], "remove it, and what was forgotten of this folder is shared again") or []

    def told(self) -> None:
        """It knows."""
        self._left.unlink(missing_ok=True)


def _moment(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
