"""The filters of which the frontier decides: robots.txt (LARM-53 to LARM-61), and traps (LARM-122). Handler thread.

What they hold back is kept in the records of the hosts, so these are no more than its places in the chain; they never wait.
"""

from __future__ import annotations

from collections.abc import Sequence

from larm.model.message import URLMessage
from larm.seams import Drop, HostGate


class _GateFilter:
    def __init__(self, gate: HostGate) -> None:
        # constant after construction
        self._gate = gate

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`. What is held back counts as dropped until it is released."""
        return self._gate.screen(batch, drop)

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        return self._gate.explain(message)


class RobotsFilter(_GateFilter):
    """What robots.txt forbids. Messages of a host whose rules are not known yet are parked with the host's record, and enter
    the chain again at this filter when the rules have come."""

    name = "robots"
    log_name = "RobotExclusionFilter"


class TrapsFilter(_GateFilter):
    """Addresses that no real site needs, and those that went on without anything new; but start URLs, files and revisits pass.

    It stands behind all filters that drop: a page speaks against the pattern of its address by links that nobody had seen, and
    that may be asked for."""

    name = "traps"
    log_name = "TrapsFilter"
