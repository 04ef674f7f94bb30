"""SyntheticWeb: many hosts on one loopback port, for tests and for `larm demo`.

A real HTTP/1.1 server: what a crawler does is seen from the other end of the wire. Names below ``localhost`` lead there without
DNS (libcurl resolves them to loopback by itself), and the Host header tells the sites apart. The server has one thread, an
asyncio loop; sites are built and questions are asked on the test's thread::

    with SyntheticWeb() as web:
        a = web.host("a.localhost")
        a.page("/", title="Home", links=["/x", "http://b.localhost:{port}/"])
        a.robots("User-agent: *\\nDisallow: /secret")
        ...  # crawl web.url("a.localhost")
        assert web.fetched() == {"a.localhost/": 1}

A handler that raises cuts its connection, and the error comes up in the test when the web is left.
"""

import asyncio
import functools
import itertools
import socket
import threading
from collections import Counter
from types import TracebackType
from typing import Any, Self

from larm.kit.threads.workers import Workers
from larm.seams import Clock
from larm.testing.replies import Reply
from larm.testing.request_log import Request, RequestLog
from larm.testing.server import Connection
from larm.testing.site import Site

_NO_HOST = Reply(404, {"Content-Type": "text/plain"}, b"no such host\n")


class SyntheticWeb:
    """The server and its sites; a context manager, once. The same sites answer until the end, whatever happens to the crawler.

    ``port``: 0 takes a free one. ``clock``: stamps the requests; without, the event loop's own (monotonic).
    """

    def __init__(self, port: int = 0, clock: Clock | None = None) -> None:
        # constant after construction
        self.log = RequestLog()
        """Every request, and more questions about them."""
        self._clock = clock
        # constant after __enter__
        self._socket: socket.socket | None = None
        self._port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        # single dictionary operations of the test's thread, read by the server's
        self._sites: dict[str, Site] = {}
        # only the server's thread
        self._servers: list[asyncio.Server] = []
        self._connections: set[Connection] = set()
        self._numbers = itertools.count(1)
        # appended to by the server's thread, read when it has ended
        self._errors: list[BaseException] = []
        # constant after construction
        self._workers = Workers(lambda _, error: self._errors.append(error))

    def __enter__(self) -> Self:
        self._socket = socket.create_server(("127.0.0.1", self._port), backlog=1024)
        self._port = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        self._workers.start("larm-web", functools.partial(self._serve, self._loop, self._socket, ready))
        ready.wait(10)  # or `stop` could come in the middle of the start
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
        if self._errors and error is None:
            raise self._errors[0]

    def stop(self) -> None:
        """Cut all connections and end the server; the log stays."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None
            if self._workers.join(10):
                raise RuntimeError("the synthetic web's server does not end; does one of its handlers block?")

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._port

    def host(self, name: str) -> Site:
        """The site of that name, a new one at the first call. Raises RuntimeError before the web is entered: no port yet."""
        if self._port == 0:
            raise RuntimeError("the web has no port yet: build its sites inside `with`")
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = Site(name, self._port)
        return site

    def url(self, host: str, path: str = "/") -> str:
        """Absolute URL, with the port."""
        return f"http://{host}:{self._port}{path}"

    def listen_too(self, listening: socket.socket) -> None:
        """Answer on this socket as well, until the end: it may be of another network namespace. Inside ``with``."""
        if self._loop is None:
            raise RuntimeError("the web does not run yet: add sockets inside `with`")
        asyncio.run_coroutine_threadsafe(self._listen(self._loop, listening), self._loop).result(10)

    @property
    def requests(self) -> list[Request]:
        """All requests so far, in order; a copy."""
        return self.log.requests()

    def fetched(self, host: str | None = None) -> Counter[str]:
        """See `RequestLog.fetched`."""
        return self.log.fetched(host)

    def overlaps(self, host: str) -> int:
        """See `RequestLog.overlaps`."""
        return self.log.overlaps(host)

    def closest(self, host: str) -> float:
        """See `RequestLog.closest`."""
        return self.log.closest(host)

    def alternation(self) -> float:
        """See `RequestLog.alternation`."""
        return self.log.alternation()

    def __repr__(self) -> str:
        return f"<SyntheticWeb 127.0.0.1:{self._port} sites={len(self._sites)} requests={len(self.log)}>"

    def _serve(self, loop: asyncio.AbstractEventLoop, listening: socket.socket, ready: threading.Event) -> None:
        """The server's thread."""
        asyncio.set_event_loop(loop)
        loop.set_exception_handler(self._note_error)
        loop.run_until_complete(self._listen(loop, listening))
        loop.call_soon(ready.set)
        try:
            loop.run_forever()
        finally:
            for server in self._servers:
                server.close()
            for _ in range(5):  # a connection just accepted needs some turns to appear here, an aborted one to close its socket
                for connection in list(self._connections):
                    connection.abort()
                loop.run_until_complete(asyncio.sleep(0))
            for server in self._servers:
                loop.run_until_complete(server.wait_closed())
            asyncio.set_event_loop(None)
            loop.close()

    async def _listen(self, loop: asyncio.AbstractEventLoop, listening: socket.socket) -> None:
        now = self._clock.monotonic if self._clock is not None else loop.time
        self._servers.append(
            await loop.create_server(
                lambda: Connection(next(self._numbers), self._answer, now, self._connections), sock=listening, backlog=1024
            )
        )

    def _answer(self, request: Request) -> tuple[Reply, float]:
        self.log.append(request)
        site = self._sites.get(request.host)
        if site is None:
            return _NO_HOST, 0.0
        reply = site.answer(request)
        return reply, reply.delay + site.delay

    def _note_error(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception") or RuntimeError(context["message"])
        if isinstance(error, AttributeError) and "_call_connection_lost" in context["message"]:
            return  # asyncio ends a transport twice where a client's reset meets our own end; the second time nothing is left
        self._errors.append(error)
