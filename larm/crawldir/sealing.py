"""Sealing: a run that ends well seals its files, and the next one does not read them again (`larm.kit.disk.seal`).

Main thread: opened before the files are, closed when all of them are closed and the directory is still locked.
"""

from collections.abc import Sequence
from pathlib import Path

from larm.crawldir.form import MARKER
from larm.crawldir.state import ANCHORS, GRAPH, INDEX, JOURNAL, QUEUES
from larm.errors import StorageError
from larm.kit.disk.seal import Seal, open_seal, write_seal

_FILE = "sealed.json"
_READ = (f"{QUEUES}/*.db", f"{INDEX}/*.*", f"{ANCHORS}/*.*", f"{GRAPH}/*")

_SMALL = (MARKER, f"{QUEUES}/*.json", f"{QUEUES}/{JOURNAL}", f"{INDEX}/*.json", f"{ANCHORS}/*.json")
"""Files without a checksum of their own, or whose last record may be half written."""


class Sealing:
    """Of one run."""

    def __init__(self, directory: Path) -> None:
        """Raises StorageError."""
        # constant after construction
        self._directory = directory
        self.found: Seal = open_seal(seal_of(directory), directory)
        """Of the last run."""
        # only the main thread
        self.well = False
        """The run has ended, and nothing of it failed."""
        self.failure: StorageError | None = None
        """Why its files could not be sealed."""

    def close(self) -> None:
        """Seal all files if the run was well."""
        if self.well:
            try:
                small = _found(self._directory, _SMALL)
                write_seal(seal_of(self._directory), self._directory, read_at_start(self._directory), small)
            except StorageError as error:
                self.failure = error


def seal_of(directory: Path) -> Path:
    """Return the path of the seal."""
    return directory / QUEUES / _FILE


def read_at_start(directory: Path) -> list[Path]:
    """The files of a crawl that a start reads as a whole, where they are not sealed."""
    return _found(directory, _READ)


def _found(directory: Path, patterns: Sequence[str]) -> list[Path]:
    return [file for pattern in patterns for file in directory.glob(pattern) if file.is_file()]
