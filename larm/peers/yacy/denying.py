"""Denying: applies the deny lists of the user, of followed peers, files and addresses. Not called under the node's lock."""

from collections.abc import Callable, Iterable
from threading import RLock

from larm.fetch.http_client import NoAnswer
from larm.peers.yacy.membership import Membership
from larm.peers.yacy.shelf import Shelf
from larm.peers.yacy.trust import DenyList, Trust

_SECONDS = 10.0
"""Time limit of one question."""


class Denying:
    """The deny lists of one peer."""

    def __init__(
        self,
        trust: Trust,
        lock: RLock,
        membership: Membership,
        shelf: Shelf,
        *,
        own_key: str,
        ask: Callable[[str, float], DenyList | NoAnswer],
        lines: Callable[[str], Iterable[str] | None],
    ) -> None:
        """``lock`` guards ``membership`` and ``shelf``. ``ask``: the deny list of a peer, by its hash, within seconds.

        ``lines``: those of a file or an address; None: it can't be read, and what it had before holds."""
        # constant after construction
        self._trust = trust
        self._lock = lock
        self._membership = membership
        self._shelf = shelf
        self._own_key = own_key
        self._ask = ask
        self._lines = lines

    def hear(self) -> None:
        """Read the deny lists of all followed peers, files and addresses, and apply them. Raises StorageError."""
        with self._lock:
            seeds = [seed for seed in self._membership.active if seed.key in self._trust.opinions.followed]
        for seed in seeds:
            answer = self._ask(seed.hash, _SECONDS)
            if not isinstance(answer, NoAnswer):
                self._trust.heard(seed.key, answer)
        for place in self._trust.places:
            if (lines := self._lines(place)) is not None:
                self._trust.read(place, lines)
        self.drop()

    def drop(self) -> None:
        """Forget denied peers and drop their items. Raises StorageError."""
        with self._lock:
            for seed in self._membership.known:
                if seed.key in self._trust:
                    self._membership.forget(seed.hash)
            self._shelf.drop_authors(self._trust.denied - {self._own_key})
