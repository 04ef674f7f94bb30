"""Inbox: which parcels of other agents were taken, so that each is taken once. Pure; under the lock of who owns it.

Part of the same cut as the journal's position: what stands in the journal behind that is noted again when it is carried out.
"""

from typing import Any, Literal

import msgspec

_LATER = 1_000
"""Numbers behind a gap: who sends has a few parcels on their way at a time, and sends none that is missing last."""
_SENDERS = 10_000


class Mark(msgspec.Struct, array_like=True):
    """What was taken of one agent's process."""

    boot: int
    upto: int = 0
    """All numbers up to this one."""
    later: list[int] = []
    """And these."""


class Inbox:
    """``marks``: as `cut` gave them."""

    def __init__(self, marks: Any = None) -> None:
        # only who owns it
        self._marks: dict[str, Mark] = msgspec.convert(marks or {}, dict[str, Mark])

    def knows(self, sender: str, boot: int, seq: int) -> Literal["new", "taken", "stale"]:
        """Whether such a parcel is to be taken; stale: it is of a process that has been followed by another one,
        or comes before too many others."""
        mark = self._marks.get(sender)
        if mark is None:
            return "new" if len(self._marks) < _SENDERS else "stale"
        if boot != mark.boot:
            return "new" if boot > mark.boot else "stale"
        if seq <= mark.upto or seq in mark.later:
            return "taken"
        return "new" if len(mark.later) < _LATER or seq < mark.later[0] else "stale"

    def note(self, sender: str, boot: int, seq: int, low: int = 1) -> bool:
        """It was taken; False: it had been before. None before ``low`` will come again."""
        if self.knows(sender, boot, seq) != "new":
            return False
        mark = self._marks.get(sender)
        if mark is None or mark.boot != boot:
            mark = self._marks[sender] = Mark(boot)
        later = {*mark.later, seq}
        mark.upto = max(mark.upto, low - 1)
        while mark.upto + 1 in later:
            mark.upto += 1
        mark.later = sorted(each for each in later if each > mark.upto)
        return True

    def cut(self) -> object:
        """A copy for the checkpoint."""
        return msgspec.to_builtins(self._marks)
