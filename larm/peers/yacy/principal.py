"""Principal: the seed list as a file, for a web server to show to who wants to join (YACY-12, 19). On the node's thread."""

from __future__ import annotations

from pathlib import Path

from larm.kit.disk.atomic import write_atomically
from larm.peers.yacy.node import Node

_AT_LEAST = 86_400.0
"""Seconds after which the list is written also where nothing seems to have changed: stamps of seeds have."""


class Principal:
    """Of one node; ``path``: the file."""

    def __init__(self, node: Node, path: Path) -> None:
        # constant after construction
        self._node = node
        self._path = path
        # only the node's thread
        self._written = float("-inf")
        self._was: tuple[str, int] = "", 0

    def tick(self) -> None:
        """Write it where the own address or the number of peers has changed, or a day is over. Raises StorageError."""
        node = self._node
        text, now = node.seed_list(), node.now()
        found = node.seed().address, text.count("\n")
        if not text or node.stealthy or (found == self._was and now - self._written < _AT_LEAST):
            return
        write_atomically(self._path, text.encode())
        self._was, self._written = found, now
