"""LocalFetcher: what the fetchers of files and of archives have in common: answers that come from this machine's disk.

Driven by one fetcher thread alone. Reading is done in `wait`, some answers at a time: a disk has no use for many in the air.
"""

from collections import deque

from larm.model.lease import Lease
from larm.model.outcome import Outcome

_AT_A_TIME = 4_000_000
"""Bytes read in one `wait`; more can't be had faster, but would all have to wait for each other."""


class LocalFetcher:
    """Implements `larm.seams.Fetcher`, but for `wake`: it never waits."""

    def __init__(self) -> None:
        # only the fetcher thread
        self._waiting: deque[Lease] = deque()

    def answer(self, lease: Lease) -> Outcome:
        """What the disk says."""
        raise NotImplementedError

    def start(self, lease: Lease) -> None:
        """See `larm.seams.Fetcher`."""
        self._waiting.append(lease)

    def wait(self, seconds: float) -> list[tuple[Lease, Outcome]]:  # noqa: ARG002
        """See `larm.seams.Fetcher`."""
        ended: list[tuple[Lease, Outcome]] = []
        read = 0
        while self._waiting and read < _AT_A_TIME:
            lease = self._waiting.popleft()
            outcome = self.answer(lease)
            read += outcome.timing.received
            ended.append((lease, outcome))
        return ended

    def wake(self) -> None:
        """See `larm.seams.Fetcher`."""

    @property
    def in_flight(self) -> int:
        """See `larm.seams.Fetcher`."""
        return len(self._waiting)

    @property
    def aside(self) -> int:
        """See `larm.seams.Fetcher`: none."""
        return 0

    def abandon(self) -> list[Lease]:
        """See `larm.seams.Fetcher`."""
        leases = list(self._waiting)
        self._waiting.clear()
        return leases

    def close(self) -> None:
        """See `larm.seams.Fetcher`."""
        self._waiting.clear()
