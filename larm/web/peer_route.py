"""Routes of a peer: signed questions below ``/peer/v1/``, and the files that it shares. On the event loop.

There are such routes only where ``larm serve`` was told to be a peer or a registrar.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

import anyio
import msgspec
from anyio import to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from larm.fetch.file_types import type_of
from larm.peers.call_backs import CallBacks
from larm.peers.channel import ROOT, Refusal
from larm.peers.door import Incoming, RefusedError
from larm.peers.passes import PASS
from larm.peers.yacy.questions import SEEDS
from larm.web.guard import LARGEST
from larm.web.page import message, page

if TYPE_CHECKING:
    from larm.peers.door import Door
    from larm.peers.yacy.service import Service
    from larm.peers.yousearch.protocol import Card
    from larm.peers.yousearch.shares import Shares
    from larm.peers.yousearch.wiring import Peering
    from larm.web.access import Access

_AT_A_TIME = 8
"""Questions that are answered; others wait, and who asks has a deadline of its own."""
_MOST_LARGE = 20
"""Bodies with more bytes than usual that come at a time, two of them from one address: 50 MB."""
_LARGE_SECONDS = 60.0
_SEALED: Mapping[str, str] = {
    "content-security-policy": (
        "sandbox; default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
    ),
    "cross-origin-resource-policy": "cross-origin",  # a sealed page is nobody's, and wants its own pictures
}
_RANGES = re.compile(rb"\s*bytes\s*=[\d\s,-]+", re.IGNORECASE)
"""Of a Range header. Others are ignored, as units that a server does not know have to be (RFC 9110 14.2)."""
_SHOWN = frozenset(("text/html", "text/plain", "image/png", "image/jpeg", "image/gif", "image/webp", "text/css"))
"""What a browser shows; all else is saved."""


def peer_routes(door: Door, card: Card) -> list[Route]:
    """The questions, and who answers them."""
    text = msgspec.json.encode(card)

    async def show(_: Request) -> Response:
        return Response(text, media_type="application/json")

    return [
        Route(ROOT + "/card", show, methods=["GET"]),
        Route(ROOT + "/{path:path}", _answered_by(door), methods=["POST"]),
    ]


def network_routes(network: Service) -> list[Route]:
    """Questions of a network's peers, and the list of its seeds for whoever wants to join."""

    async def seeds(_: Request) -> Response:
        return PlainTextResponse(await to_thread.run_sync(network.node.seed_list))

    return [
        Route(ROOT + SEEDS, seeds, methods=["GET"]),
        Route(ROOT + "/{path:path}", _answered_by(network.door), methods=["POST"]),
    ]


def file_routes(peering: Peering) -> list[Route]:
    """Shared folders; the form to search stands above each listing (YOUS-38). In a private group a pass is needed."""
    shares = peering.shares

    async def answer(request: Request) -> Response:
        name, below = request.path_params.get("share", ""), request.path_params.get("path", "")
        hidden = _hidden(request, peering, name)
        if isinstance(hidden, Response):
            return hidden
        response = await to_thread.run_sync(_file, request, shares, hidden, name, below)
        if name and name not in shares.only and not peering.passes.needed:  # anybody may keep what anybody may open
            response.headers["cache-control"] = "no-cache"
        return response

    return [Route("/files/", answer), Route("/files/{share}/{path:path}", answer)]


def _hidden(request: Request, peering: Peering, name: str) -> Collection[str] | Response:
    """Shares that are not for who asks, or what he gets in place of any. A pass in the address becomes a cookie, so that
    links between files work."""
    access: Access = request.app.state.access
    if not access.is_stranger(request):
        return ()
    passes, key = peering.passes, peering.card.key
    given = request.query_params.get("pass", "")
    if given and passes.owner(given, key):
        response = RedirectResponse(request.scope["raw_path"].decode("latin-1"), 303)  # a name may have a question mark
        secure = request.url.scheme == "https"
        response.set_cookie(PASS, given, path="/files/", httponly=True, samesite="lax", secure=secure)
        return response
    owners = [passes.owner(each.get(PASS, ""), key) for each in (request.cookies, request.headers)]
    owner = next((each for each in owners if each), "")
    hidden = peering.visible.hidden(owner)
    if (passes.needed and not owner) or name in hidden:
        sentence = "Search at the machine of one of its members, and follow the link there."
        return message(request, 403, "This is for a group alone", sentence)
    return hidden


