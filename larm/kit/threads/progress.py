"""Progress: what a thread that has much to do is about, and how far it is; Pulse: whether it gets on at all.

Written by that thread, read by any.
"""


class Progress:
    """``str()`` of it is a phrase for a person: ``texts of links, 61,000 of 150,000 pages``; empty where there is nothing."""

    def __init__(self) -> None:
        # only the thread that works; each is replaced as a whole
        self._now: tuple[str, int, int, str] = ("", 0, 0, "")

    def begin(self, what: str, total: int = 0, unit: str = "") -> None:
        """The next thing; ``total``: how many ``unit`` there are, 0 if nobody knows. Without a unit, per cent are told."""
        self._now = (what, 0, total, unit)

    def to(self, done: int) -> None:
        """So many are done."""
        what, _, total, unit = self._now
        self._now = (what, done, total, unit)

    def end(self) -> None:
        """Nothing is under way."""
        self._now = ("", 0, 0, "")

    def __str__(self) -> str:
        what, done, total, unit = self._now
        if not total:
            return what
        return f"{what}, {done:,} of {total:,} {unit}" if unit else f"{what}, {done / total:.0%}"


class Pulse:
    """Of one thread, or of who does its work now."""

    __slots__ = ("beats", "busy")

    def __init__(self) -> None:
        self.beats = 0
        """Rises with each thing that it begins."""
        self.busy = False
        """It is about something; False: it waits until there is something to do, which may take any time."""

    def beat(self) -> None:
        """It begins something."""
        self.beats += 1
        self.busy = True

    def rest(self) -> None:
        """It waits for something to do."""
        self.beats += 1
        self.busy = False

    def __repr__(self) -> str:
        return f"<Pulse {self.beats}, {'busy' if self.busy else 'at rest'}>"
