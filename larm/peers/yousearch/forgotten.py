"""ForgottenFiles: what ``larm forget`` has taken out of the index of a share is not opened for others either. Any thread."""

from __future__ import annotations

from pathlib import Path

from larm.building.state import QUEUES, forgotten_of, last_header
from larm.errors import LarmError
from larm.kit.disk.block_store import DATABASE
from larm.model.forgotten import ForgottenPages

_FILES = (DATABASE, f"{DATABASE}-wal")


class ForgottenFiles:
    """Of the crawl in ``directory``, which may not be there yet."""

    def __init__(self, directory: Path) -> None:
        # constant after construction
        self._directory = directory
        # replaced as a whole; a race reads twice
        self._known: tuple[object, ForgottenPages | None] = (None, None)

    def holds(self, url: str) -> bool:
        """Whether a file: URL is forgotten; where nobody can know, it is."""
        moment = [_moment(self._directory / QUEUES / name) for name in _FILES]
        if moment != self._known[0]:
            try:
                self._known = (moment, ForgottenPages(forgotten_of(last_header(self._directory)).items))
            except LarmError:
                self._known = (None, None)
        pages = self._known[1]
        return pages is None or pages.holds(url)


def _moment(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
