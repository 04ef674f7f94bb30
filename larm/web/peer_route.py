"""The route ``/peer/v1/``: signed questions of other machines, handed to the `Door` of a peer. On the event loop.

There is such a route only where ``larm serve`` was told to be a peer or a registrar.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from larm.peers.channel import ROOT

if TYPE_CHECKING:
    from larm.peers.door import Door

_AT_A_TIME = 8
"""Questions that are answered; others wait, and who asks has a deadline of its own."""


def peer_route(door: Door) -> Route:
    """All of them."""
    return Route(ROOT + "/{path:path}", _answered_by(door), methods=["POST"])


def _answered_by(door: Door) -> Callable[[Request], Awaitable[Response]]:
    from larm.peers.door import Incoming

    limiter = anyio.CapacityLimiter(_AT_A_TIME)

    async def answer(request: Request) -> Response:
        """What the door says."""
        query = request.scope.get("query_string", b"").decode("latin-1")
        target = request.scope.get("raw_path", b"").decode("latin-1") + (f"?{query}" if query else "")
        address = request.client.host if request.client is not None else ""
        incoming = Incoming(request.method, target, request.headers.items(), await request.body(), address)
        reply = await to_thread.run_sync(door.answer, incoming, limiter=limiter)
        return Response(reply.body, reply.status, reply.headers)

    return answer
