"""Guard: what every request passes before anything else looks at it, and what every answer carries. On the event loop.

Host names are checked, or a page of somebody else's could reach us under its own name (DNS rebinding); so is Origin, or it
could have a browser send forms to us (CSRF). No script runs but our own, nothing is loaded from elsewhere, and nobody
frames us.
"""

import asyncio
import socket
from collections.abc import Collection, Mapping
from ipaddress import ip_address
from types import MappingProxyType
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # what was searched for is not told to the sites that were found; with "no-referrer" our own forms would have no Origin
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
LARGEST = 65_536
"""Bytes of a body."""
_LONGEST_QUERY = 40_000
"""Bytes: 4,096 characters of any script, escaped."""
_LARGEST_HEADERS = 32_768
_PATIENCE = 10.0
"""Seconds for each piece of a body."""
_BODY_SECONDS = 60.0
"""For all of it; the largest ones come at 50,000 bytes a second (`larm.peers.yousearch.announcing`)."""


class Guard:
    """An ASGI middleware, the outermost."""

    def __init__(self, app: ASGIApp, names: Collection[str] = (), larger: Mapping[str, int] = MappingProxyType({})) -> None:
        """``names``: host names beside this machine's own; addresses in digits are always allowed: they can't be rebound.

        ``larger``: paths whose bodies may have more bytes; who answers there says how many come at a time."""
        # constant after construction
        self._app = app
        self._larger = larger
        self._names = {"localhost", socket.gethostname().lower(), *(name.lower() for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it through, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        refusal = _too_large(scope, headers, self._larger.get(scope["path"], LARGEST)) or self._refusal(scope, headers)
        if refusal:
            status, sentence = refusal
            if status != 413:
                await _drained(_patient(receive))  # or the answer may be lost when the connection is closed
            await _answer(scope, status, sentence)(scope, receive, send_guarded)
            return
        await self._app(scope, _patient(receive) if scope["method"] == "POST" else receive, send_guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return 421, "This is no name of this server; larm serve --name NAME allows it."
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != hosts[0].lower():
            return 403, "A page of another site asked for this; it was refused."
        if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"} and scope["method"] not in {
            "GET",
            "HEAD",
        }:
            return 403, "A page of another site asked for this; it was refused."
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._names or name.endswith(".localhost"):
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def _too_large(scope: Scope, headers: Headers, most: int) -> tuple[int, str] | None:
    if len(scope.get("query_string", b"")) > _LONGEST_QUERY:
        return 414, "This address is too long."
    if sum(len(name) + len(value) for name, value in scope["headers"]) > _LARGEST_HEADERS:
        return 431, "These headers are too long."
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers or not length.isdecimal() or int(length) > most:
        return 413, f"A body may have {most:,} bytes, and must say how many it has."
    return None


def _answer(scope: Scope, status: int, sentence: str) -> Response:
    close = {"connection": "close"}
    if scope["path"].startswith("/api/"):
        problem = {"title": sentence, "status": status}
        return JSONResponse(problem, status, close, media_type="application/problem+json")
    return PlainTextResponse(f"{sentence}\n", status, close)


async def _drained(receive: Receive) -> None:
    """The body has come, which is not too large."""
    while (await receive()).get("more_body"):
        pass


def _patient(receive: Receive) -> Receive:
    """Who sends a body drop by drop is not waited for."""
    end = asyncio.get_running_loop().time() + _BODY_SECONDS

    async def receive_soon() -> Message:
        try:
            return await asyncio.wait_for(receive(), min(_PATIENCE, end - asyncio.get_running_loop().time()))
        except TimeoutError:
            return {"type": "http.disconnect"}

    return receive_soon
