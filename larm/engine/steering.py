"""Steering: what a person or a program may ask of a crawl that runs, from any thread.

`order` checks an order, writes it into the journal, and returns when it is on the disk; from then on it is done, whatever
happens. `carry_out` has the orders take effect, in their order, each in a step of the gate, so that a checkpoint knows how far
it got: its header has the position of the journal that was reached. What stands behind that is carried out by the next run.

What holds for how long: a blocked host stays blocked, as it is part of its record. A pause and changed settings last as long as
the run, and over a kill; a run that ends in good order lets go of them, for whoever starts the crawl again says what he wants.

`may_lease` is the guard that each lease asks. Whether a crawl that has nothing left is over is decided by a `policy`, of which
``crawl.on_idle`` is one, and `may_end` asks it. One lock orders the orders, held while the disk writes; the other is held for
moments only.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from larm.engine.landed import start_visit
from larm.engine.limits import Limits
from larm.engine.orders import Add, AnyOrder, Block, Deliver, Done, Pause, Refused, Reopen, Resume, Set, Unblock
from larm.engine.parts import FINISHED, Frontier, Shared
from larm.errors import REPAIR, StorageError, UsageError
from larm.kit.counted import counted
from larm.kit.disk.journal import Journal, Position
from larm.model.credentials import without_credentials
from larm.model.message import URLMessage
from larm.model.url import BadUrl, Url
from larm.seams import EndPolicy
from larm.store.lines import StorageLines

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(AnyOrder | Deliver)


class Hands(NamedTuple):
    """The parts of the river that orders act upon."""

    frontier: Frontier
    lines: StorageLines
    """Of the storages; URLs that are added are links of the start page."""
    parse: Callable[[str], Url]
    """Raises BadUrl."""
    wake: Callable[[], object]
    """The fetchers, where more may be asked for than before."""


class SteeringState(msgspec.Struct, frozen=True):
    """What the header has of it."""

    position: Position = 0
    paused: bool = False
    changes: dict[str, str] = {}


class AsConfigured:
    """Implements `larm.seams.EndPolicy` by ``crawl.on_idle``."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def may_end(self) -> bool:
        """Unless it waits for more."""
        return self._limits.now.crawl.on_idle == "end"


