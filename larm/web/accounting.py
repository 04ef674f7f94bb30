"""Accounting: every request is counted, timed and written down. An ASGI middleware around all others. On the event loop.

A line has no headers and no bodies, so no token, and no pass; what was searched for stands in it, as in any server's log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from larm.kit.clock import SystemClock
from larm.monitor.printable import printable
from larm.search.answer import moment
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
