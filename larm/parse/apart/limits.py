"""Budget: how much of a document is read: characters, time. Used by the readers, in the reading process."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from larm.kit.clock import SystemClock
from larm.model.cuts import DOCUMENTS, TEXT
from larm.parse.apart.protocol import Found, Request

T = TypeVar("T")
_clock = SystemClock()
_LOOK = 1_000
"""Elements between two looks at the clock."""


class Budget:
    """Collects text and links until it is enough."""

    def __init__(self, request: Request) -> None:
        # constant after construction
        self._end = _clock.monotonic() + request.seconds
        self._most = request.text
        self.effort = request.effort
        self.memory = request.memory
        """Bytes that the process should have."""
        # only one thread
        self.title = ""
        """As far as it is known before all is read."""
        self.links: dict[tuple[str, str], None] = {}
        self.headings: list[str] = []
        self.warnings: list[str] = []
        self.cuts: dict[str, None] = {}
        """Why not all is read: names of `larm.model.cuts`."""
        self._pieces: list[str] = []
        self._room = self._most

    def text(self, piece: str) -> None:
        """More text; what is beyond the limit is left out."""
        if self._room > 0:
            self._pieces.append(piece[: self._room])
        self._room -= len(piece)

    def link(self, address: str, anchor: str = "") -> None:
        """One more link."""
        if address := address.strip():
            self.links.setdefault((address, " ".join(anchor.split())))

    def spent(self, where: str) -> bool:
        """Whether to stop here; the warning says where."""
        if self._room <= 0:
            self.warnings.append(f"only the first {self._most} characters are read, up to {where}")
            self._room = 0
            self.cuts[TEXT] = None
        elif _clock.monotonic() > self._end:
            self.warnings.append(f"it takes too long to read; left at {where}")
            self.cuts[DOCUMENTS] = None
        else:
            return False
        return True

    def within(self, elements: Iterable[T]) -> Iterator[T]:
        """Those of a part, until it is enough."""
        for count, each in enumerate(elements):
            yield each
            if count % _LOOK == 0 and self.spent(f"{count} elements"):
                break

    def found(self, title: str = "", modified: int = 0, language: str = "", description: str = "") -> Found:
        """All of it. Text of which something was left out is said to be cut."""
        warnings = list(self.warnings)
        if self._room < 0:
            warnings.append(f"only the first {self._most} characters are read, of {self._most - self._room}")
            self.cuts[TEXT] = None
        return Found(
            _sendable(" ".join(title.split())[:500]),
            _sendable("".join(self._pieces)),
            tuple((_sendable(address), _sendable(anchor)) for address, anchor in self.links),
            tuple(_sendable(heading) for heading in self.headings if heading)[:1_000],
            modified,
            language,
            _sendable(" ".join(description.split())[:1_000]),
            tuple(map(_sendable, warnings)),
            cuts=tuple(self.cuts),
        )

    def given_up(self, why: str) -> Found:
        """What was read before something went wrong; failed, if that is nothing."""
        self.warnings.append(why)
        found = self.found(self.title)
        return found if found.text or found.links else msgspec.structs.replace(found, failed=True)


def _sendable(text: str) -> str:
    """Half a character, which broken documents have, can't be sent."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def one_line(error: Exception) -> str:
    """What a reader has raised, for people."""
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]
