"""Proxy: forwards a browser's plain HTTP, and reports the open pages among the responses (YACY-35, 37).

Listens on 127.0.0.1 alone. CONNECT, so all of https, passes unseen. Each connection carries one request. The response is passed
on as it arrives; only its head is kept. On the thread ``larm-proxy``, with an event loop of its own.
"""

import asyncio
import re
import socket
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from larm.errors import UsageError
from larm.fetch.ip_address import is_public

_PAGES: Final = frozenset(("text/html", "application/xhtml+xml", "text/plain", "application/pdf"))
_SECRETS: Final = frozenset(("cookie", "authorization", "proxy-authorization", "range"))
_CLOSED: Final = frozenset(("private", "no-store"))

Headers = Mapping[str, str]
"""Headers by names in lower case; values of one name are joined by commas."""


def is_open(method: str, url: str, asked: Headers, status: int, answered: Headers, *, queries: bool) -> bool:
    """Return True if anybody could have fetched the page (YACY-37). ``queries``: also addresses with a query.

    A client with a cookie or a password may have been shown something private. Where a site tells users apart by something
    else, a crawl finds out: it requests the page again as a stranger."""
    return (
        method == "GET"
        and status == 200
        and (queries or "?" not in url)
        and "@" not in url.partition("://")[2].partition("/")[0]
        and not _SECRETS & asked.keys()
        and "set-cookie" not in answered
        and not _CLOSED & (_directives(asked) | _directives(answered))
        and answered.get("content-type", "").partition(";")[0].strip().lower() in _PAGES
    )


def _directives(headers: Headers) -> set[str]:
    return {part.partition("=")[0].strip().lower() for part in headers.get("cache-control", "").split(",")}


HOST = "127.0.0.1"
_HEAD = 65_536
"""Bytes of a request line and headers at most."""
_HEAD_SECONDS = 30.0
_CONNECT_SECONDS = 30.0
_IDLE_SECONDS = 600.0
"""Seconds without a byte in one direction, after which a connection ends."""
_PIECE = 65_536
_CONNECTIONS = 500
_HOPS = frozenset((b"connection", b"proxy-connection", b"keep-alive", b"te", b"trailer", b"upgrade", b"proxy-authorization"))
_WHOLE = frozenset((b"content-length", b"transfer-encoding", b"host"))
"""Headers that stay, whatever ``Connection`` names: without them a body would be taken for another request."""
_DIGITS = 18
"""Digits of a length at most."""


