"""The page of a peer: who there is, what is shared here, who asked. On the event loop.

For who may look at this machine, not for peers: in a public search there is no such page.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from larm.errors import LarmError
from larm.web.access import Kind
from larm.web.form import form_of
from larm.web.page import message, page

if TYPE_CHECKING:
    from larm.peers.channel import Contact
    from larm.peers.yousearch.wiring import Peering

Handler = Callable[[Request], Awaitable[Response]]


def page_routes(peering: Peering) -> Sequence[tuple[Kind, str, str, Handler]]:
    """As `larm.web.app` lists others."""

    async def show(request: Request) -> Response:
        """All of it."""
        return page(
            request,
            "peers.html",
            card=peering.card,
            said=sorted(peering.peer.said.items()) if peering.peer is not None else [],
            shares=[(share, share in peering.shares.all) for share in peering.shares.named],
            peers=_peers(peering),
            asked=peering.door.asked(),
        )

    async def share(request: Request) -> Response:
        """The button beside a folder."""
        form = await form_of(request)
        try:
            name, shared = form.get("name", ""), form.get("shared") == "1"
            await request.app.state.desk.look(lambda: peering.shares.set_shared(name, shared=shared))
        except LarmError as error:
            return message(request, 503, "It could not be changed", str(error))
        if peering.peer is not None:
            peering.peer.hurry()
        return RedirectResponse("/peers", 303)

    return ((Kind.SHOW, "GET", "/peers", show), (Kind.CHANGE, "POST", "/peers/share", share))


def _peers(peering: Peering) -> list[tuple[Contact, str]]:
    """Those that this machine keeps as a registrar, or has been told of."""
    found: dict[str, tuple[Contact, str]] = {}
    if peering.network is not None:
        found |= {each.key: (each, peering.network.state_of(each)) for each in peering.network.contacts()}
    if peering.registrar is not None:
        found |= {each.key: (each, found[each.key][1] if each.key in found else "") for each in peering.registrar.members}
    return sorted(found.values(), key=lambda pair: (pair[0].name, pair[0].key))
