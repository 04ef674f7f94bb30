"""Peer: what one machine does for a group: looks at what it shares, tells registrars of it, answers others (YOUS-7 to 14, 31).

Two threads do what takes time, each once in a period: ``larm-inspector`` has changed folders indexed, ``larm-peer`` tells the
registrars what has changed (`announcing`); in between it passes on reports and what is kept. Questions of others are answered
on the threads of the server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

import msgspec

from larm.errors import LarmError
from larm.kit.deadline import Deadline
from larm.kit.threads.workers import Workers
from larm.model.findings import Asked, Findings
from larm.peers.channel import Channel
from larm.peers.door import Call, Question, RefusedError
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.announcing import SECONDS, Announcing
from larm.peers.yousearch.answers import Answers
from larm.peers.yousearch.canonical import canonical
from larm.peers.yousearch.groups import Groups
from larm.peers.yousearch.inspector import Inspectors
from larm.peers.yousearch.network import MOST_SHOWN
from larm.peers.yousearch.recommendations import Shelf
from larm.peers.yousearch.registrars import Registrars
from larm.peers.yousearch.spot_checks import SpotChecks
from larm.peers.yousearch.tuning import Tuner
from larm.seams import Clock, Searcher
from larm.search.query import LONGEST
from larm.search.several import SeveralSearchers

_AGAIN = 5.0
"""Seconds, where a registrar could not be told."""
_PATHS: Mapping[type, str] = {say.Report: say.REPORT, say.Cached: say.CACHED, say.Recommend: say.RECOMMEND}


class Peer:
    """Of one machine."""

    def __init__(
        self,
        name: str,
        channel: Channel,
        teller: Channel,
        registrars: Registrars,
        answers: Answers,
        *,
        url: str,
        published: Callable[[str], Sequence[Searcher]],
        directories: Callable[[], Sequence[Path]],
        inspectors: Inspectors,
        seconds: float,
        checks: SpotChecks,
        groups: Groups,
        tuner: Tuner,
        shelf: Shelf,
        clock: Clock,
        say_aloud: Callable[[str], object],
    ) -> None:
        """``url``: where others ask this peer. ``seconds`` for a search of somebody else; ``published`` is searched for a key,
        ``directories`` have the indexes.

        ``teller`` leaves nobody alone: a registrar that comes back is told within a period.
        """
        # constant after construction
        self._name = name
        self._channel = channel
        self._registrars = registrars
        self._answers = answers
        self._published = published
        self._inspectors = inspectors
        self._checks = checks
        self._groups = groups
        self._seconds = seconds
        self._tuner = tuner
        self._shelf = shelf
        self._clock = clock
        self._say = say_aloud
        self._announcing = Announcing(
            name,
            channel,
            teller,
            registrars,
            url=url,
            directories=directories,
            tuner=tuner,
            shelf=shelf,
            once=self._once,
        )
        self._orders: SimpleQueue[msgspec.Struct | None] = SimpleQueue()
        self._workers = Workers(self._died)
        self._looks: SimpleQueue[bool] = SimpleQueue()
        """True: look now; False: it is over."""
        self._lock = threading.Lock()
        # guarded by self._lock
        self._said: dict[str, str] = {}

    def questions(self) -> list[Question]:
        """For the door."""
        return [
            Question(say.HELLO, say.Hello, say.Card, self.hello),
            Question(say.SEARCH, Asked, Findings, self.search),
            Question(say.STORED, say.Stored, Findings, self.stored),
        ]

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

    def hello(self, _: Call, __: say.Hello) -> say.Card:
        """Here I am."""
        return say.Card(self._channel.identity.key, self._name)

    def search(self, call: Call, asked: Asked) -> Findings:
        """What is shared here with who asks."""
        if len(asked.query) > LONGEST or not 0 < asked.page <= MOST_SHOWN:
            raise RefusedError("its query or page is beyond all bounds", 400)
        seconds = self._seconds if asked.seconds is None else max(0.0, min(self._seconds, asked.seconds))
        number = max(1, min(asked.number, MOST_SHOWN))
        question = Asked(
            query=asked.query, number=number, page=asked.page, seconds=seconds, narrowed=asked.narrowed, sort=asked.sort
        )
        searchers = self._published(call.key)
        return SeveralSearchers(searchers).findings(question) if searchers else Findings(searcher=self._name)

    def stored(self, _: Call, asked: say.Stored) -> Findings:
        """What was found for a query lately."""
        found = self._answers.get(asked.query)
        if found is None:
            raise RefusedError("it is not kept any more", 404)
        return found

    def _died(self, name: str, error: BaseException) -> None:
        self._say(f"{name} ended, others are not told of this peer any more: {error!r}")

    def recommend(self, query: str, url: str, title: str, *, anonymous: bool) -> bool:
        """For a query as it was typed; False: there are too many. Raises StorageError."""
        said = self._shelf.add(canonical(query).key, url, title, anonymous=anonymous)
        if said is not None:
            self.tell(say.Recommend((said,)))
        return said is not None

    def take_back(self, query: str, url: str, author: str) -> None:
        """One's own, also an anonymous one. Raises StorageError."""
        gone = self._shelf.take_back(query, url, author)
        if gone is not None:
            self.tell(say.Recommend((gone,)))

    @property
    def said(self) -> dict[str, str]:
        """What there is to say of each registrar, and of what is shared."""
        with self._lock:
            return dict(self._said)

    def hurry(self) -> None:
        """What is shared has changed: look now."""
        self._looks.put(True)

    def _inspect(self) -> None:
        goes_on = True
        while goes_on:
            began = self._clock.monotonic()
            try:
                if self._inspectors.look():
                    self._orders.put(say.Done())
            except (LarmError, OSError) as error:
                self._once("peer", f"what is shared could not be looked at: {error}")
            with suppress(Empty):
                goes_on = self._looks.get(timeout=max(0.0, began + self._tuner.now.period - self._clock.monotonic()))

    def _run(self) -> None:
        while True:
            began = self._clock.monotonic()
            all_know = False
            try:
                all_know = self._announcing.tell()
                self._once("groups", self._groups.look())
            except (LarmError, OSError) as error:
                self._once("summary", f"what is shared could not be told: {error}")
            period = self._tuner.now.period
            pause = period if all_know else min(period, _AGAIN)
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
            for registrar in self._registrars.all():
                self._channel.ask(registrar, _PATHS[type(order)], order, say.Done, seconds=SECONDS)

    def _once(self, about: str, sentence: str) -> None:
        """Said where it is news."""
        with self._lock:
            if self._said.get(about, "") == sentence:
                return
            self._said[about] = sentence
        if sentence:
            self._say(sentence)
