"""SeedLists: loads those that the user has named: of peers, of principals at web servers, or files (YACY-20, 51). Any thread.

Principal: the own list as a file, for a web server to show to peers that want to join (YACY-12, 19). On the node's thread.
"""

from collections.abc import Sequence
from pathlib import Path

from larm.fetch.http_client import is_address
from larm.kit.disk.atomic import write_atomically
from larm.peers.channel import ROOT
from larm.peers.yacy.node import Node
from larm.peers.yacy.questions import SEEDS
from larm.peers.yacy.seed import BadSeedError, Seed, read_seed
from larm.peers.yacy.text_lists import TextLists


class SeedLists:
    """Constant after construction."""

    def __init__(self, places: Sequence[str], lists: TextLists) -> None:
        """``places``: peers (``http://192.0.2.7:7070``), lists (``https://www.example.org/seeds.txt``), files."""
        self._places = places
        self._lists = lists

    def load(self) -> list[Seed]:
        """Return all seeds that can be read; their signatures are not verified here."""
        found = []
        for place in self._places:
            peer = place.rstrip("/")
            for line in self._lists.lines(place, peer + ROOT + SEEDS if is_address(peer) else place) or ():
                try:
                    found.append(read_seed(line))
                except BadSeedError:
                    continue
        return found


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
