"""OwnAddress: where this peer is, as others see it (YACY-14). Only under the lock of its node."""

from collections import Counter

from larm.peers.addresses import kind_of

_WITNESSES = 9
"""Peers that are believed what our address is: most of them."""


class OwnAddress:
    """Where a peer is: where it listens, or else what most of those say who were asked last."""

    def __init__(self, listening: str) -> None:
        """``listening``: empty where only others know."""
        # only under the node's lock
        self.now = listening
        self._told: dict[str, str] = {}

    def told(self, by: str, address: str) -> None:
        """As another sees it."""
        if kind_of(address):
            self._told.pop(by, None)
            self._told[by] = address
            if len(self._told) > _WITNESSES:
                del self._told[next(iter(self._told))]
            self.now = Counter(self._told.values()).most_common(1)[0][0]
