"""Recorder: keeps what one transfer sends and receives. Made for each `Transfer` where some storage wants exchanges.

libcurl tells it by its debug callback, on the fetcher thread: so a crawl that keeps none pays nothing.
"""

import re
from collections.abc import Sequence
from typing import Any

import pycurl

from larm.model.exchange import Exchange

_TLS = re.compile(rb"SSL connection using (TLS[\w.]+|SSL[\w.]+) / ([\w-]+)")
_MOST_KNOWN = 10_000  # connections of a thread whose TLS is remembered; a thread keeps 256 open at most
_SECRET = frozenset({b"authorization", b"proxy-authorization", b"cookie"})
_TIME = (pycurl.E_OPERATION_TIMEDOUT,)

Connections = dict[tuple[int, str, int], tuple[str, str]]
"""TLS version and cipher of a thread's connections, by our port, the server's address and its port: only the first transfer of
a connection is told. Whichever connection has such a key next overwrites it."""


class Recorder:
    """`begin`, then `exchange`, then `begin` again. Only the fetcher thread."""

    def __init__(self, handle: Any, connections: Connections) -> None:
        """``connections``: shared by all transfers of the thread."""
        # constant after construction
        self._handle = handle
        self._connections = connections
        handle.setopt(pycurl.DEBUGFUNCTION, self._told)
        handle.setopt(pycurl.VERBOSE, 1)
        # only the fetcher thread
        self.begin(0.0)

    def begin(self, wall: float) -> None:
        """A request begins; ``wall``: seconds since 1970."""
        self._began = wall
        self._request: list[bytes] = []
        self._tls: tuple[str, str] | None = None

    def exchange(
        self,
        url: str,
        lines: Sequence[bytes],
        body: bytes,
        error: int,
        *,
        stopped: bool,
        without: frozenset[bytes] = frozenset(),
    ) -> Exchange | None:
        """What was exchanged; None where no answer came, or not all of its header.

        ``lines``: all header lines; ``stopped``: larm has stopped the transfer, as the body is too long; ``without``: names of
        headers that are secret, in lower case, beside those that always are.
        """
        head = _last_head(lines)
        if not head or not self._request:
            return None
        connection = (
            self._handle.getinfo(pycurl.LOCAL_PORT),
            self._handle.getinfo(pycurl.PRIMARY_IP),
            self._handle.getinfo(pycurl.PRIMARY_PORT),
        )
        if self._tls is not None:
            if len(self._connections) >= _MOST_KNOWN:
                self._connections.clear()
            self._connections[connection] = self._tls
        tls = self._connections.get(connection) if url.startswith("https:") else None
        why = "length" if stopped else "" if not error else "time" if error in _TIME else "disconnect"
        return Exchange(
            url, _public(b"".join(self._request), without), head, body, connection[1], self._began, why, *(tls or ())
        )

    def _told(self, kind: int, data: bytes) -> None:
        """libcurl's debug callback. A request that is sent again, on another connection, begins anew."""
        if kind == pycurl.INFOTYPE_HEADER_OUT:
            if self._request and self._request[-1].endswith(b"\r\n\r\n"):
                self._request.clear()
            self._request.append(data)
        elif kind == pycurl.INFOTYPE_TEXT and (found := _TLS.match(data)):
            self._tls = found[1].decode(), found[2].decode()


def _public(request: bytes, without: frozenset[bytes]) -> bytes:
    """The header that was sent, but for what nobody else may read."""
    return b"".join(
        line for line in request.splitlines(keepends=True) if line.partition(b":")[0].lower() not in _SECRET | without
    )


def _last_head(lines: Sequence[bytes]) -> bytes:
    """Status line and header lines of the last answer, with the empty line; empty where it did not come to its end."""
    first = max((n for n, line in enumerate(lines) if line.startswith(b"HTTP/")), default=0)
    for n in range(first + 1, len(lines)):
        if lines[n] in (b"\r\n", b"\n"):
            return b"".join(lines[first : n + 1])
    return b""
