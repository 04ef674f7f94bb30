"""Ending: whether all agents together have nothing left to do. Counted, never guessed. Pure; under the lock of who owns it.

Two rounds of questions. In each, every member of one and the same epoch must answer, after the round has begun, that it is
idle: nothing waits, nothing is in the air, and what it has sent was acknowledged. If every one gives the same number of changes
in both rounds, all of them were idle at the moment between the rounds, with nothing on its way: that can't change any more.
A member that does not answer holds the end, until it comes back or is removed.
"""

from larm.cluster.beat import Quiet
from larm.cluster.membership import Membership


class Ending:
    """Looked at once a second."""

    def __init__(self) -> None:
        # only who owns it
        self._round = 0
        self._since = 0.0
        self._epoch = 0
        self._changes: dict[str, int] = {}

    def look(self, membership: Membership, mine: Quiet, told: dict[str, Quiet], now: float) -> bool:
        """Whether it is over. ``told``: what we would tell each other member of ourselves."""
        if not (mine.idle and membership.begun and membership.settled and not membership.fenced(now)):
            self._round = 0
            return False
        if not membership.others():
            return True
        changes = self._answers(membership, mine, told)
        if changes is None:
            return False
        if self._round == 0 or self._epoch != membership.view.epoch or (self._round == 2 and changes != self._changes):
            self._round, self._since, self._epoch = 1, now, membership.view.epoch
            return False
        if self._round == 1:
            self._round, self._since, self._changes = 2, now, changes
            return False
        return True

    def _answers(self, membership: Membership, mine: Quiet, told: dict[str, Quiet]) -> dict[str, int] | None:
        """The numbers of changes of all; None: not all have answered in this round, or not as they should."""
        changes = {membership.me: mine.changes}
        for name in membership.others():
            beat = membership.contact.beats.get(name)
            if beat is not None and self._round and membership.contact.echoed(name) <= self._since:
                return None  # its answer is still to come
            quiet, ours = beat.quiet if beat is not None else Quiet(), told[name]
            lost = quiet.received < ours.sent or ours.received < quiet.sent  # acknowledged, and not there
            if beat is None or not beat.view.same(membership.view) or not quiet.idle or lost:
                self._round = 0
                return None
            changes[name] = quiet.changes
        return changes
