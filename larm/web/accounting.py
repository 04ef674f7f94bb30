"""Accounting: every request is counted, timed and written down. An ASGI middleware around all others. On the event loop.

A line has no headers and no bodies, so no token, and no pass; what was searched for stands in it, as in any server's log. One
that logrotate has moved away is opened anew. A disk that is full is no reason to answer nobody: it is said once, and so is how
many lines are missing when it writes again.
"""

import errno
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from larm.index.search.answer import moment
from larm.kit.clock import SystemClock
from larm.kit.printable import printable
from larm.web.metrics import Metrics

WriteLine = Callable[[str], None]
_PASS = re.compile(r"(?<=[?&]pass=)[^& ]+")
"""In a link to a file of a private group: whoever reads a log must not be able to open it."""


class Accounting:
    """One for a server."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute], metrics: Metrics, log: WriteLine | None) -> None:
        # constant after construction
        self._app = app
        self._routes = routes
        self._metrics = metrics
        self._log = log
        self._clock = SystemClock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it through, and account for it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = self._clock.monotonic()
        status, sent = 500, 0

        async def send_counted(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_counted)
        finally:
            seconds = self._clock.monotonic() - began
            route = self._route(scope)
            self._metrics.requests.labels(route, str(status)).inc()
            self._metrics.seconds.labels(route).observe(seconds)
            if self._log is not None:
                self._log(self._line(scope, status, sent, seconds))

    def _route(self, scope: Scope) -> str:
        """The pattern, of which there are few; not the address, of which there is no end."""
        for route in self._routes:
            if route.matches(scope)[0] is not Match.NONE:
                return str(getattr(route, "path", "other"))
        return "other"

    def _line(self, scope: Scope, status: int, sent: int, seconds: float) -> str:
        client = (scope.get("client") or ["-"])[0]
        query = scope.get("query_string", b"").decode("ascii", "replace")
        address = scope.get("raw_path", b"").decode("ascii", "replace") + (_PASS.sub("...", f"?{query}") if query else "")
        when = moment(int(self._clock.wall()))
        return printable(f"{when} {client} {scope['method']} {address} {status} {sent} {seconds:.3f}")


class AccessLog:
    """A file of lines, one for each request. Raises OSError where it can't be opened."""

    def __init__(self, path: Path, say: Callable[[str], object]) -> None:
        # constant after construction
        self._path = path
        self._say = say
        # only the event loop
        self._file = path.open("ab", buffering=0)
        self._missing = 0

    def write(self, line: str) -> None:
        """Never raises for what a disk does."""
        data = line.encode("utf-8", "replace") + b"\n"
        try:
            self._follow()
            if self._file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            if not self._missing:
                self._say(f"{self._path}: {error.strerror or error}; until that is mended no requests are logged")
            self._missing += 1
            return
        if self._missing:
            self._say(f"{self._path} is written again; the lines of {self._missing:,} requests are missing")
            self._missing = 0

    def _follow(self) -> None:
        """The name, not the file."""
        there = None
        with suppress(FileNotFoundError):
            there = self._path.stat()
        mine = os.fstat(self._file.fileno())
        if there is None or (there.st_dev, there.st_ino) != (mine.st_dev, mine.st_ino):
            new = self._path.open("ab", buffering=0)
            self._file.close()
            self._file = new

    def close(self) -> None:
        """No more requests."""
        self._file.close()
