"""Handover: hosts that are not ours any more go to those who have them now, whole (`larm.river.moves`). On ``larm-agents``.

Each host is frozen first, so nobody asks it; after the next checkpoint its parts are sent, one by one, each acknowledged from
the receiver's journal; then it is forgotten here. Whatever breaks off is done again: all that there is to know is in the moves'
own state. `done` when no host of another agent is left, which only a checkpoint can say: until then a batch may be on its way
through the filters that has not seen the new view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from larm.errors import UsageError
from larm.river.moves import Moves

_AT_ONCE = 8
"""Hosts that are sent at a time."""
_FREEZES = 20
"""In a step: each of them is synced to the disk."""
_PATIENCE = 2.0
"""Seconds until a part that was not taken is sent again."""


class Hands(NamedTuple):
    """What it needs of its node."""

    owner: Callable[[str], str]
    """Of a host, in our view."""
    hosts: Callable[[], list[str]]
    """All that are known here."""
    send: Callable[[str, bytes, Callable[[bool], object]], object]
    """A part to an agent; the last argument is told, on ``larm-agents``, whether it was taken."""
    checkpoints: Callable[[], int]
    hurry: Callable[[], object]
    """A checkpoint shall be made soon."""
    now: Callable[[], float]


class _Sending:
    """One host on its way."""

    def __init__(self, to: str, parts: Iterator[bytes]) -> None:
        self.to = to
        self.parts = parts
        self.part = b""
        self.waits = False
        self.not_before = 0.0


class Handover:
    """Of one agent's process."""

    def __init__(self, me: str, moves: Moves, hands: Hands) -> None:
        # constant after construction
        self._me = me
        self._moves = moves
        self._hands = hands
        # only larm-agents
        self._epoch = -1
        self._begun_at = 0
        self._looked_at = -1
        self._found: list[str] = []
        self._sending: dict[str, _Sending] = {}

    def step(self, epoch: int) -> bool:
        """Go on with it; True: nothing is left here of what others have in this epoch."""
        hands = self._hands
        if epoch != self._epoch:
            self._epoch, self._begun_at, self._looked_at = epoch, hands.checkpoints(), -1
            self._sending.clear()
            hands.hurry()
        checkpoints = hands.checkpoints()
        if not self._found and not self._sending and self._looked_at < checkpoints:
            self._looked_at = checkpoints
            self._found = [host for host in hands.hosts() if hands.owner(host) != self._me]
            self._found += [host for host in self._moves.moving() if host not in self._found]
            if not self._found and checkpoints >= self._begun_at + 2:  # the cut of the second began after the view was known
                return True
            hands.hurry()
        now, later = self._found[:_FREEZES], self._found[_FREEZES:]
        self._found = [host for host in now if not self._begin(host)] + later
        for host in list(self._sending):
            self._go_on(host)
        return False

    def _begin(self, host: str) -> bool:
        """What can be done for it now; False: ask again, there is no room."""
        moves, ours = self._moves, self._hands.owner(host) == self._me
        try:
            match moves.phase(host):
                case "" if not ours:
                    moves.freeze(host)
                    self._hands.hurry()
                case "frozen" if not ours:
                    self._hands.hurry()
                case "still" if ours:
                    moves.thaw(host)
                case "still" if len(self._sending) >= _AT_ONCE:
                    return False
                case "still":
                    self._sending[host] = _Sending(self._hands.owner(host), moves.parts(host))
                case "arriving" if not ours:
                    moves.forget(host)
                case _:
                    pass  # it is about to arrive, or almost gone
        except UsageError:
            pass  # it has just changed: the next look sees it
        return True

    def _go_on(self, host: str) -> None:
        sending = self._sending[host]
        if sending.waits or self._hands.now() < sending.not_before:
            return
        if not sending.part:
            try:
                sending.part = next(sending.parts, b"")
            except UsageError:
                del self._sending[host]
                return
        if not sending.part:
            del self._sending[host]
            self._moves.forget(host)
            self._hands.hurry()
            return
        sending.waits = True
        self._hands.send(sending.to, sending.part, lambda taken: self._answered(host, sending, taken=taken))

    def _answered(self, host: str, sending: _Sending, *, taken: bool) -> None:
        if self._sending.get(host) is not sending:
            return
        sending.waits = False
        if taken:
            sending.part = b""
            self._go_on(host)
        else:
            sending.not_before = self._hands.now() + _PATIENCE
