"""Router: one `Fetcher` for files and the web: each lease goes to the fetcher for its scheme. Its fetcher thread drives it."""

from larm.model.file_url import FILES
from larm.model.lease import Lease
from larm.model.outcome import Outcome
from larm.seams import Fetcher


class Router:
    """Implements `larm.seams.Fetcher`. Only the web's fetcher ever waits, so it is the one that is woken."""

    def __init__(self, web: Fetcher, files: Fetcher) -> None:
        # constant after construction
        self._web = web
        self._files = files

    def start(self, lease: Lease) -> None:
        """See `larm.seams.Fetcher`."""
        (self._files if lease.message.url.host == FILES else self._web).start(lease)

    def wait(self, seconds: float) -> list[tuple[Lease, Outcome]]:
        """See `larm.seams.Fetcher`."""
        if not self._files.in_flight:
            return self._web.wait(seconds)
        ended = self._files.wait(0.0)
        return ended + self._web.wait(0.0) if self._web.in_flight else ended

    def wake(self) -> None:
        """See `larm.seams.Fetcher`. Any thread."""
        self._web.wake()

    @property
    def in_flight(self) -> int:
        """See `larm.seams.Fetcher`."""
        return self._web.in_flight + self._files.in_flight

    @property
    def aside(self) -> int:
        """See `larm.seams.Fetcher`."""
        return self._web.aside

    def abandon(self) -> list[Lease]:
        """See `larm.seams.Fetcher`."""
        return self._files.abandon() + self._web.abandon()

    def close(self) -> None:
        """See `larm.seams.Fetcher`."""
        self._files.close()
        self._web.close()
