"""Pulse: whether a thread is at work, and whether it gets on. Written by that thread, read by whoever watches it."""

from __future__ import annotations


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
