"""Denying: what follows from what the user of a peer, and those whom he follows, deny. Called under no lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larm.peers.http_client import NoAnswer
from larm.peers.yacy.questions import DENIED, DeniedOf
from larm.peers.yacy.trust import DenyList

if TYPE_CHECKING:
    from larm.peers.yacy.node import Node

_SECONDS = 10.0


class Denying:
    """Of one node."""

    def __init__(self, node: Node) -> None:
        # constant after construction
        self._node = node

    def hear(self) -> None:
        """The deny lists of those who are followed, as they are now. Raises StorageError."""
        node = self._node
        with node.lock:
            seeds = [seed for seed in node.membership.active if seed.key in node.trust.followed]
        for seed in seeds:
            answer = node.ask(seed.hash, DENIED, DeniedOf(node.network), DenyList, _SECONDS)
            if not isinstance(answer, NoAnswer):
                node.trust.heard(seed.key, answer)
        self.drop()

    def drop(self) -> None:
        """Those who are denied are not known any more, and nothing of theirs is kept. Raises StorageError."""
        node = self._node
        with node.lock:
            for seed in node.membership.known:
                if seed.key in node.trust:
                    node.membership.forget(seed.hash)
            node.shelf.drop_authors(node.trust.denied - {node.key})