def _answered_by(door: Door) -> Callable[[Request], Awaitable[Response]]:
    limiter = anyio.CapacityLimiter(_AT_A_TIME)
    sending = CallBacks(_MOST_LARGE)

    async def answer(request: Request) -> Response:
        """What the door says."""
        query = request.scope.get("query_string", b"").decode("latin-1")
        target = request.scope.get("raw_path", b"").decode("latin-1") + (f"?{query}" if query else "")
        address = request.client.host if request.client is not None else ""
        try:
            body = await _body(request, address, sending)
        except RefusedError as error:
            return Response(msgspec.json.encode(Refusal(str(error), error.status)), error.status, media_type="application/json")
        incoming = Incoming(request.method, target, request.headers.items(), body, address)
        reply = await to_thread.run_sync(door.answer, incoming, limiter=limiter)
        return Response(reply.body, reply.status, reply.headers)

    return answer


async def _body(request: Request, address: str, sending: CallBacks) -> bytes:
    """A large one before anybody knows who sends it, so from few at a time. Raises RefusedError."""
    if int(request.headers.get("content-length", "0")) <= LARGEST:
        return await request.body()
    with sending.one(address), anyio.move_on_after(_LARGE_SECONDS):
        return await request.body()
    return b""  # whose digest is another


def _file(request: Request, shares: Shares, hidden: Collection[str], name: str, below: str) -> Response:
    """A file, a listing, or nothing that could be told from nothing."""
    if not name:
        shown = [each.name for each in shares.all if each.name not in hidden]
        return _listing(request, "Shared folders", [(f"{quote(each)}/", each) for each in shown])
    with shares.opened(name, below) as opened:
        if opened is None or (below and opened.folder != below.endswith("/")):
            return message(request, 404, "There is nothing here", "It is not shared, or it is gone.")
        if opened.folder:
            entries = shares.names(name, below, opened)
            links = [(quote(os.fsencode(entry), safe="/"), entry) for entry in entries]
            return _listing(request, f"{name}/{below}", [("../", "the folder above"), *links])
        return _SharedFile(os.fdopen(os.dup(opened.descriptor), "rb"), opened.status, below)


def _listing(request: Request, title: str, entries: list[tuple[str, str]]) -> Response:
    return page(request, "files.html", title=title, entries=entries)


class _SharedFile(FileResponse):
    """Sends a file that is open, whatever has its name by now: all that it had when it was opened, or ranges of that."""

    def __init__(self, file: BinaryIO, status: os.stat_result, name: str) -> None:
        mime = type_of(name.rpartition("/")[2], os.pread(file.fileno(), 2_048, 0))
        shown = mime if mime in _SHOWN else "application/octet-stream"
        disposition = "inline" if mime in _SHOWN else "attachment"
        headers = {**_SEALED, "content-disposition": disposition, "content-type": shown}
        super().__init__(f"/dev/fd/{file.fileno()}", headers=headers, stat_result=status)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        left = 0

        async def send_within(message: Message) -> None:
            """Leave out what was written to the file meanwhile: a server refuses more than the length that was said."""
            nonlocal left
            if message["type"] == "http.response.start":
                left = int(Headers(raw=message["headers"])["content-length"])
            else:
                message["body"] = message["body"][:left]
                left -= len(message["body"])
            await send(message)

        headers = [each for each in scope["headers"] if each[0] != b"range" or _RANGES.fullmatch(each[1])]
        with self._file:  # closed also where somebody hangs up
            await super().__call__(dict(scope, headers=headers), receive, send_within)
