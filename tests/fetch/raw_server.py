"""RawServer: a loopback server that answers with bytes as they are, so that it can be as wrong as the web."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType

CERTIFICATE = Path(__file__).with_name("localhost.pem")  # for localhost, signed by itself

Answer = Callable[[bytes], bytes | Iterable[bytes]]


def page(body: bytes, *fields: bytes, status: bytes = b"200 OK") -> bytes:
    """A proper answer."""
    head = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *fields]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


class RawServer:
    """Sends what ``answer(request)`` gives, piece by piece; then closes, or with ``keep`` waits for the next request.

    A generator that waits for ``over`` stalls until the test is over.
    """

    def __init__(
        self,
        answer: bytes | Answer,
        keep: bool = False,
        tls: bool = False,
        address: str = "127.0.0.1",
        wants: ssl.VerifyMode = ssl.CERT_NONE,
        most: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED,
    ) -> None:
        """``wants``: a certificate of who asks, which `CERTIFICATE` has signed."""
        self._answer = answer if callable(answer) else lambda _request: answer
        self._keep = keep
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if tls else None
        if self._tls:
            self._tls.load_cert_chain(CERTIFICATE)
            self._tls.load_verify_locations(CERTIFICATE)
            self._tls.verify_mode, self._tls.maximum_version = wants, most
        self._listener = socket.create_server((address, 0), backlog=256)
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []  # noqa: TID251
        self.port: int = self._listener.getsockname()[1]
        self.requests: list[bytes] = []
        self.connections = 0
        self.shown: list[bool] = []
        """Of each request over TLS, whether a certificate came with its connection."""
        self.reached: list[str] = []
        """The addresses that clients connected to."""
        self.over = threading.Event()
        self._run(self._accept)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    def stall(self) -> Iterator[bytes]:
        """Nothing, until the test is over."""
        self.over.wait(30)
        yield b""

    def close(self) -> None:
        self.over.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._sockets):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
            assert not thread.is_alive()

    def __enter__(self) -> RawServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _run(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)  # noqa: TID251
        self._threads = [*(old for old in self._threads if old.is_alive()), thread]
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self.reached.append(connection.getsockname()[0])
            self._run(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        self._sockets.add(connection)
        try:
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
                self._shake_hands(connection)
            with connection:
                while self._serve_one(connection) and self._keep:
                    pass
        except OSError:  # the client has gone, as it often should
            connection.close()
        finally:
            self._sockets.discard(connection)

    @staticmethod
    def _shake_hands(connection: ssl.SSLSocket) -> None:
        """Who is refused may read why."""
        try:
            connection.do_handshake()
        except ssl.SSLError:
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
            raise

    def _serve_one(self, connection: socket.socket) -> bool:
        request = b""
        while b"\r\n\r\n" not in request and request[:1] != b"\x16":  # or TLS, which we don't speak
            piece = connection.recv(65536)
            if not piece:
                return False
            request += piece
        self.requests.append(request)
        if isinstance(connection, ssl.SSLSocket):
            self.shown.append(bool(connection.getpeercert()))
        answer = self._answer(request)
        for piece in [answer] if isinstance(answer, bytes) else answer:
            connection.sendall(piece)
        return True
