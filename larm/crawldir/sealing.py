"""Sealing: a run that ends well seals its files, and the next one does not read them again (`larm.kit.disk.seal`).

Main thread: opened before the files are, closed when all of them are closed and the directory is still locked.
"""

from pathlib import Path

from larm.crawldir.state import ANCHORS, GRAPH, INDEX, QUEUES
from larm.errors import StorageError
from larm.kit.disk.seal import Seal, open_seal, write_seal

_FILE = "sealed.json"
_READ = (f"{QUEUES}/*.db", f"{INDEX}/*.*", f"{ANCHORS}/*.*", f"{GRAPH}/*")


class Sealing:
    """Of one run."""

    def __init__(self, directory: Path) -> None:
        """Raises StorageError."""
        # constant after construction
        self._directory = directory
        self.found: Seal = open_seal(directory / QUEUES / _FILE, directory)
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
                write_seal(self._directory / QUEUES / _FILE, self._directory, read_at_start(self._directory))
            except StorageError as error:
                self.failure = error


def read_at_start(directory: Path) -> list[Path]:
    """The files of a crawl that a start reads as a whole, where they are not sealed."""
    return [file for pattern in _READ for file in directory.glob(pattern) if file.is_file()]
