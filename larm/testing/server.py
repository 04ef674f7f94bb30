"""The HTTP/1.1 server under the synthetic web: one connection, spoken byte by byte.

Runs on the event loop of `larm.testing.web`, whose thread is the only one that touches a `Connection`. Understands what a
crawler sends (GET and HEAD, keep-alive, pipelining, a body that is skipped), and answers whatever the site says, bad manners
included.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import cast

from larm.testing.replies import Reply
from larm.testing.request_log import Request

_HEAD_LIMIT = 65_536
_PIECE = 65_536
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER: on, 0 s

Answer = Callable[[Request], tuple[Reply, float]]
"""Gives the reply and the seconds to wait before it."""


class Connection(asyncio.Protocol):
    """One TCP connection. Answers its requests one after the other, in order."""

    def __init__(self, number: int, answer: Answer, now: Callable[[], float], connections: set[Connection]) -> None:
        # constant after construction
        self._number = number
        self._answer = answer
        self._now = now
        self._connections = connections
        # only the event loop's thread
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._skip = 0  # bytes of a request's body still to come
        self._request: Request | None = None  # being answered
        self._timer: asyncio.Handle | None = None
        self._paused = False
        self._resume: Callable[[], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there."""
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  the protocol wants it
        """It has gone, or we have: whatever was being answered ends here."""
        self._connections.discard(self)
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        if self._request is not None:
            self._request.ended = self._now()

    def abort(self) -> None:
        """Cut off; for the end of the server."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Bytes of requests, cut anywhere."""
        self._buffer += data
        if self._request is None:
            self._next()

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        self._paused = True

    def resume_writing(self) -> None:
        """It has caught up."""
        self._paused = False
        if self._resume is not None:
            resume, self._resume = self._resume, None
            resume()

    def _next(self) -> None:
        """Answer the requests that are there, until one takes time."""
        while self._request is None and self._transport is not None and not self._transport.is_closing():
            if self._skip:
                cut = min(self._skip, len(self._buffer))
                self._skip -= cut
                self._buffer = self._buffer[cut:]
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self._buffer) > _HEAD_LIMIT:
                    self._transport.abort()
                return
            head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
            self._begin(head)

    def _begin(self, head: bytes) -> None:
        line, _, _ = head.partition(b"\r\n")
        words = line.decode("latin-1").split(" ")
        if len(words) != 3 or self._transport is None:
            self._bad_request()
            return
        method, target, _ = words
        request = Request(_host(head), target, method, self._number, self._now(), head)
        if b"ontent-" in head:
            self._skip = int(request.headers.get("content-length", "0"))
        self._request = request
        reply, delay = self._answer(request)
        if delay:
            self._after(delay, self._send, reply)
        else:
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        request, transport = self._request, self._transport
        if request is None or transport is None:
            return
        request.status = reply.status
        wire = reply.head if request.method == "HEAD" else reply.wire
        if reply.endless and request.method != "HEAD":
            transport.write(wire)
            self._repeat(reply.endless)
        elif reply.piece:
            self._drip(reply, wire, 0)
        else:
            self._finish(reply, wire)

    def _finish(self, reply: Reply, last: bytes) -> None:
        """Send the last bytes, then leave the connection as the reply wants it."""
        request, transport = self._request, self._transport
        if request is None or transport is None:
            return
        if reply.end == "stall":  # never ended: not until the client hangs up
            transport.write(last)
            return
        request.ended = self._now()
        self._request = None
        transport.write(last)
        if reply.end == "reset":
            sock = transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            transport.abort()
        elif reply.end == "close" or b"onnection: close" in request.head:
            self._close()

    def _repeat(self, block: bytes) -> None:
        """Write for ever; after each block the other connections have their turn."""
        if self._transport is None:
            return
        self._transport.write(block)
        if self._paused:
            self._resume = lambda: self._repeat(block)
        else:
            self._timer = asyncio.get_running_loop().call_soon(self._repeat, block)

    def _drip(self, reply: Reply, wire: bytes, at: int) -> None:
        """Write a piece, and the next one after the pause."""
        rest = at + reply.piece
        if rest >= len(wire):
            self._finish(reply, wire[at:])
        elif self._transport is not None:
            self._transport.write(wire[at:rest])
            self._after(reply.pause, self._drip, reply, wire, rest)

    def _after(self, seconds: float, step: Callable[..., None], *arguments: object) -> None:
        """Do the step later, and when it has finished the answer, go on with the next request."""

        def take() -> None:
            step(*arguments)
            self._next()

        self._timer = asyncio.get_running_loop().call_later(seconds, take)

    def _bad_request(self) -> None:
        if self._transport is not None:
            self._transport.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            self._close()

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def _host(head: bytes) -> str:
    """Host without port, in lower case; empty where there is none (HTTP/1.0)."""
    lower = head.lower()
    start = lower.find(b"\r\nhost:")
    if start < 0:
        return ""
    end = lower.find(b"\r\n", start + 7)
    return lower[start + 7 : end if end >= 0 else None].strip().split(b":")[0].decode("latin-1")
