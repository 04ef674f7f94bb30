"""ControlServer: the socket of a running crawl and its connections. The body of ``larm-control``.

One thread for all: it sleeps until somebody comes, so a crawl that nobody talks to pays nothing. Nobody who talks can hold it
up: nothing is waited for, a request has a longest length, who does not read gets no more answers, of too many connections the
one that was silent longest goes, and whatever is asked, the thread takes a fifth of a core at most. Orders are answered when
they are in the journal, and take effect before the next request is looked at. A mistake of ours in an answer is told to who has
asked, and counted; it is no reason to end a crawl. One in an order is.
"""

import selectors
import socket
import time
from collections.abc import Callable
from pathlib import Path

from larm.crawldir.control_socket import listen, remove
from larm.engine.checkpointer import Checkpointer
from larm.engine.orders import Done
from larm.errors import LarmError, UsageError
from larm.kit.disk.lock import DirectoryLock
from larm.ops.control.connection import Connection
from larm.ops.control.desk import ControlDesk
from larm.ops.control.requests import (
    AnyRequest,
    Checkpoint,
    Do,
    Hold,
    Release,
    Stop,
    Tail,
    Watch,
    decode_request,
    encode_answer,
    encode_refusal,
)
from larm.seams import Clock

CONNECTIONS = 64
"""At a time: a terminal or two, and a server that has one for all who look at it."""
EVERY = 1.0
"""Seconds between two answers of a stream."""
_REST = 4.0
"""Seconds of rest for each second of processor time: a fifth of a core."""

_SHORT = 0.001


