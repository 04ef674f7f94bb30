"""CallingBack: checks whether a peer can be reached, which decides its type (YACY-14). Thread-safe.

A peer is tried at the address that its request came from and nowhere else: nobody is made to knock at somebody else's door.
"""

import threading

from larm.fetch.http_client import NoAnswer
from larm.peers.call_backs import CallBacks
from larm.peers.channel import Asker
from larm.peers.yacy.node import contact_of
from larm.peers.yacy.questions import COUNT, Count, Counted
from larm.peers.yacy.seed import Seed
from larm.seams import Clock

_SECONDS = 3.0
_TRIED = 300.0
"""Seconds for which it is known that a peer can be reached."""
_MOST = 10_000
"""That are known."""


class CallingBack:
    """Of one node."""

    def __init__(self, asker: Asker, clock: Clock, network: str) -> None:
        # constant after construction
        self._asker = asker
        self._clock = clock
        self._network = network
        self._call_backs = CallBacks()
        self._lock = threading.Lock()
        # guarded by self._lock
        self._reached: dict[tuple[str, str], float] = {}
        """By key and address: whoever moves is tried anew."""

    def reaches(self, seed: Seed, address: str) -> bool:
        """Whether it answers there. Raises RefusedError."""
        if not seed.port:
            return False
        contact = contact_of(seed, f"[{address}]:{seed.port}" if ":" in address else f"{address}:{seed.port}")
        name = contact.key, contact.url
        with self._lock:
            if self._clock.wall() - self._reached.get(name, float("-inf")) < _TRIED:
                return True
        with self._call_backs.one(address):
            answer = self._asker.ask(contact, COUNT, Count(self._network), Counted, seconds=_SECONDS)
        good = not isinstance(answer, NoAnswer) and answer.hash == seed.hash
        if good:
            with self._lock:
                if len(self._reached) > _MOST:
                    self._reached.clear()
                self._reached[name] = self._clock.wall()
        return good
