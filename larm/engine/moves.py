"""Moves: hosts that go from one crawl to another, whole: queue, record, robots.txt, traps, page book, what was asked for.

The door for whoever moves them (a cluster, say), and who carries the parts. A host goes like this from here to there:

1. here `freeze`: no lease any more; what is in the air lands; what is found of it waits (`larm.filters.away`).
2. When a checkpoint has seen that nothing is in the air it is `still`, which `on_still` is told. `parts` may be read now: the
   same ones each time, also after a restart, but for the times in the first.
3. there `receive` for each part, in their order. What it has acknowledged is in its journal. The host stays frozen there until
   the last part is in, and then waits a full delay, or what was left of its back-off.
4. here `forget`, when the last part is acknowledged: the host goes, with its fingerprints and rows of the page book, and what
   waited goes through the filters, of which one has to know by now whose host it is. Or `thaw`: it stays.

So at every moment one crawl at most may ask it. Who is killed before `forget` has the host, frozen; the parts may be sent
again, and those that are there already are not taken twice. All orders are in the journal, all that is known in the checkpoint.

Pages stay in the index of the crawl that fetched them. What an order of the crawl knows (``frontier.order``) does not move.

The methods may be called on any thread, not within a step of the gate. The rest of the work is done on the thread that saves,
after checkpoints (`work`), a part at a time.
"""

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from larm.engine.move_orders import (
    NAME,
    AnyMoveOrder,
    Forget,
    Freeze,
    Move,
    MovesState,
    Receive,
    Thaw,
    checked_part,
    decode_order,
    encode_order,
)
from larm.engine.parts import Frontier, Shared
from larm.engine.steering import Steering
from larm.errors import UsageError
from larm.frontier.host import Host
from larm.frontier.host_parts import (
    QUEUE,
    Begin,
    End,
    Pages,
    Part,
    Waiting,
    decode_part,
    encode_part,
    parts_of,
    take_in_locked,
    take_out_locked,
)
from larm.frontier.host_records import HostRow
from larm.frontier.robots.desk import Arrival
from larm.model.document import Visit
from larm.model.file_url import FILES
from larm.model.message import URLMessage, decode_messages
from larm.store.pages.page_row import PageRow, decode_row, encode_row
from larm.store.pages.page_rows import PageRows
from larm.store.pipeline import StorageLine

_BATCH = 1_000
_AT_ONCE = 100
"""Batches after a checkpoint; then there is another one: it must not be long without."""