class Steering:
    """Implements `larm.seams.Stateful`."""

    name = "steering"

    def __init__(
        self, journal: Journal, state: SteeringState, limits: Limits, shared: Shared, hands: Callable[[], Hands]
    ) -> None:
        """``state``: of the last checkpoint; ``hands``: asked when an order is carried out. Raises StorageError."""
        # constant after construction
        self._journal = journal
        self.limits = limits
        self._shared = shared
        self._hands = hands
        self._writing = threading.Lock()
        self._lock = threading.Lock()
        # guarded by self._writing
        self._closed = False
        # guarded by self._lock
        self._waiting: deque[tuple[AnyOrder | Deliver, Position]] = deque()
        self._position = state.position
        self._cut = state.position
        # written in steps of the gate
        self.paused = state.paused
        self.notes: list[str] = []
        """What a person should know at the start."""
        # replaced before any other thread runs
        self.policy: EndPolicy = AsConfigured(limits)
        self.recipients: dict[str, Callable[[bytes], object]] = {}
        """By name: who is given what `deliver` wrote down, in a step of the gate; quick, and it does not order anything."""

        self._go_on(state.changes)

    def _go_on(self, changes: Mapping[str, str]) -> None:
        """With the settings of the last run, and its orders that no checkpoint knows yet."""
        for key, value in changes.items():
            try:
                self.limits.set(key, value)
            except UsageError as error:  # the settings of this run are others
                self.notes.append(f"{key}={value}, which was set in the last run, holds no more: {error}")
        if self.limits.changes:
            told = ", ".join(f"{key}={value}" for key, value in self.limits.changes.items())
            self.notes.append(f"as it was set in the last run, which was killed: {told}")
        if self.paused:
            self.notes.append("paused, as in the last run, which was killed: 'larm ctl resume' goes on")
        for record, end in self._journal.left:
            try:
                self._waiting.append((_decoder.decode(record), end))
            except msgspec.MsgspecError as error:
                raise StorageError(f"{self._journal.path}: an order can't be read ({error}); {REPAIR}") from error
        self._journal.left.clear()

    # -- orders, on any thread

    def order(self, order: AnyOrder) -> Done:
        """Have it written down. `carry_out` has to follow. Raises UsageError where it can't be; StorageError."""
        order, done = self._check(order)
        if isinstance(order, Add) and not order.urls:
            return done
        self._write(order)
        return done

    def deliver(self, to: str, data: bytes) -> None:
        """Have something written down for one of the `recipients`; else as `order`."""
        self._write(Deliver(to, data))

    def _write(self, order: AnyOrder | Deliver) -> None:
        with self._writing:
            if self._closed:
                raise UsageError("the crawl is ending: it takes no orders any more")
            end = self._journal.append(_encoder.encode(order))
            with self._lock:
                self._waiting.append((order, end))

    @property
    def pending(self) -> bool:
        """Something was ordered, and has not taken effect yet."""
        return bool(self._waiting)

    def carry_out(self) -> None:
        """All that was ordered takes effect, and has when this returns. Not inside a step of the gate."""
        while self._waiting:
            with self._shared.gate.step(), self._lock:
                if not self._waiting:
                    return
                order, end = self._waiting.popleft()
                self._carry_out(order)
                self._position = end
        with self._lock:
            pass  # another thread may be about the last one
        self.ask_again()

    def may_lease(self) -> bool:
        """Asked before each lease."""
        return not self.paused

    # -- the end, on the main thread

    @property
    def holds(self) -> bool:
        """The crawl goes on also where nothing is left to do: it is paused, or waits for more."""
        return self.paused or not self.policy.may_end()

    def ask_again(self) -> None:
        """The policy may say something else than before; any thread."""
        if self._shared.tally.value == 0:
            self._shared.bell.ring(FINISHED)

    def may_end(self) -> bool:
        """Nothing is left, and nothing will come: True, and no order is taken any more."""
        if self.holds:
            return False
        with self._writing:
            if self._waiting or self._shared.tally.value:
                return False
            self._closed = True
            return True

    def close(self) -> None:
        """No order is taken any more; those that were, and have not taken effect, the next run carries out."""
        with self._writing:
            self._closed = True

    # -- the checkpoint

    def cut(self, *, last: bool) -> object:
        """See `larm.seams.Stateful`."""
        with self._lock:
            self._cut = self._position
        state = SteeringState(self._cut) if last else SteeringState(self._cut, self.paused, dict(self.limits.changes))
        return msgspec.to_builtins(state)

    def saved(self) -> None:
        """See `larm.seams.Stateful`."""
        self._journal.forget(self._cut)

    # -- what each order means

    def _check(self, order: AnyOrder) -> tuple[AnyOrder, Done]:
        """What is written down, and what is said. Raises UsageError."""
        match order:
            case Add(urls):
                good, refused = self._parse(urls)
                says = f"{counted(len(good), 'URL')} added" + (f", {len(refused):,} refused" if refused else "")
                return Add(tuple(good)), Done(says, tuple(refused))
            case Set(key, value):
                self.limits.check(key, value)
                says = f"{key} is {value} now"
            case Block(host):
                order = Block(self._host(host))
                says = f"{order.host} is not asked any more"
            case Unblock(host):
                order = Unblock(self._host(host))
                says = f"{order.host} may be asked"
            case Reopen(pattern, host):
                order = Reopen(pattern, self._host(host) if host else "")
                says = f"{self._held_by(order):,} URLs are asked for when their hosts have nothing else to do"
            case Pause():
                says = "paused: what is in the air lands, nothing else is asked for"
            case Resume():
                says = "the crawl goes on"
        return order, Done(says)

    def _carry_out(self, order: AnyOrder | Deliver) -> None:
        """In a step of the gate."""
        hands = self._hands()
        frontier = hands.frontier
        match order:
            case Deliver(to, data):
                if to not in self.recipients:
                    raise StorageError(
                        f"{self._journal.path}: it has something for {to!r}, which is not in this run: run it as before"
                    )
                self.recipients[to](data)
            case Add(urls):
                good, refused = self._parse(urls)  # again: the rules may be others in this run
                messages = [URLMessage(hands.parse(url)) for url in good]
                self._shared.counters.add("orders/urls_added", len(good))
                if refused:
                    self._shared.counters.add("orders/urls_refused", len(refused))
                hands.lines.put([start_visit(messages)])
                frontier.handler.put(messages)
            case Set(key, value):
                self.limits.set(key, value)
                hands.wake()
            case Block(host):
                frontier.changes.block(host)
            case Unblock(host):
                frontier.changes.unblock(host)
            case Reopen(pattern, host):
                for key in frontier.traps.holders(host):
                    frontier.changes.alter(key, lambda host: frontier.traps.reopen_locked(host, pattern))
            case Pause():
                self.paused = True
                self._shared.ticker.hurry()
            case Resume():
                self.paused = False
                hands.wake()

    def _parse(self, urls: tuple[str, ...]) -> tuple[list[str], list[Refused]]:
        good: list[str] = []
        refused: list[Refused] = []
        for url in urls:
            try:
                good.append(self._hands().parse(url).access)
            except BadUrl as error:
                refused.append(Refused(without_credentials(url), str(error)))
        return good, refused

    def _held_by(self, order: Reopen) -> int:
        traps = self._hands().frontier.traps
        held = sum(traps.held_by(host, order.pattern) for host in traps.holders(order.host))
        if not held:
            where = f" at {order.host}" if order.host else ""
            raise UsageError(f"{order.pattern}: nothing is held back by such a pattern{where}")
        return held

    def _host(self, name: str) -> str:
        try:
            return self._hands().parse(name if "://" in name else f"http://{name}/").host
        except BadUrl as error:
            raise UsageError(f"{name}: {error}") from error


def state_of(parts: Mapping[str, Any]) -> SteeringState:
    """Of `Header.parts`."""
    return msgspec.convert(parts.get(Steering.name, {}), SteeringState)
