"""Denying: applies the deny lists of the user, of followed peers, files and addresses. Not called under the node's lock."""

from collections.abc import Callable, Iterable

from larm.fetch.http_client import NoAnswer
from larm.peers.yacy.node import Node
from larm.peers.yacy.questions import DENIED, DeniedOf
from larm.peers.yacy.trust import DenyList

_SECONDS = 10.0
"""Time limit of one question."""


class Denying:
    """The deny lists of one node."""

    def __init__(self, node: Node, lines: Callable[[str], Iterable[str] | None]) -> None:
        """``lines``: those of a file or an address; None: it can't be read, and its last version counts."""
        # constant after construction
        self._node = node
        self._lines = lines

    def hear(self) -> None:
        """Read the deny lists of all followed peers, files and addresses, and apply them. Raises StorageError."""
        node, trust = self._node, self._node.trust
        with node.lock:
            seeds = [seed for seed in node.membership.active if seed.key in trust.opinions.followed]
        for seed in seeds:
            answer = node.ask(seed.hash, DENIED, DeniedOf(node.network), DenyList, _SECONDS)
            if not isinstance(answer, NoAnswer):
                trust.heard(seed.key, answer)
        for place in trust.places:
            if (lines := self._lines(place)) is not None:
                trust.read(place, lines)
        self.drop()

    def drop(self) -> None:
        """Forget denied peers and drop their items. Raises StorageError."""
        node = self._node
        with node.lock:
            for seed in node.membership.known:
                if seed.key in node.trust:
                    node.membership.forget(seed.hash)
            node.shelf.drop_authors(node.trust.denied - {node.key})
