"""MessageHandler: pulls messages from the incoming queue through the filter chain into the host queues (LARM-43, LARM-44).

`put` and `robots_arrived` are called by other threads and never run a filter; `run` is the body of ``larm-handler``, the only
thread that does. A batch is one step of the gate: a checkpoint sees it either not begun or done.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from larm.frontier.robots.desk import BATCH, Arrival
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.threads.gate import Gate
from larm.kit.threads.progress import Pulse
from larm.kit.threads.tally import Tally
from larm.model.message import URLMessage

LINGER = 0.01
"""Seconds to wait for a whole batch. Measured: to wake for each page costs the fetchers 20 us a page, in lock and GIL."""

MOST = 100_000
"""Messages that wait, from which nothing more is asked for: some seconds of the handler. Found URLs that nobody has looked at
stand on the disk, most of them twice, and what is asked for meanwhile is not what was found first."""

_UNKNOWN = -1


class Chain(Protocol):
    """What the handler needs of `larm.filters.chain.FilterChain`."""

    def run(self, batch: Sequence[URLMessage], start: str | None = None) -> list[URLMessage]:
        """The messages that passed."""


class MessageHandler:
    """One thread, one queue, one chain."""

    def __init__(
        self,
        *,
        incoming: CachingQueue[URLMessage],
        chain: Chain,
        settle: Callable[[Arrival], Iterable[list[URLMessage]]],
        forward: Callable[[Sequence[URLMessage]], None],
        tally: Tally,
        gate: Gate,
        enough: Callable[[], bool] = lambda: False,
        decide: Callable[[str], Iterable[list[URLMessage]]] = lambda _: (),
        caught_up: Callable[[], object] = lambda: None,
    ) -> None:
        """``enough``: the fetchers have URLs for a while, so that a larger batch can be waited for.

        ``decide``: what goes on at a host that has nothing to do but to find out what of it is a trap. ``caught_up`` is called
        when `keeps_up` is true again.
        """
        # constant after construction
        self.incoming = incoming
        self._chain = chain
        self._settle = settle
        self._forward = forward
        self._tally = tally
        self._gate = gate
        self._enough = enough
        self._decide = decide
        self._caught_up = caught_up
        self._work = threading.Condition()
        # guarded by self._work
        self._idle = False
        self._arrivals: deque[Arrival] = deque()
        self._at_rest: dict[str, int] = {}  # hosts, and how many messages have to be judged first
        self._stopped = False
        # written by the handler thread
        self.pulse = Pulse()
        self._taken = 0

    def put(self, batch: Sequence[URLMessage]) -> None:
        """Take a page's messages in; never blocks and never runs a filter. The caller is inside a step of the gate."""
        self._tally.rise(len(batch))
        self.incoming.put_many(batch)
        if self._idle or len(self.incoming) >= BATCH:  # it looks at the queue after it has said that it is idle
            with self._work:
                self._work.notify()

    def robots_arrived(self, arrival: Arrival) -> None:
        """Rules that some messages wait for."""
        with self._work:
            self._arrivals.append(arrival)
            self._work.notify()

    def at_rest(self, hosts: Sequence[str]) -> None:
        """Hosts that have nothing else to do than to decide what they hold back, once all that has come in so far is judged."""
        with self._work:
            self._at_rest |= dict.fromkeys(hosts, _UNKNOWN)
            self._work.notify()

    def keeps_up(self) -> bool:
        """More may be asked for: what was found so far is being looked at. Any thread."""
        return len(self.incoming) < MOST

    def stop(self) -> None:
        """Let `run` return after the batch that it has; what is queued stays queued."""
        with self._work:
            self._stopped = True
            self._work.notify()

    def run(self) -> None:
        """The body of the handler thread."""
        while self._wait_for_work():
            self.pulse.beat()
            with self._gate.step():
                while self._arrivals:
                    for parked in self._settle(self._arrivals.popleft()):
                        self._pass(parked, "robots")
                late = not self.keeps_up()
                batch = self.incoming.take(BATCH)
                self._pass(batch)
                self._taken += len(batch)
            if late and self.keeps_up():
                self._caught_up()
            for host in self._due():
                with self._gate.step():
                    for released in self._decide(host):
                        self._pass(released, "robots")

    def _due(self) -> list[str]:
        if not self._at_rest:
            return []
        last = self._taken + len(self.incoming)  # only known between two batches
        with self._work:
            self._at_rest = {host: last if number == _UNKNOWN else number for host, number in self._at_rest.items()}
            due = [host for host, number in self._at_rest.items() if number <= self._taken]
            for host in due:
                del self._at_rest[host]
        return due

    @property
    def busy(self) -> bool:
        """It has a batch in hand; any thread."""
        return self.pulse.busy

    def _wait_for_work(self) -> bool:
        self.pulse.rest()
        with self._work:
            self._idle = True
            self._work.wait_for(lambda: self._stopped or self._arrivals or self._at_rest or self.incoming)
            self._idle = False
            if not (self._stopped or self._arrivals or self._at_rest) and len(self.incoming) < BATCH and self._enough():
                self._work.wait_for(lambda: self._stopped or self._arrivals or len(self.incoming) >= BATCH, LINGER)
            return not self._stopped

    def _pass(self, batch: Sequence[URLMessage], start: str | None = None) -> None:
        """Through the chain, into the host queues; what did not pass no longer keeps the crawl going.

        The robots desk raises the tally for what it parks, so nothing needs to tell here how a message was consumed, and a
        filter that loses messages without a word can't hang the crawl.
        """
        if not batch:
            return
        self.pulse.beat()
        passing = self._chain.run(batch, start)
        if len(passing) > len(batch):
            self._tally.rise(len(passing) - len(batch))
        if passing:
            self._forward(passing)
        if len(passing) < len(batch):
            self._tally.fall(len(batch) - len(passing))
