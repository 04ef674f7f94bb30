"""The server: a socket, uvicorn on it, and its end. On the main thread, which is the event loop's.

Bounds are set here for what comes before any request: connections, the size of a request line with its headers, and the time in
which these must have come.
"""

import asyncio
import signal
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from larm.config.file_names import certificate_and_key
from larm.errors import UsageError, refusing
from larm.web.app import Application

CONNECTIONS = 1_000
_LARGEST_HEAD = 81_920
"""Bytes of a request line and headers that are kept while more is awaited; `larm.web.guard` is stricter."""
_HEAD_SECONDS = 10.0
"""For a request line and headers to come."""
_STALLED_SECONDS = 120.0
"""For who reads nothing of what he is sent: a browser that pauses a download asks for the rest later."""
_GOOD_BYE = 0.1
_LAST_SECONDS = 3
"""For requests under way, at the end."""


class _State(ServerState):
    """What a server and its connections share."""

    ending = False


class _PunctualProtocol(H11Protocol):
    """Closes a connection on which a request has begun, or the first one should have, and does not come to the end of its head,
    or on which nobody reads what is sent.

    uvicorn waits for both for ever; between requests it has a time-out of its own.
    """

    server_state: _State
    _timer: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(_STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.server_state.ending:  # it was accepted when the others were told, and would be waited for
            transport.close()
            return
        self._timer = self.loop.call_later(_HEAD_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        asked = self.cycle is not None and not self.cycle.response_complete
        if asked and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        elif not asked and self._timer is None and not self.transport.is_closing():
            self._timer = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def shutdown(self) -> None:
        """Who keeps a connection that idles is told that it ends; with TLS, asyncio waits half a minute for his answer."""
        super().shutdown()
        if self.scheme == "https" and self.transport.is_closing():
            self.loop.call_later(_GOOD_BYE, self.transport.abort)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        begun, _ = self.conn.trailing_data
        if begun and not self.transport.is_closing():  # with the request before it came a part of the next one
            self._timer = self.loop.call_later(_HEAD_SECONDS, self.transport.close)


class _Server(uvicorn.Server):
    """Ends by a signal as by anything else: uvicorn would send it to itself again then, and the process would be killed."""

    def __init__(self, config: uvicorn.Config, app: Application) -> None:
        super().__init__(config)
        # constant after construction
        self._app = app
        self.server_state: _State = _State()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """What goes on by itself begins."""
        await super().startup(sockets)
        self._app.open()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """What would go on for ever ends first."""
        self._app.close()
        self.server_state.ending = True
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A second Ctrl-C does not wait for requests under way."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def listen(host: str, port: int) -> socket.socket:
    """Raises UsageError where it is not to be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with refusing(f"--host {host}", OSError):
        address = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)[0][4]
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # so asyncio sets TCP_NODELAY
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(128)
    except OSError as error:
        found.close()
        raise UsageError(f"{host}, port {port}: {error.strerror or error}; --port chooses another one") from error
    return found


def is_loopback(host: str) -> bool:
    """Nobody else can get there."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def make_server(app: Application, certificate: Sequence[str] = ()) -> uvicorn.Server:
    """``run(sockets=[socket])`` returns after SIGTERM or SIGINT, within five seconds; ``should_exit`` ends it, too.

    ``certificate``: as `Serve.certificate`. Raises UsageError.
    """
    chain, key = certificate_and_key(certificate, "serve.certificate", Path()) if certificate else (None, None)
    config = uvicorn.Config(
        app.asgi,
        http=_PunctualProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_LAST_SECONDS,
        ssl_certfile=chain,
        ssl_keyfile=key,
        h11_max_incomplete_event_size=_LARGEST_HEAD,
    )
    with refusing(f"serve.certificate {', '.join(certificate)}: it can't be used", OSError, ssl.SSLError):
        config.load()
    return _Server(config, app)