class ControlServer:
    """`open` on the main thread, `run` on a thread of its own, `saved` and `stop` on any."""

    def __init__(
        self,
        lock: DirectoryLock,
        desk: ControlDesk,
        clock: Clock,
        checkpoints: Checkpointer,
        hurry: Callable[[], object],
        *,
        counted: Callable[[str, int], object],
    ) -> None:
        """``hurry`` has a checkpoint made soon; ``counted`` is that of the crawl."""
        # constant after construction
        self._lock = lock
        self._desk = desk
        self._clock = clock
        self._checkpoints = checkpoints
        self._hurry = hurry
        self._counted = counted
        self._waker, self._bell = socket.socketpair()
        for end in (self._waker, self._bell):
            end.setblocking(False)
        # constant after `open`
        self._listener: socket.socket | None = None
        self._path: Path | None = None
        # written by any thread
        self._stopping = False
        # written by the control thread
        self._awaited = False
        """Somebody waits for a checkpoint."""
        # only the control thread
        self._selector = selectors.DefaultSelector()
        self._connections: dict[int, Connection] = {}
        self._resting = selectors.DefaultSelector()
        self._owed = 0.0
        """Seconds of rest."""
        self._next = 0.0
        """When the streams are answered again."""

    def open(self) -> None:
        """Listen. After the process has made copies of itself, which would listen too. Raises StorageError."""
        self._listener, self._path = listen(self._lock)

    def tell(self, waits: tuple[str, ...]) -> None:
        """The crawl ends, and waits for these. Main thread."""
        self._desk.waits = waits

    def saved(self) -> None:
        """A checkpoint is on the disk. Tick thread, and at the end another."""
        if self._awaited:
            self._wake()

    def _wake(self) -> None:
        try:
            self._bell.send(b"!")
        except OSError:  # it is full: the thread will wake anyway; or closed
            return

    def stop(self) -> None:
        """Close all connections; returns at once. For who waits for a checkpoint this must come after it."""
        self._stopping = True
        self._wake()

    def run(self) -> None:
        """Until `stop`."""
        if self._listener is None:
            return
        self._selector.register(self._waker, selectors.EVENT_READ)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._resting.register(self._waker, selectors.EVENT_READ)
        try:
            while not self._stopping:
                events = self._selector.select(self._timeout())
                began = time.thread_time()
                self._listen_for(events)
                self._work()
                self._rest(_REST * (time.thread_time() - began))
            self._answer_checkpoints()
        finally:
            self.close()

    def close(self) -> None:
        """Leave nothing behind; a second call does nothing."""
        for connection in list(self._connections.values()):
            self._drop(connection)
        listener, self._listener = self._listener, None
        if listener is not None and self._path is not None:
            remove(self._path)
            listener.close()
        self._selector.close()
        self._resting.close()
        self._waker.close()
        self._bell.close()

    # -- the control thread

    def _timeout(self) -> float | None:
        if any(each.ready for each in self._connections.values()):
            return 0.0
        if not any(each.stream for each in self._connections.values()):
            return None
        return max(self._next - self._clock.monotonic(), 0.0)

    def _listen_for(self, events: list[tuple[selectors.SelectorKey, int]]) -> None:
        now = self._clock.monotonic()
        for key, _ in events:
            if key.fileobj is self._waker:
                self._quiet()
            elif key.fileobj is self._listener:
                self._accept(now)
            elif connection := self._connections.get(key.fd):
                connection.flush()
                if connection.reads:
                    connection.receive(now)

    def _quiet(self) -> None:
        try:
            while self._waker.recv(64):
                pass
        except BlockingIOError:
            return

    def _accept(self, now: float) -> None:
        assert self._listener is not None  # noqa: S101
        try:
            client, _ = self._listener.accept()
        except OSError:  # it went away again, or no file may be opened: then it has to wait
            return
        client.setblocking(False)
        if len(self._connections) >= CONNECTIONS:
            self._drop(min(self._connections.values(), key=lambda each: (each.stream is not None, each.heard)))
        connection = self._connections[client.fileno()] = Connection(client, now)
        self._listen_to(connection, selectors.EVENT_READ)

    def _work(self) -> None:
        """At most one request of each connection."""
        for connection in list(self._connections.values()):
            if connection.ready:
                connection.send(self._answer(connection, connection.next()))
                self._desk.carry_out()
        self._answer_checkpoints()
        now = self._clock.monotonic()
        if now >= self._next:
            self._next = now + EVERY
            self._answer_streams()
        for connection in list(self._connections.values()):
            if connection.over and not connection.sending:
                self._drop(connection)
            else:
                reads = selectors.EVENT_READ if connection.reads else 0
                self._listen_to(connection, selectors.EVENT_WRITE if connection.sending else reads)

    def _listen_to(self, connection: Connection, events: int) -> None:
        if events == connection.events:
            return
        if not events:
            self._selector.unregister(connection.socket)
        elif connection.events:
            self._selector.modify(connection.socket, events)
        else:
            self._selector.register(connection.socket, events)
        connection.events = events

    def _answer(self, connection: Connection, line: bytes) -> bytes:
        """What is sent at once; nothing where the answer comes later."""
        try:
            request = decode_request(line)
            if isinstance(request, (Do, Stop)):
                return encode_answer(self._desk.answer(request))
            if isinstance(request, Checkpoint):
                self._awaited = True  # before the number is looked at
                connection.checkpoint = self._checkpoints.begun + 1
                self._hurry()
                return b""
            if isinstance(request, Hold):
                self._hold(connection)
                return b""
            if isinstance(request, Release):
                self._release(connection)
            if isinstance(request, Tail) and request.follow and request.log:
                _, connection.position = self._desk.added(request.log, None)
            answer = self._look(request)
            if isinstance(request, Watch) or (isinstance(request, Tail) and request.follow and request.log):
                connection.stream = request
            return answer
        except (ValueError, UsageError) as error:
            return encode_refusal(str(error))

    def _hold(self, connection: Connection) -> None:
        """As a checkpoint, and none after it. Raises UsageError."""
        if self._checkpoints.hold_at:
            raise UsageError("somebody else copies the files of this crawl just now")
        self._awaited = True
        connection.checkpoint = connection.hold = self._checkpoints.hold_at = self._checkpoints.begun + 1
        self._hurry()

    def _release(self, connection: Connection) -> None:
        """Raises UsageError where what it has copied may not belong together."""
        number, connection.hold = connection.hold, 0
        if not number:
            raise UsageError("nothing is held for this connection")
        self._checkpoints.hold_at = 0
        self._hurry()
        if self._checkpoints.begun != number:
            raise UsageError("the crawl has saved again meanwhile")

    def _look(self, request: AnyRequest) -> bytes:
        """The answer to what changes nothing."""
        try:
            return encode_answer(self._desk.answer(request))
        except LarmError:
            raise
        except Exception as error:
            self._counted("control/failed", 1)
            raise UsageError(f"larm fails to answer this: {type(error).__name__}: {error}") from error

    def _answer_checkpoints(self) -> None:
        for connection in self._connections.values():
            if connection.checkpoint and connection.checkpoint <= self._checkpoints.done:
                connection.checkpoint = 0
                connection.send(encode_answer(Done("saved")))
        self._awaited = any(each.checkpoint for each in self._connections.values())

    def _answer_streams(self) -> None:
        """Who has not taken the last answer yet misses this one; lines of a log come with the next."""
        report = b""
        for connection in self._connections.values():
            if connection.sending or connection.over:
                continue
            if isinstance(connection.stream, Watch):
                report = report or self._report(connection.stream)
                connection.send(report)
            elif isinstance(connection.stream, Tail):
                try:
                    lines, connection.position = self._desk.added(connection.stream.log, connection.position)
                except UsageError:  # it was moved just now; the next time it may be there
                    continue
                if lines.lines:
                    connection.send(encode_answer(lines))

    def _report(self, request: Watch) -> bytes:
        try:
            return self._look(request)
        except UsageError as error:
            return encode_refusal(str(error))

    def _rest(self, seconds: float) -> None:
        """Nobody is heard meanwhile but who stops the crawl or has saved a checkpoint. Very short ones are put together."""
        self._owed += seconds
        if self._owed > _SHORT and not self._stopping:
            self._resting.select(self._owed)
            self._owed = 0.0

    def _drop(self, connection: Connection) -> None:
        self._connections.pop(connection.socket.fileno(), None)
        if connection.hold:
            self._checkpoints.hold_at = 0
        self._listen_to(connection, 0)
        connection.socket.close()
