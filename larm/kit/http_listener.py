"""HttpListener: a small HTTP/1.1 server that shows its caller the certificate of each client.

One thread (`run`) waits for all sockets: it accepts, does the TLS handshakes, reads requests and writes responses. It never
waits for one client. A fixed number of threads (`serve`) call the answering function, with one request of a connection at a
time. Only POST with a Content-Length is understood. Connections, sizes and the time for each step are bounded.
"""

import queue
import selectors
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, cast

from larm.kit.clock import SystemClock

_CONNECTIONS = 512
_HEAD = 8_192
_BUFFERED = 64 * 1024 * 1024
"""Bytes of all request bodies that are in memory at a time."""
_CHUNK = 65_536
_HANDSHAKE, _REQUEST, _WRITE, _DRAIN, _LIFETIME = 5.0, 30.0, 30.0, 2.0, 50.0
"""Seconds for a handshake, to send a request once it began, to take a response, to end, and until a kept connection is
replaced, as TLS verifies certificates when a connection begins."""
_TICK = 1.0
_WANTS = (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError)
_REASONS = {200: b"OK", 400: b"Bad Request", 403: b"Forbidden", 413: b"Content Too Large", 503: b"Service Unavailable"}
_PLAIN = b"HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
"""Response to plain HTTP where TLS is wanted."""
_POST = b"POST "
_clock = SystemClock()


class Request(NamedTuple):
    """One that came in."""

    path: str
    body: bytes
    host: str
    """IP address of the client."""
    certificate: Mapping[str, Any]
    """The result of `ssl.SSLSocket.getpeercert`; empty without TLS."""


class Response(NamedTuple):
    """The status and body that the client gets."""

    status: int
    body: bytes


class _Connection:
    """One client. Only the thread of `HttpListener.run`, except that a worker keeps it with its request."""

    def __init__(self, sock: socket.socket, host: str, now: float, *, tls: bool) -> None:
        self.socket = sock
        self.host = host
        self.born = now
        self.until = now + (_HANDSHAKE if tls else _REQUEST)
        self.state: Literal["handshake", "read", "busy", "write", "drain"] = "handshake" if tls else "read"
        self.certificate: Mapping[str, Any] = {}
        self.buffer = bytearray()
        self.path = ""
        self.head, self.size = 0, 0
        """Bytes of the request's head, 0 until it is complete, and of its body."""
        self.out = memoryview(b"")
        self.ends = False
        """It is closed after the response."""
        self.events = 0


