"""Robots filter: what robots.txt forbids (LARM-53 to LARM-61). Handler thread.

It never waits: the messages of a host whose rules are not known yet are parked with the host's record, by the frontier, and
enter the chain again at this filter when the rules have come.
"""

from __future__ import annotations

from collections.abc import Sequence

from larm.model.message import URLMessage
from larm.seams import Drop, RobotsGate


class RobotsFilter:
    """Asks the host records."""

    name = "robots"
    log_name = "RobotExclusionFilter"

    def __init__(self, gate: RobotsGate) -> None:
        self._gate = gate

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        return self._gate.screen(batch, drop)

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        return self._gate.explain(message)
