"""ArchiveFetcher: the `Fetcher` of the seams for pages in archives: no network, the answer is read from a WARC file.

Made by the wiring where start URLs are archives, one for each fetcher thread, driven by that thread alone.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from larm.config import FetchSettings
from larm.fetch.local_fetcher import LocalFetcher
from larm.model.lease import Lease
from larm.model.outcome import Failed, FailReason, Outcome, Timing
from larm.seams import Clock
from larm.store.archive.answers import Answer, outcome_of
from larm.store.archive.catalogue import Capture, Catalogue
from larm.store.archive.scanning import read_at

_FILES = 16  # that are kept open
_HEADER = 1_000_000  # bytes; no server's is longer


class ArchiveFetcher(LocalFetcher):
    """Implements `larm.seams.Fetcher`."""

    def __init__(self, settings: FetchSettings, catalogue: Catalogue, clock: Clock) -> None:
        super().__init__()
        # constant after construction
        self._settings = settings
        self._catalogue = catalogue
        self._most = max(int(settings.page_size), int(settings.document_size)) + _HEADER
        self._clock = clock
        # only the fetcher thread
        self._files: OrderedDict[str, BinaryIO] = OrderedDict()
        self._captures: dict[int, Capture] = {}
        """Of leases that wait."""
        # any thread sets it
        self._woken = threading.Event()

    def wait(self, seconds: float) -> list[tuple[Lease, Outcome]]:
        """See `larm.seams.Fetcher`. There is no other fetcher in its thread that would wait."""
        if not self.in_flight:
            self._woken.wait(seconds)
        self._woken.clear()
        self._find([lease.message.url.fingerprint for lease in self._waiting])
        return super().wait(seconds)

    def _find(self, fingerprints: Sequence[int]) -> None:
        """Their captures, by one look into the catalogue."""
        missing = [key for key in fingerprints if key not in self._captures]
        if missing:
            self._captures |= self._catalogue.find_many(missing)

    def wake(self) -> None:
        """See `larm.seams.Fetcher`. Any thread."""
        self._woken.set()

    def close(self) -> None:
        """See `larm.seams.Fetcher`."""
        super().close()
        while self._files:
            self._files.popitem()[1].close()

    def answer(self, lease: Lease) -> Outcome:
        """See `LocalFetcher`."""
        began = self._clock.monotonic()
        capture = self._captures.pop(lease.message.url.fingerprint, None)
        if capture is None:
            return Failed(FailReason.FILE, "not in the archive", Timing())
        try:
            answer = self._read(capture)
            original = None
            if capture.payload:
                there = self._catalogue.payload(capture.payload)
                if there is None:
                    return Failed(FailReason.FILE, f"the archive has no record with its payload, {capture.payload}", Timing())
                original = self._read(there)
        except (OSError, ValueError) as error:
            return Failed(FailReason.FILE, f"{capture.file}, byte {capture.offset:,}: {error}", Timing())
        return outcome_of(answer, original, self._settings, self._clock.monotonic() - began)

    def _read(self, capture: Capture) -> Answer:
        return Answer(read_at(self._file(capture.file), capture.offset, self._most))

    def _file(self, path: str) -> BinaryIO:
        file = self._files.get(path)
        if file is None:
            if len(self._files) >= _FILES:
                self._files.popitem(last=False)[1].close()
            file = self._files[path] = Path(path).open("rb")  # noqa: SIM115  closed by close()
        self._files.move_to_end(path)
        return file
