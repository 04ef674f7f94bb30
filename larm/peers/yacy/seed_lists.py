"""SeedLists: those that the user has named, of peers and of principals at some web server (YACY-20, 51). Any thread.

Principal: our own as a file, for a web server to show to who wants to join (YACY-12, 19). On the node's thread.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from larm.fetch.http_client import HttpClient, NoAnswer, is_address
from larm.kit.disk.atomic import write_atomically
from larm.peers.channel import ROOT
from larm.peers.yacy.node import Node
from larm.peers.yacy.questions import SEEDS
from larm.peers.yacy.seed import BadSeedError, Seed, read_seed

_LARGEST = 5_000_000
"""Bytes: 10,000 seeds."""
_SECONDS = 20.0


class SeedLists:
    """Constant after construction."""

    def __init__(self, urls: Sequence[str], http: HttpClient, say: Callable[[str], object]) -> None:
        self._urls = urls
        self._http = http
        self._say = say

    def load(self) -> list[Seed]:
        """All seeds that can be had; whether they are what they say is for others to see."""
        return [seed for url in self._urls for seed in self._of(url)]

    def _of(self, url: str) -> Iterator[Seed]:
        file = url.rpartition("/")[2].endswith(".txt")  # a principal's
        if not is_address("/".join(url.split("/")[:3]) if file else url.rstrip("/")):
            self._say(f"network.bootstrap: {url}: expected the address of a peer, http://192.0.2.7:7070, or of a .txt file")
            return
        place = url if file else url.rstrip("/") + ROOT + SEEDS
        answer = self._http.ask("GET", place, {}, b"", seconds=_SECONDS, most=_LARGEST)
        if isinstance(answer, NoAnswer) or answer.status != 200:
            return
        for line in answer.body.decode("utf-8", "replace").splitlines():
            try:
                yield read_seed(line)
            except BadSeedError:
                continue


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
