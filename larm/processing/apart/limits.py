"""Budget: how much of a document is read: characters, links, time. Used by the readers, in the reading process."""

from __future__ import annotations

from larm.kit.clock import SystemClock
from larm.processing.apart.protocol import MAX_LINKS, MAX_TEXT, Found

_clock = SystemClock()


class Budget:
    """Collects text and links until it is enough."""

    def __init__(self, seconds: float) -> None:
        # constant after construction
        self._end = _clock.monotonic() + seconds
        # only one thread
        self.links: dict[tuple[str, str], None] = {}
        self.headings: list[str] = []
        self.warnings: list[str] = []
        self._pieces: list[str] = []
        self._room = MAX_TEXT

    def text(self, piece: str) -> None:
        """More text; what is beyond the limit is left out."""
        if self._room > 0:
            self._pieces.append(piece[: self._room])
            self._room -= len(piece)

    def link(self, address: str, anchor: str = "") -> None:
        """One more link."""
        address = address.strip()
        if address and len(self.links) < MAX_LINKS:
            self.links.setdefault((address, " ".join(anchor.split())))

    def spent(self, where: str) -> bool:
        """Whether to stop here; the warning says where."""
        if self._room <= 0:
            self.warnings.append(f"only the first {MAX_TEXT} characters are read, up to {where}")
        elif _clock.monotonic() > self._end:
            self.warnings.append(f"it takes too long to read; left at {where}")
        else:
            return False
        return True

    def found(self, title: str = "", modified: int = 0, language: str = "", description: str = "") -> Found:
        """All of it."""
        return Found(
            " ".join(title.split())[:500],
            "".join(self._pieces),
            tuple(self.links),
            tuple(heading for heading in self.headings if heading)[:1_000],
            modified,
            language,
            " ".join(description.split())[:1_000],
            tuple(self.warnings),
        )