class Moves:
    """Implements `larm.seams.Stateful`."""

    name = NAME

    def __init__(  # noqa: PLR0917
        self, shared: Shared, frontier: Frontier, steering: Steering, pages: StorageLine, page_book: Path, state: MovesState
    ) -> None:
        """``pages``: the line of the page book, which is at ``page_book``; ``state``: of the last checkpoint."""
        # constant after construction
        self._shared = shared
        self._frontier = frontier
        self._away = frontier.away
        self._steering = steering
        self._pages = pages
        self._page_book = page_book
        self._receiving = threading.Lock()
        self._lock = threading.Lock()
        # guarded by self._lock
        self._moves = dict(state.moves)
        self._had = dict(state.had)
        self._still: set[str] = set()
        # only the saving thread
        self._quiet: set[str] = set()
        self._left: set[str] = set()
        self._last = False
        # replaced before any other thread runs
        self.me = ""
        """Of this crawl, in the rows of pages that it has fetched; for who has to know later which pages went with it."""
        self.on_waiting: Callable[[list[URLMessage]], list[URLMessage]] = lambda messages: messages
        """Told of what waits at a host that comes; what it returns is queued. In a step of the gate."""
        self.on_still: Callable[[str], object] = lambda _: None
        """Told on the saving thread of a host that may be sent."""
        self.on_gone: Callable[[str], object] = lambda _: None
        """Told on the saving thread of a host of which nothing is left here."""
        steering.recipients[self.name] = self._carry_out

    # -- any thread

    def phase(self, host: str) -> str:
        """``frozen``, ``still`` (frozen, and it may be sent), ``leaving``, ``left``, ``arriving``; empty: it does not move."""
        with self._lock:
            move = self._moves.get(host)
            return "still" if host in self._still and move and move.phase == "frozen" else move.phase if move else ""

    def moving(self) -> dict[str, str]:
        """The phases of all hosts that move."""
        with self._lock:
            hosts = list(self._moves)
        return {host: phase for host in hosts if (phase := self.phase(host))}

    def had(self, host: str) -> str:
        """The move by which a host has come, and not left since; empty: it has not come."""
        with self._lock:
            return self._had.get(host, "")

    def freeze(self, *hosts: str) -> None:
        """Begin to move them away: one order, for many as for one. Raises UsageError where one moves already, or can't."""
        for host in hosts:
            if host == FILES:
                raise UsageError("files stay where they are")
            self._refuse(host, ("",))
        self._order(Freeze({host: secrets.token_hex(8) for host in hosts}))

    def thaw(self, host: str) -> None:
        """It stays after all; or nothing more of it comes, and it is asked as far as it has come.

        Raises UsageError where it is neither frozen nor arriving.
        """
        self._refuse(host, ("frozen", "still", "arriving"))
        self._order(Thaw(host))

    def parts(self, host: str) -> Iterator[bytes]:
        """All that there is of it; some 100 KB each. Raises UsageError where it is not still; StorageError."""
        self._refuse(host, ("still",))
        with self._lock:
            move = self._moves[host].id
        with closing(PageRows(self._page_book)) as rows:
            pages = ([(key, encode_row(self._signed(row))) for key, row in batch] for batch in rows.of_host(host))
            for part in parts_of(self._frontier.book, host, move, pages):
                yield encode_part(part)

    def receive(self, *data: bytes) -> None:
        """Parts of hosts that come: when this returns, they are on the disk; also where they were before.

        Raises UsageError where an earlier part is missing, or one is none, and takes none of them then; StorageError.
        """
        parts = [checked_part(each) for each in data]
        with self._receiving:
            self._steering.carry_out()  # what the journal has of them
            expected: dict[str, int] = {}
            new = [each for part, each in zip(parts, data, strict=True) if self._is_new(part, expected)]
            if new:
                self._order(Receive(tuple(new)))

    def _is_new(self, part: Part, expected: dict[str, int]) -> bool:
        """``expected``: the number that has to come, by host, of those that parts before this one are of."""
        with self._lock:
            move, had = self._moves.get(part.host), self._had.get(part.host)
        if had == part.move:
            return False
        known = move.next if move is not None and (move.phase, move.id) == ("arriving", part.move) else 0
        number = expected.get(part.host, known)
        if part.number < number:
            return False
        if part.number > number:
            raise UsageError(f"{part.host}: part {part.number} came before part {number}")
        self._refuse(part.host, ("", "arriving"))
        expected[part.host] = number + 1
        return True

    def forget(self, *hosts: str, passes_on: bool = False) -> None:
        """They are another crawl's now: nothing is left of them here.

        ``passes_on``: that crawl has got nothing of them, so what waits goes through the filters first. Raises UsageError where
        one is not still, or only half here.
        """
        for host in hosts:
            self._refuse(host, ("still", "arriving"))
        self._order(Forget(hosts, passes_on))

    def _refuse(self, host: str, phases: Sequence[str]) -> None:
        phase = self.phase(host)
        if phase not in phases:
            raise UsageError(f"{host}: it {f'is {phase}' if phase else 'does not move'}")

    def _order(self, order: AnyMoveOrder) -> None:
        self._steering.deliver(self.name, encode_order(order))
        self._steering.carry_out()

    # -- in a step of the gate

    def _carry_out(self, data: bytes) -> None:
        """An order from the journal. One that makes no sense any more has been carried out before, or was overtaken."""
        match decode_order(data):
            case Freeze(moves):
                for host, name in moves.items():
                    if self._move(host) is None:
                        self._close(host, Move("frozen", name))
            case Thaw(host):
                move = self._move(host)
                if move is not None and move.phase in ("frozen", "arriving"):
                    self._open(host)
            case Forget(hosts, passes_on):
                for host in hosts:
                    self._begin_to_forget(host, passes_on=passes_on)
            case Receive(parts):
                for part in parts:
                    self._take_in(decode_part(part))
                return
        self._shared.ticker.hurry()

    def _move(self, host: str) -> Move | None:
        with self._lock:
            return self._moves.get(host)

    def _begin_to_forget(self, host: str, *, passes_on: bool) -> None:
        with self._lock:
            move = self._moves.get(host)
            if move is not None and move.phase in ("frozen", "arriving"):
                move.phase, move.passes_on = "leaving", passes_on
                self._still.discard(host)  # a checkpoint has to know of all its pages first

    def _close(self, host: str, move: Move) -> None:
        self._away.close_to(host)
        self._frontier.changes.freeze(host)
        with self._lock:
            self._moves[host] = move

    def _take_in(self, part: Part) -> None:
        host, frontier = part.host, self._frontier
        move = self._move(host)
        if isinstance(part, Begin):
            if move is not None and move.phase != "arriving":
                return
            self._close(host, Move("arriving", part.move, 1))
            row = msgspec.structs.replace(part.row, delayed=self._unknown(part.row))
            frontier.changes.alter(host, lambda record: frontier.book.adopt_locked(record, row))
            return
        if move is None or (move.phase, move.id, move.next) != ("arriving", part.move, part.number):
            return
        if isinstance(part, Waiting):
            messages = decode_messages(part.messages)
            new = frontier.seen.add_new([message.url.fingerprint for message in messages])
            mine = [each for each, is_new in zip(messages, new, strict=True) if is_new or each.known is not None]
            mine = self.on_waiting(mine) if part.place == QUEUE else mine
            frontier.changes.alter(host, lambda record: self._put_locked(record, part.place, mine))
            frontier.book.relieve()
        elif isinstance(part, Pages):
            frontier.seen.add_new([key for key, _ in part.rows])
            self.note([(key, decode_row(row, self._page_book)) for key, row in part.rows])
        with self._lock:
            move.next += 1
        if isinstance(part, End):
            with self._lock:
                self._had[host] = part.move
            self._open(host)

    def note(self, rows: Sequence[tuple[int, PageRow]]) -> None:
        """Pages that were seen, and need not be asked for: another crawl has them, or this one from before."""
        self._pages.put([_visit(key, row, row=encode_row(row)) for key, row in rows])

    def _signed(self, row: PageRow) -> PageRow:
        return row if row.by or not self.me else msgspec.structs.replace(row, by=self.me)

    def _unknown(self, row: HostRow) -> list[tuple[float, URLMessage]]:
        """Retries that nobody has here."""
        new = self._frontier.seen.add_new([message.url.fingerprint for _, message in row.delayed])
        return [each for each, is_new in zip(row.delayed, new, strict=True) if is_new or each[1].known is not None]

    def _put_locked(self, record: Host, place: int, messages: list[URLMessage]) -> None:
        take_in_locked(record, place, messages)
        self._frontier.book.put_locked(len(messages))

    def _open(self, host: str) -> None:
        """It is like all others again, and what was found of it meanwhile goes through the filters."""
        self._frontier.changes.thaw(host)
        self._frontier.handler.robots_arrived(Arrival(host, "", None))
        with self._lock:
            del self._moves[host]
            self._still.discard(host)
        self._let_in(host)

    def _let_in(self, host: str, *, gone: bool = False) -> None:
        """``gone``: the host is not here any more; what was to be revisited is so by the other crawl."""
        while messages := self._away.take(host, _BATCH):
            self._frontier.handler.put([each for each in messages if each.known is None] if gone else messages)
            self._shared.tally.fall(len(messages))

    # -- the checkpoint

    def cut(self, *, last: bool) -> object:
        """See `larm.seams.Stateful`."""
        self._last = last
        with self._lock:
            moves = {host: msgspec.structs.replace(move) for host, move in self._moves.items()}
            had = dict(self._had)
        self._quiet = {host for host, move in moves.items() if not self._frontier.changes.busy(host)}
        self._left = {host for host, move in moves.items() if move.phase == "left"}
        state = MovesState(moves, had, self._away.rows())
        return msgspec.msgpack.encode(state) if moves or had or state.away else b""

    def saved(self) -> None:
        """See `larm.seams.Stateful`."""
        with self._lock:
            new = {host for host in self._quiet - self._still if host in self._moves and self._moves[host].phase != "left"}
            self._still |= new
            told = [host for host in new if self._moves[host].phase == "frozen"]
        for host in told:
            self.on_still(host)

    def work(self) -> None:
        """After a checkpoint, on the thread that saves: what is left of hosts that leave goes, some at a time."""
        if self._last:
            return
        with self._lock:
            leaving = [host for host in self._still if host in self._moves and self._moves[host].phase == "leaving"]
        batches = 0
        for host in leaving:
            while batches < _AT_ONCE and self._empty(host):
                batches += 1
            if batches < _AT_ONCE:
                self._forget(host)
        for host in self._left:
            self._purge(host)
        if leaving or self._left:
            self._shared.ticker.hurry()

    def _empty(self, host: str) -> bool:
        """Some of what waits there goes, and is not known as seen any more."""
        with self._shared.gate.step():
            messages = self._frontier.changes.alter(host, lambda record: take_out_locked(record, _BATCH))
            self._frontier.seen.discard([message.url.fingerprint for message in messages])
            move = self._move(host)
            if move is not None and move.passes_on:
                self._frontier.handler.put([each for each in messages if each.known is None])
        return bool(messages)

    def _forget(self, host: str) -> None:
        with closing(PageRows(self._page_book)) as rows:
            for batch in rows.of_host(host):
                with self._shared.gate.step():
                    self._frontier.seen.discard([key for key, _ in batch])
        with self._shared.gate.step():
            self._frontier.changes.forget(host)
            with self._lock:
                self._moves[host].phase = "left"
                self._still.discard(host)

    def _purge(self, host: str) -> None:
        """That is in a checkpoint now, so the rows which said what to forget may go."""
        with closing(PageRows(self._page_book)) as rows:
            for batch in rows.of_host(host):
                with self._shared.gate.step():
                    self._pages.put([_visit(key, row, left=True) for key, row in batch])
        with self._shared.gate.step():
            with self._lock:
                del self._moves[host]
                self._had.pop(host, None)
            self._let_in(host, gone=True)
        self.on_gone(host)


def _visit(key: int, known: PageRow, *, row: bytes = b"", left: bool = False) -> Visit:
    url = known.message(key).url
    return Visit(page=url.access, url=url, row=row, left=left)