class HttpListener:
    """Bound on construction; `run` and `serve` are targets of threads that the caller makes."""

    def __init__(
        self,
        host: str,
        port: int,
        answer: Callable[[Request], Response],
        failed: Callable[[str, Exception], object],
        *,
        largest: int,
        tls: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        """Raises OSError if the address can't be bound.

        ``answer`` is called on the threads of `serve`. ``failed`` is called on the thread of `run`, with the IP address of a
        client that can't be served and the error. ``largest``: bytes of a body. ``tls`` is asked for each new connection.
        """
        # constant after construction
        self._answer = answer
        self._failed = failed
        self._largest = largest
        self._tls = tls
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listening = socket.create_server((host, port), family=family, backlog=128)
        self._listening.setblocking(False)
        self.port: int = self._listening.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._questions: queue.SimpleQueue[tuple[_Connection, Request] | None] = queue.SimpleQueue()
        self._responses: queue.SimpleQueue[tuple[_Connection, Response]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        # guarded by self._lock
        self._closing: float | None = None  # until when requests in progress are still answered
        self._begun = False
        # only ever becomes True; `_wake` reads it under the lock
        self._closed = False
        # only the thread of `run`
        self._connections: set[_Connection] = set()
        self._buffered = 0
        self._accepting = True
        self._ending = False
        self._sweep = 0.0

    def serve(self) -> None:
        """Answer requests until the listener is closed; each thread that runs this answers one at a time."""
        while (question := self._questions.get()) is not None and not self._closed:
            connection, request = question
            self._responses.put((connection, self._answer(request)))
            self._wake()
        self._questions.put(None)  # for the next thread

    def run(self) -> None:
        """Serve connections until `close`."""
        with self._lock:
            self._begun = True
        while not self._over():
            for key, events in self._selector.select(_TICK if self._connections or not self._accepting else None):
                if key.fileobj is self._woken:
                    self._woken.recv(_CHUNK)
                elif key.fileobj is self._listening:
                    self._accept()
                elif key.data in self._connections and events:
                    self._advance(key.data)
            while not self._responses.empty():
                self._respond(*self._responses.get())
            self._clean()
        self._end()

    def close(self, seconds: float) -> None:
        """Accept nothing more and end `run` and `serve`; requests in progress get ``seconds``. Thread-safe."""
        with self._lock:
            self._closing = _clock.monotonic() + seconds
            begun, self._begun = self._begun, True
        if begun:
            self._wake()
        else:
            self._over()
            self._end()

    def _end(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._waker.close()
        self._questions.put(None)
        for connection in list(self._connections):
            self._drop(connection)
        self._woken.close()
        self._selector.close()

    def _over(self) -> bool:
        with self._lock:
            closing = self._closing
        if closing is None:
            return False
        if not self._ending:
            self._ending = True
            if self._accepting:
                self._selector.unregister(self._listening)
            self._listening.close()  # further clients are refused
        for connection in [each for each in self._connections if each.state in {"handshake", "read"}]:
            self._drop(connection)
        return not self._connections or _clock.monotonic() >= closing

    def _wake(self) -> None:
        with self._lock:
            if not self._closed:
                self._waker.send(b"\0")

    def _accept(self) -> None:
        if len(self._connections) >= _CONNECTIONS:
            idle = [each for each in self._connections if each.state != "busy"]
            if idle:  # of strangers in their handshakes, then of clients, the one that has least time left
                self._drop(min(idle, key=lambda each: (each.state != "handshake", each.until)))
        try:
            sock, peer = self._listening.accept()
        except BlockingIOError:
            return
        except OSError:  # no descriptor is free: wait for the next sweep
            self._selector.unregister(self._listening)
            self._accepting = False
            return
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                sock = self._tls().wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
        except OSError:  # it has gone already
            sock.close()
            return
        connection = _Connection(sock, peer[0], _clock.monotonic(), tls=self._tls is not None)
        self._connections.add(connection)
        self._watch(connection, selectors.EVENT_READ)

    def _advance(self, connection: _Connection) -> None:
        """Do what is possible without waiting."""
        try:
            if connection.state == "handshake":
                self._shake_hands(connection)
            if connection.state == "read":
                self._read(connection)
            elif connection.state == "write":
                self._write(connection)
            elif connection.state == "drain":
                while socket.socket.recv(connection.socket, _CHUNK):
                    pass  # so that the client gets what was sent, and no reset
                self._drop(connection)
        except _WANTS as want:
            reads = isinstance(want, ssl.SSLWantReadError) or (
                isinstance(want, BlockingIOError) and connection.state != "write"
            )
            self._watch(connection, selectors.EVENT_READ if reads else selectors.EVENT_WRITE)
        except OSError:  # also of TLS
            self._drop(connection)

    def _shake_hands(self, connection: _Connection) -> None:
        tls = cast(ssl.SSLSocket, connection.socket)
        try:
            tls.do_handshake()
        except _WANTS:
            raise
        except OSError as error:
            self._failed(connection.host, error)
            if getattr(error, "reason", "") == "HTTP_REQUEST":
                socket.socket.send(connection.socket, _PLAIN)
            self._drain(connection)
            return
        connection.certificate = tls.getpeercert() or {}
        connection.state, connection.until = "read", _clock.monotonic() + _REQUEST

    def _read(self, connection: _Connection) -> None:
        while connection.state == "read":
            data = connection.socket.recv(_CHUNK)
            if not data:
                if connection.certificate and not connection.path:  # libcurl verifies some things after the handshake
                    self._failed(connection.host, ConnectionError("it ended the connection before a request"))
                self._drop(connection)
                return
            if not connection.buffer:
                connection.until = _clock.monotonic() + _REQUEST
            connection.buffer += data
            self._take(connection)

    def _take(self, connection: _Connection) -> None:
        """Give a request that is complete to the workers."""
        buffer = connection.buffer
        if not connection.head:
            end = buffer.find(b"\r\n\r\n", 0, _HEAD)
            if end < 0:
                if not _POST.startswith(buffer[: len(_POST)]):
                    self._failed(connection.host, ConnectionError("it does not speak HTTP"))
                    self._refuse(connection, 400)
                elif len(buffer) >= _HEAD:
                    self._refuse(connection, 400)
                return
            status = self._parse(connection, bytes(buffer[:end]).decode("latin-1"))
            if status:
                self._refuse(connection, status)
                return
            connection.head = end + 4
            self._buffered += connection.size
        end = connection.head + connection.size
        if len(buffer) >= end:
            body = bytes(memoryview(buffer)[connection.head : end])
            connection.buffer = buffer[end:]
            connection.state = "busy"
            self._watch(connection, 0)
            request = Request(connection.path, body, connection.host, connection.certificate)
            self._questions.put((connection, request))

    def _parse(self, connection: _Connection, head: str) -> int:
        """Read the head of a request; return the status if it is refused, else 0."""
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        path, _, version = rest.partition(" ")
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = fields.get("content-length", "")
        if method != "POST" or version != "HTTP/1.1" or not (length.isascii() and length.isdigit() and len(length) < 12):
            return 400
        connection.path, connection.size = path, int(length)
        connection.ends = fields.get("connection", "").lower() == "close"
        if connection.size > self._largest:
            return 413
        return 503 if self._buffered + connection.size > _BUFFERED else 0

    def _refuse(self, connection: _Connection, status: int) -> None:
        connection.ends = True
        connection.size = 0
        self._send(connection, Response(status, b""))

    def _respond(self, connection: _Connection, response: Response) -> None:
        """Send the response of a worker."""
        self._buffered -= connection.size
        if connection in self._connections:
            self._send(connection, response)
            self._advance(connection)

    def _send(self, connection: _Connection, response: Response) -> None:
        """Prepare a response; `_advance` writes it."""
        now = _clock.monotonic()
        connection.ends = connection.ends or now - connection.born > _LIFETIME or self._ending
        close = b"connection: close\r\n" if connection.ends else b""
        reason = _REASONS.get(response.status, b"")
        head = b"HTTP/1.1 %d %s\r\ncontent-length: %d\r\n%s\r\n" % (response.status, reason, len(response.body), close)
        connection.out = memoryview(head + response.body)
        connection.head = connection.size = 0
        connection.state, connection.until = "write", now + _WRITE
        self._watch(connection, selectors.EVENT_WRITE)

    def _write(self, connection: _Connection) -> None:
        while connection.out:
            connection.out = connection.out[connection.socket.send(connection.out) :]
        if connection.ends:
            self._drain(connection)
            return
        connection.state, connection.until = "read", connection.born + _LIFETIME
        self._watch(connection, selectors.EVENT_READ)
        self._take(connection)  # the client may have sent the next request
        if connection.state == "read":
            self._read(connection)

    def _drain(self, connection: _Connection) -> None:
        """End our side, then wait for the end of the client's."""
        connection.state, connection.until = "drain", _clock.monotonic() + _DRAIN
        connection.buffer = bytearray()
        self._watch(connection, selectors.EVENT_READ)
        connection.socket.shutdown(socket.SHUT_WR)

    def _clean(self) -> None:
        """Once a second, end connections whose time is up."""
        now = _clock.monotonic()
        if now < self._sweep:
            return
        self._sweep = now + _TICK
        for connection in [each for each in self._connections if each.state != "busy" and each.until <= now]:
            self._drop(connection)
        if not self._accepting and not self._ending:
            self._accepting = True
            self._selector.register(self._listening, selectors.EVENT_READ)

    def _drop(self, connection: _Connection) -> None:
        self._watch(connection, 0)
        self._connections.discard(connection)
        if connection.state == "read":
            self._buffered -= connection.size if connection.head else 0
        connection.socket.close()

    def _watch(self, connection: _Connection, events: int) -> None:
        if events == connection.events:
            return
        if not events:
            self._selector.unregister(connection.socket)
        elif not connection.events:
            self._selector.register(connection.socket, events, connection)
        else:
            self._selector.modify(connection.socket, events, connection)
        connection.events = events
