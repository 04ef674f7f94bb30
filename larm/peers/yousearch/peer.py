"""Peer: what one machine does for a group by itself (YOUS-7 to 14, 31): what it answers is `answering`'s.

Two threads do what takes time, each once in a period: ``larm-inspector`` has changed folders indexed, ``larm-peer`` tells the
registrars what has changed (`announcing`); in between it passes on reports and what is kept.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

import msgspec

from larm.errors import LarmError
from larm.kit.deadline import Deadline
from larm.kit.threads.workers import Workers
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.announcing import Announcing, News
from larm.peers.yousearch.groups import Groups
from larm.peers.yousearch.inspector import Inspectors
from larm.peers.yousearch.spot_checks import SpotChecks
from larm.seams import Clock

_AGAIN = 5.0
"""Seconds, where a registrar could not be told."""


class Peer:
    """Of one machine."""

    def __init__(
        self,
        announcing: Announcing,
        inspectors: Inspectors,
        checks: SpotChecks,
        groups: Groups,
        orders: SimpleQueue[msgspec.Struct | None],
        *,
        period: float,
        clock: Clock,
        news: News,
        meet: Sequence[Callable[[], None]],
    ) -> None:
        """``orders``: what registrars are told; Done: what is shared has changed; None: it is over. ``meet`` asks who there
        is."""
        # constant after construction
        self._announcing = announcing
        self._inspectors = inspectors
        self._checks = checks
        self._groups = groups
        self._period = period
        self._clock = clock
        self.news = news
        self._meet = meet
        self._workers = Workers(self._died)
        self._orders = orders
        self._looks: SimpleQueue[bool] = SimpleQueue()
        """True: look now; False: it is over."""

    def open(self) -> None:
        """When others can ask us."""
        self._workers.start("larm-peer", self._run)
        self._workers.start("larm-inspector", self._inspect)
        self._workers.start("larm-spot-checks", self._checks.run)

    def close(self) -> None:
        """Say good-bye, if that takes no time."""
        self._inspectors.stop()
        self._checks.stop()
        self._looks.put(False)
        self._orders.put(None)
        self._workers.join(2.0)

    def tell(self, order: msgspec.Struct) -> None:
        """Something for the registrars; returns at once."""
        self._orders.put(order)

    def hurry(self) -> None:
        """What is shared has changed: look now."""
        self._looks.put(True)

    def _died(self, name: str, error: BaseException) -> None:
        self.news.say(f"{name} ended, others are not told of this peer any more: {error!r}")

    def _inspect(self) -> None:
        goes_on = True
        while goes_on:
            began = self._clock.monotonic()
            if self._inspectors.look(self.news.tell):
                self._orders.put(say.Done())
            with suppress(Empty):
                goes_on = self._looks.get(timeout=max(0.0, began + self._period - self._clock.monotonic()))

    def _run(self) -> None:
        while True:
            began = self._clock.monotonic()
            all_know = False
            try:
                all_know = self._announcing.tell()
                self.news.tell("summary", "")
                for meet in self._meet:
                    meet()
                self.news.tell("groups", self._groups.look())
            except (LarmError, OSError) as error:
                self.news.tell("summary", f"what is shared could not be told: {error}")
            pause = self._period if all_know else min(self._period, _AGAIN)
            if not self._wait(Deadline(self._clock, max(0.0, began + pause - self._clock.monotonic()))):
                break
        self._announcing.leave()

    def _wait(self, deadline: Deadline) -> bool:
        """Orders are carried out as they come; False: it is over."""
        while True:
            try:
                order = self._orders.get(timeout=deadline.left())
            except Empty:
                return True
            if order is None:
                return False
            if isinstance(order, say.Done):
                return True
            self._announcing.pass_on(order)
