"""Bodies: the bytes of pages, out of the page files. Knows the last frame that it read; fit for any thread."""

from pathlib import Path

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failures
from larm.store.body_frames import read_frame
from larm.store.page_file import PLAIN, page_file
from larm.store.store_log import StoreEntry


class Bodies:
    """Those of the folder ``logs``."""

    def __init__(self, logs: Path) -> None:
        # constant after construction
        self._logs = logs
        # replaced as a whole
        self._last: tuple[Path, int, bytes] | None = None

    def read(self, entry: StoreEntry) -> bytes:
        """The stored bytes of a page; empty where none were stored. Raises StorageError."""
        if not entry.file:
            return b""
        path = page_file(self._logs, entry.file, packed=entry.place != PLAIN)
        with disk_failures(path):
            if entry.place == PLAIN:
                with path.open("rb") as file:
                    file.seek(entry.offset)
                    body = file.read(entry.size)
            else:
                body = self._frame(path, entry.offset)[entry.place : entry.place + entry.size]
        if len(body) < entry.size:
            raise StorageError(f"{path}: ends before the page {entry.url} does: it was cut; restore it, or crawl again")
        return body

    def _frame(self, path: Path, offset: int) -> bytes:
        """Pages that were stored one after the other are mostly read so, too."""
        last = self._last
        if last is None or last[:2] != (path, offset):
            with path.open("rb") as file:
                last = self._last = path, offset, read_frame(file, offset, path)[0]
        return last[2]
