"""Traps filter: addresses that no real site needs, and those that went on without anything new (LARM-122). Handler thread.

What it holds back is kept in the records of the hosts, which belong to the frontier; so this is no more than its place in the
chain. It stands behind all filters that drop: a page speaks against the pattern of its address by links that nobody had seen,
and that may be asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from larm.model.message import URLMessage
from larm.seams import Drop, TrapGate


class TrapsFilter:
    """Start URLs, pages that are revisited, and files pass."""

    name = "traps"
    log_name = "TrapsFilter"

    def __init__(self, gate: TrapGate) -> None:
        # constant after construction
        self._gate = gate

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`. What it holds back counts as dropped until it is released."""
        return self._gate.screen(batch, drop)

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        return self._gate.explain(message)