class _Head(NamedTuple):
    first: bytes
    lines: Sequence[tuple[bytes, bytes]]

    @property
    def by_name(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, value in self.lines:
            key, text = name.decode("latin-1").lower(), value.decode("latin-1")
            found[key] = f"{found[key]}, {text}" if key in found else text
        return found

    def without_hops(self, first: bytes) -> bytes:
        """Return the head for the next hop, whose connection ends after this request."""
        named = {each.strip().lower().encode() for each in self.by_name.get("connection", "").split(",")}
        hops = _HOPS | named - _WHOLE
        kept = [name + b": " + value for name, value in self.lines if name.lower() not in hops]
        return b"\r\n".join([first, *kept, b"Connection: close", b"", b""])


class Proxy:
    """The proxy of one peer. It calls ``seen`` for each open page, on its thread; ``private``: also at private addresses."""

    def __init__(self, port: int, seen: Callable[[str], object], *, queries: bool, private: bool) -> None:
        """Raises UsageError if it can't listen."""
        # constant after construction
        self._seen = seen
        self._queries = queries
        self._private = private
        try:
            self._socket = socket.create_server((HOST, port))
        except OSError as error:
            raise UsageError(f"network.proxy: {HOST}:{port}: {error.strerror or error}; choose another port") from error
        self.port: int = self._socket.getsockname()[1]
        # only larm-proxy
        self._open = 0

    def run(self) -> None:
        """Run until the process ends."""
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._answer, sock=self._socket, limit=_HEAD)
        await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open > _CONNECTIONS:
                raise _RefusedError(503, "too many connections")
            head = await _read_head(reader, _HEAD_SECONDS)
            method, target, _ = _request_line(head)
            if method == "CONNECT":
                await self._tunnel(target, reader, writer)
            else:
                await self._pass_on(head, target, reader, writer)
        except _RefusedError as error:
            writer.write(
                f"HTTP/1.1 {error.status} Refused\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n{error}\n".encode()
            )
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # one side is gone: the other one sees that
        finally:
            self._open -= 1
            await _close(writer)

    async def _tunnel(self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = _place(f"//{target}", 443)
        upstream, up = await _connect(host, port)
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _both(_copy(reader, up), _copy(upstream, writer))
        finally:
            await _close(up)

    async def _pass_on(self, head: _Head, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, _, version = _request_line(head)
        length = _length(head)
        if not target.lower().startswith("http://"):
            raise _RefusedError(400, "this is a proxy for a browser: it is asked for whole addresses, http://...")
        host, port = _place(target, 80)
        upstream, up = await _connect(host, port)
        try:
            up.write(head.without_hops(f"{method} {_path(target)} {version}".encode("latin-1")))
            sending = asyncio.create_task(_send_body(head, length, reader, up))
            try:
                try:
                    answer = await _read_head(upstream, _IDLE_SECONDS)  # an upload or a search may take long
                except TimeoutError as error:
                    raise _RefusedError(504, f"{host} does not answer") from error
                writer.write(answer.without_hops(answer.first))
                whole = await _copy(upstream, writer)
            finally:
                sending.cancel()
                with suppress(asyncio.CancelledError, OSError, TimeoutError, asyncio.IncompleteReadError):
                    await sending
            ip = str(up.get_extra_info("peername")[0])
            open_ = is_open(method, target, head.by_name, _status(answer), answer.by_name, queries=self._queries)
            if whole and open_ and (self._private or is_public(ip)):
                self._seen(target.partition("#")[0])
        finally:
            await _close(up)


class _RefusedError(Exception):
    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


async def _read_head(reader: asyncio.StreamReader, seconds: float) -> _Head:
    async with asyncio.timeout(seconds):
        data = await reader.readuntil(b"\r\n\r\n")
    first, *lines = data[:-4].split(b"\r\n")
    found = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not name or name != name.strip():  # also a folded line, which is obsolete
            raise _RefusedError(400, "that is no header")
        found.append((name, value.strip()))
    return _Head(first, found)


def _request_line(head: _Head) -> tuple[str, str, str]:
    try:
        method, target, version = head.first.decode("ascii").split(" ")
    except ValueError as error:
        raise _RefusedError(400, "that is no request") from error
    if version not in {"HTTP/1.0", "HTTP/1.1"}:
        raise _RefusedError(505, "that is another HTTP")
    return method, target, version


def _place(url: str, port: int) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or port
    except ValueError as error:
        raise _RefusedError(400, "that is no address") from error
    if not host:
        raise _RefusedError(400, "that is no address")
    return host, port


def _path(target: str) -> str:
    rest = target.partition("://")[2].partition("#")[0]
    path = rest[len(re.split("[/?]", rest, maxsplit=1)[0]) :]
    return path if path.startswith("/") else f"/{path}"


def _status(answer: _Head) -> int:
    words = answer.first.split()
    return int(words[1]) if len(words) > 1 and re.fullmatch(rb"[0-9]{3}", words[1]) else 0


def _length(head: _Head) -> int:
    """Return the length of a request's body, if the head has it."""
    said = {each.strip() for each in head.by_name.get("content-length", "0").split(",")}  # said twice, it may be the same
    length = said.pop()
    if said or not length.isdecimal() or len(length) > _DIGITS:
        raise _RefusedError(400, "that is no length of a body")
    return int(length)


async def _connect(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            return await asyncio.open_connection(host, port, limit=_HEAD)
    except (OSError, ValueError) as error:  # ValueError: of a name that can't be one
        raise _RefusedError(502, f"{host} can't be reached: {error or 'it does not answer'}") from error


async def _send_body(head: _Head, left: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forward the body of the request, and nothing after it."""
    if "transfer-encoding" in head.by_name:
        await _copy(reader, writer)  # the recipient knows its end
        return
    while left:
        data = await reader.read(min(_PIECE, left))
        if not data:
            return
        left -= len(data)
        writer.write(data)
        await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Forward up to the end. Return False if it broke off."""
    while True:
        try:
            async with asyncio.timeout(_IDLE_SECONDS):
                data = await reader.read(_PIECE)
            if not data:
                return True
            writer.write(data)
            await writer.drain()
        except (OSError, TimeoutError):
            return False


async def _both(*directions: Coroutine[None, None, bool]) -> None:
    """Run both directions until either ends."""
    tasks = [asyncio.create_task(each) for each in directions]
    _, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for each in others:
        each.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _close(writer: asyncio.StreamWriter) -> None:
    """Close, with a second for the rest: a peer that does not read would keep the connection for ever."""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(1):
            await writer.drain()
            writer.close()
            await writer.wait_closed()
    writer.transport.abort()
