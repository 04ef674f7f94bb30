"""The page of a network: who is in it, what is kept for others, whom the user trusts and denies. On the event loop.

For who may look at this machine, not for peers: in a public search there is no such page.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from larm.peers.yacy.trust import Vote
from larm.web.access import Kind
from larm.web.page import form_of, message, page

if TYPE_CHECKING:
    from larm.peers.yacy.service import Service

Handler = Callable[[Request], Awaitable[Response]]
_VOTES = {each.value: each for each in Vote}


def page_routes(network: Service) -> Sequence[tuple[Kind, str, str, Handler]]:
    """As `larm.web.app` lists others."""

    async def show(request: Request) -> Response:
        """All of it."""
        state = await request.app.state.desk.look(network.state)
        given = await request.app.state.desk.look(network.orders.shown)
        return page(request, "network.html", state=state, learned=network.learned, asked=network.door.asked(), given=given)

    def changing(change: Callable[[Mapping[str, str]], bool]) -> Handler:
        """``change`` says whether the form could be understood."""

        async def handler(request: Request) -> Response:
            """A button."""
            form = await form_of(request)
            done = await request.app.state.desk.look(change, form)
            return RedirectResponse("/network", 303) if done else message(request, 400, "This can't be done")

        return handler

    def vote(form: Mapping[str, str]) -> bool:
        if form.get("vote") not in _VOTES or not form.get("key"):
            return False
        network.vote(form["key"], _VOTES[form["vote"]])
        return True

    def site(form: Mapping[str, str]) -> bool:
        return network.trust.deny_site(form.get("site", ""), denied=form.get("denied") == "1")

    def follow(form: Mapping[str, str]) -> bool:
        network.follow(form.get("key", ""), follow=form.get("follow") == "1")
        return True

    def share(form: Mapping[str, str]) -> bool:
        network.trust.share(shared=form.get("shared") == "1")
        return True

    def hide(form: Mapping[str, str]) -> bool:
        network.hide(hidden=form.get("hidden") == "1")
        return True

    def order(form: Mapping[str, str]) -> bool:
        depth = form.get("depth", "")
        return depth.isdecimal() and len(depth) < 3 and network.order(form.get("url", ""), int(depth))

    def cancel(form: Mapping[str, str]) -> bool:
        number = form.get("number", "")
        if not number.isdecimal() or len(number) > 18:
            return False
        network.orders.remove(int(number))
        return True

    def forget(_: Mapping[str, str]) -> bool:
        network.forget()
        return True

    changes = {"vote": vote, "site": site, "follow": follow, "share": share, "hide": hide, "forget": forget}
    changes |= {"order": order, "cancel": cancel}
    return (
        (Kind.SHOW, "GET", "/network", show),
        *((Kind.CHANGE, "POST", f"/network/{name}", changing(change)) for name, change in changes.items()),
    )
