"""Owner filter: URLs of hosts that other agents have go to them (LARM-118). Handler thread.

It stands behind the filters that would drop a URL whoever owns it, and before ``visited``, which only knows our own.
"""

from __future__ import annotations

from collections.abc import Sequence

from larm.agents.sorter import Sorter
from larm.model.message import URLMessage
from larm.seams import Drop


class OwnerFilter:
    """Implements `larm.seams.Recalling`: links that were sent before never become messages."""

    name = "owner"
    log_name = "OwnerFilter"

    def __init__(self, sorter: Sorter) -> None:
        # constant after construction
        self._sorter = sorter

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`. What goes to others is neither dropped nor passes."""
        ours, known = self._sorter.sort(batch)
        if known:
            drop(known, "sent to its agent before")
        return ours

    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        """See `larm.seams.Recalling`. Any thread."""
        return self._sorter.recall(fingerprints)

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        owner = self._sorter.owner(message.url.host)
        return f"its host belongs to the agent {owner}" if owner not in ("", self._sorter.me) else None
