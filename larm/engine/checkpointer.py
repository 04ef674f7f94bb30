"""Checkpointer: takes one consistent cut through all stages of the river, and makes it durable (LARM-116).

1. Under the gate, for a moment: copy what changed in the frontier, the visited set, the counters; note the lengths of the logs;
   put a marker into each storage's queue.
2. The crawl goes on. The storages reach their markers and make everything before them durable; the logs are flushed.
3. One transaction writes the copies. The storages are thus never behind the frontier.

Owned by `larm.engine.crawl`; runs on the tick thread, and on the main thread at the end.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from larm.engine.parts import Frontier, Shared
from larm.errors import StorageError
from larm.filters.scope import StartScope
from larm.frontier.checkpoint import CheckpointFile, Header
from larm.frontier.queue_row import QueueRow
from larm.frontier.resumption import Standing
from larm.kit.disk.files import sync_directory
from larm.kit.logs.log_book import GONE, LogBook
from larm.seams import Stateful
from larm.store.lines import StorageLines

LATE = 5.0
"""Seconds of writing a checkpoint from which nothing more is fetched: a kill costs what came since the one before."""


class Saved(msgspec.Struct, frozen=True):
    """What the last checkpoint cost."""

    seconds: float
    held: float
    """Seconds of them in which the crawl was held by the gate."""
    size: int
    """Bytes of state written."""


class Ledger(NamedTuple):
    """Where checkpoints are written, and what they say of a run beside the state of its parts."""

    file: CheckpointFile
    header: Header
    """What of it is the same in all checkpoints of the run, and what is not in this run: the last positions of storages that it
    leaves out, and what `Stateful` parts said in earlier runs."""
    met: Callable[[], dict[str, list[str]]]
    """See `Header`."""
    standing: Callable[[], Standing | None] = lambda: None
    """What the last checkpoint of a run has for the start of the next one."""
    begun: Callable[[], object] = lambda: None
    """Called when the first checkpoint of the run is on the disk."""


class Checkpointer:
    """Knows every part that has state; no part knows it."""

    def __init__(
        self,
        *,
        shared: Shared,
        frontier: Frontier,
        logs: LogBook,
        lines: StorageLines,
        ledger: Ledger,
        scope: StartScope | None = None,
        parts: Sequence[Stateful] = (),
    ) -> None:
        """``parts``: all others that have state."""
        # constant after construction
        self._clock, self._counters, self._gate = shared.clock, shared.counters, shared.gate
        self._incoming, self._book, self._seen = frontier.incoming, frontier.book, frontier.seen
        self._logs = logs
        self._lines = lines
        self._file, self._header, self._met, self._standing, self._begun = ledger
        self._scope = scope
        self._parts = parts
        # only the saving thread
        self._states = dict(ledger.header.parts)
        self._lost = False
        self._began = math.inf
        self.last = Saved(0.0, 0.0, 0)
        self.begun = 0
        """So many were begun."""
        self.done = 0
        """The number of the last one that is on the disk; any thread may look."""
        self.hold_at = 0
        """Of which number the last one is as long as somebody copies the directory; 0: nobody does. Written by one thread."""
        self.on_saved: list[Callable[[], object]] = []
        """Called in turn when one is on the disk."""

    @property
    def held(self) -> bool:
        """The files of the crawl are being copied: only the end of the run may make another one."""
        return 0 < self.hold_at <= self.begun

    def keeps_up(self) -> bool:
        """Return False while a checkpoint takes too long. Thread-safe; when it is true again, `on_saved` is called."""
        return self._clock.monotonic() - self._began < LATE

    def save(self, *, finished: bool = False, last: bool = False) -> None:
        """Take the cut and write it. Raises StorageError; the checkpoint before stays usable then.

        ``last``: nothing comes after it, so each storage closes as soon as it has committed: the link graph has work to do
        then, which need not wait for the index.

        Does nothing once the gate is broken: the last checkpoint is the better one.
        """
        if self._lost:
            raise StorageError("a checkpoint failed, so no later one can be whole; the state is that of the one before")
        began = self._began = self._clock.monotonic()
        with self._gate.cut():
            if self._gate.broken:
                return  # the step that this cut waited for failed half-way; its thread ends the crawl, and says why
            self.begun += 1
            self._lost = True  # what the cut takes away from the parts is nowhere else until it is written
            entered = self._clock.monotonic()
            retired = self._file.store.retired()  # before the copies: what they refer to must stay
            incoming = self._incoming.snapshot()
            hosts, mail, known = self._book.cut(), self._book.mail.last_cut, len(self._book)
            fresh = self._seen.cut()
            if gone := self._logs.turn():
                self._counters.add(GONE, gone)
            counters = self._counters.snapshot()
            logs, turns = self._logs.positions(), self._logs.turns()
            tickets = self._lines.request_commits(last=last)
            scope = sorted(self._scope.hosts) if self._scope else []
            self._states |= {part.name: part.cut(last=last) for part in self._parts}
            epoch = self._file.store.next_epoch()  # after the copies: no block that they refer to may be of it
            standing = self._standing() if last else None
            held = self._clock.monotonic() - entered
        if last:
            self._lines.close()
        self._logs.sync()
        positions = {name: ticket.result() for name, ticket in tickets.items()}
        storages = {line.name: positions[line.name] for line in self._lines if line.lasting}
        header = msgspec.structs.replace(
            self._header,
            incoming=QueueRow.of(incoming),
            counters=counters,
            logs=logs,
            log_turns=turns,
            storages=self._header.storages | {name: dict(position) for name, position in storages.items()},
            scope_hosts=scope,
            met=self._met(),
            epoch=epoch,
            hosts=known,
            finished=finished,
            clock_moved=self._book.clock_moved,
            parts=self._states,
        )
        rows = {key: row for ticket in tickets.values() for key, row in ticket.rows.items()}
        if not self.done:
            sync_directory(self._logs.directory.parent)  # or a power cut takes a folder that this run has made
        size = self._file.write(header, hosts, fresh, retired, mail, standing, rows)
        self._lost = False
        if not self.done:
            self._begun()
        self._seen.apply(fresh, epoch, self._file.written)
        self._book.trim()
        for part in self._parts:
            part.saved()
        self.last = Saved(self._clock.monotonic() - began, held, size)
        self.done = self.begun
        self._began = math.inf
        for tell in self.on_saved:
            tell()
