"""MultiClient: many requests to other machines at a time, all on one thread, by libcurl's multi interface.

A machine that is slow or gone delays no request to another one. `ask` is thread-safe; `run` is the target of one thread, on
which all answers are reported.
"""

import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pycurl

from larm.fetch.http_client import Exchange, HttpAnswer, NoAnswer, connect_to
from larm.fetch.multi_loop import MultiLoop
from larm.fetch.tls import set_certificate
from larm.kit.clock import SystemClock

_CONNECTIONS, _PER_HOST = 200, 4
"""Connections that stay open, and those to one host; further requests to it wait, and their time runs."""
_LIFETIME = 40
"""Seconds after which a kept connection is replaced, so that certificates are verified again."""
_TURN = 60.0
_POOL = 16
Told = Callable[[HttpAnswer | NoAnswer], object]


class ClientTls(NamedTuple):
    """PEM data of the trusted authorities, of the own certificate and key; ``crl``: the path of a revocation list, or empty."""

    ca: bytes
    certificate: bytes
    key: bytes
    crl: str = ""


class _Order(NamedTuple):
    url: str
    headers: Mapping[str, str]
    body: bytes
    seconds: float
    most: int
    at: str
    tls: ClientTls | None
    told: Told


class MultiClient:
    """Connections are kept, and each replaced after 40 s."""

    def __init__(self) -> None:
        # constant after construction
        self._loop = MultiLoop(SystemClock(), _CONNECTIONS, _PER_HOST)
        self._lock = threading.Lock()
        # guarded by self._lock
        self._orders: list[_Order] = []
        self._closed = False
        # only the thread of `run`
        self._flying: dict[pycurl.Curl, tuple[Exchange, Told]] = {}
        self._pool: list[pycurl.Curl] = []

    def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        told: Told,
        *,
        seconds: float,
        most: int,
        at: str = "",
        tls: ClientTls | None = None,
    ) -> None:
        """Begin a request; ``told`` receives the outcome once, on the client's thread, and must not block. Thread-safe.

        ``at``: the host or IP address to connect to; the certificate is still for the url's host. Other arguments are those
        of `HttpClient.ask`. After `close` the outcome is `NoAnswer` at once.
        """
        with self._lock:
            closed = self._closed
            if not closed:
                self._orders.append(_Order(url, headers, body, max(0.001, seconds), most, at, tls, told))
        if closed:
            told(_ENDS)
        else:
            self._loop.wake()

    def run(self) -> None:
        """Carry requests until `close`."""
        while True:
            with self._lock:
                orders, self._orders = self._orders, []
                closed = self._closed
            if closed:
                break
            for order in orders:
                self._begin(order)
            for handle, error, text in self._loop.turn(_TURN)[0]:
                exchange, told = self._flying.pop(handle)
                outcome = exchange.outcome(error, text)
                handle.reset()
                if len(self._pool) < _POOL:
                    self._pool.append(handle)
                told(outcome)
        for handle in self._flying:
            self._loop.remove(handle)
        self._loop.close(leave_resolver=bool(self._flying))
        for told in [told for _, told in self._flying.values()] + [order.told for order in orders]:
            told(_ENDS)

    def close(self) -> None:
        """End `run`; requests in flight get no answer. The caller joins the thread. Thread-safe."""
        with self._lock:
            self._closed = True
        self._loop.wake()

    def _begin(self, order: _Order) -> None:
        handle = self._pool.pop() if self._pool else pycurl.Curl()
        handle.setopt(pycurl.MAXLIFETIME_CONN, _LIFETIME)
        if order.at:
            handle.setopt(pycurl.CONNECT_TO, [connect_to(order.at)])
        if order.tls is not None:
            handle.setopt(pycurl.CAINFO_BLOB, order.tls.ca)  # libcurl would remember a file for a day
            set_certificate(handle, order.tls.certificate, order.tls.key)
            if order.tls.crl:
                handle.setopt(pycurl.CRLFILE, order.tls.crl)
        exchange = Exchange(handle, "POST", order.url, order.headers, order.body, seconds=order.seconds, most=order.most)
        self._flying[handle] = exchange, order.told
        self._loop.add(handle)


_ENDS = NoAnswer("this process ends")
