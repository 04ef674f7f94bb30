"""The application: which address is answered by whom. Called once by `larm.web.server`; runs on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.datastructures import State
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from larm.config import ServeSettings
from larm.errors import LarmError
from larm.kit.clock import SystemClock
from larm.web import api, copy_page, crawl_api, monitor_page, search_api, search_page, small, starting
from larm.web.access import Access, Kind
from larm.web.accounting import Accounting, WriteLine
from larm.web.crawls import crawl_of
from larm.web.directories import Directories
from larm.web.events import Events
from larm.web.guard import Guard
from larm.web.metrics import Metrics
from larm.web.monitor_page import Notices
from larm.web.page import MessageError, message
from larm.web.schedule import PERIOD, Schedule
from larm.web.search_desk import Gatherings, SearchDesk

if TYPE_CHECKING:
    from larm.peers.yacy.service import Service
    from larm.peers.yousearch.wiring import Peering

Handler = Callable[[Request], Awaitable[Response]]

_PAGES: Sequence[tuple[Kind, str, str, Handler]] = (
    (Kind.SEARCH, "GET", "/", search_page.home),
    (Kind.SEARCH, "GET", "/search", search_page.search),
    (Kind.SEARCH, "GET", "/search/more", search_page.more),
    (Kind.SEARCH, "GET", "/suggest", search_page.suggest),
    (Kind.SEARCH, "GET", "/copy", copy_page.copy),
    (Kind.SEARCH, "GET", "/copy/original", copy_page.original),
    (Kind.SHOW, "GET", "/metrics", small.metrics),
    (Kind.SHOW, "GET", "/crawls", monitor_page.crawls),
    (Kind.SHOW, "GET", "/crawls/{name}", monitor_page.crawl),
    (Kind.SHOW, "GET", "/crawls/{name}/events", monitor_page.events),
    (Kind.SHOW, "GET", "/api/v1/events", crawl_api.events),
    (Kind.SHOW, "GET", "/crawls/{name}/hosts", monitor_page.hosts),
    (Kind.SHOW, "GET", "/crawls/{name}/log", monitor_page.log),
    (Kind.CHANGE, "POST", "/crawls/{name}/steer", monitor_page.steer),
    (Kind.CHANGE, "POST", "/crawls/{name}/start", starting.go_on),
    (Kind.CHANGE, "GET", "/start", starting.form),
    (Kind.CHANGE, "POST", "/start", starting.start),
)
_FREE: Sequence[tuple[Kind, str, str, Handler]] = (
    (Kind.SEARCH, "GET", "/opensearch.xml", small.opensearch),
    (Kind.SEARCH, "GET", "/healthz", small.healthz),
    (Kind.SEARCH, "GET", "/robots.txt", small.robots),
    (Kind.SHOW, "GET", "/login", small.login_form),
    (Kind.SHOW, "POST", "/login", small.login),
    (Kind.SHOW, "POST", "/logout", small.logout),
)
"""Nobody needs a token for these."""


class Application(NamedTuple):
    """What a server runs."""

    asgi: ASGIApp
    open: Callable[[], None]
    """At the start of the server, on the event loop."""
    close: Callable[[], None]
    """At the end of the server, on the event loop: what would go on for ever ends."""


_CRAWLS = 1
"""Crawls at a time that their `Recrawl.every` makes due."""


def application(
    directories: Directories,
    access: Access,
    settings: ServeSettings,
    *,
    names: Collection[str] = (),
    log: WriteLine | None = None,
    say: Callable[[str], object] = lambda _: None,
    peering: Peering | None = None,
    network: Service | None = None,
    stop_crawls: bool = False,
) -> Application:
    """All of it; ``names``: host names of this server, ``log`` takes a line for each request, ``say`` sentences for people.

    ``stop_crawls``: those that it has started stop when it ends, else they go on by themselves.
    ``peering``: this machine is a peer or a registrar; without it there are no routes for others.
    ``network``: this machine takes part in one; it has no other peers then."""
    metrics = Metrics()
    pages = list(_PAGES)
    routes: list[BaseRoute] = [
        Route(path, handler, methods=[method]) for kind, method, path, handler in _FREE if access.exists(kind)
    ]
    endpoints = [each for each in (*search_api.ENDPOINTS, *crawl_api.ENDPOINTS) if access.exists(each.kind)]
    routes += [Route(api.ROOT + each.path, api.handler_of(each), methods=[each.method]) for each in endpoints]
    routes += [
        Route(api.ROOT + "/openapi.json", api.describe(endpoints), methods=["GET"]),
        Mount("/static", StaticFiles(packages=[("larm.web", "static")]), name="static"),
    ]
    if peering is not None:
        from larm.web.peer_route import file_routes, peer_routes
        from larm.web.peering import page_routes

        routes += [*peer_routes(peering.door, peering.card), *file_routes(peering)]
        pages += page_routes(peering)
    if network is not None:
        from larm.web import network_page
        from larm.web.peer_route import network_routes

        routes += network_routes(network)
        pages += network_page.page_routes(network)
    routes += [
        Route(path, _permitted(kind, handler), methods=[method]) for kind, method, path, handler in pages if access.exists(kind)
    ]
    peer = peering.peer if peering is not None else None
    app = Starlette(routes=routes, exception_handlers={404: small.not_found, MessageError: _told, LarmError: _failed})
    app.router.redirect_slashes = False
    app.state.directories = directories
    app.state.access = access
    app.state.metrics = metrics
    app.state.peering = peering
    app.state.network = network
    app.state.desk = SearchDesk(settings, metrics)
    app.state.events = Events()
    app.state.gatherings = Gatherings()
    app.state.notices = Notices()
    app.state.starting = starting.Starting(directories.root, stop=stop_crawls)

    app.state.schedule = Schedule(crawl_of, app.state.starting.run, _CRAWLS, SystemClock(), say)
    tasks: list[asyncio.Task[None]] = []

    def begin() -> None:
        if not access.only_search:
            tasks.append(asyncio.create_task(_keep_schedule(app.state)))
        if peer is not None:
            peer.open()
        if network is not None:
            network.start()

    def close() -> None:
        for task in tasks:
            task.cancel()

        app.state.events.close()
        app.state.starting.close()
        if peer is not None:
            peer.close()
        if network is not None:
            network.stop()

    guard = Guard(app, names) if peering is None else Guard(app, (*names, peering.host), peering.larger)
    return Application(Accounting(guard, routes, metrics, log), begin, close)


async def _keep_schedule(state: State) -> None:
    while True:
        await state.desk.look(lambda: state.schedule.tick(state.directories.all()))
        await asyncio.sleep(PERIOD)


def _permitted(kind: Kind, handler: Handler) -> Handler:
    """Who may not have it is asked for the token first."""

    async def answer(request: Request) -> Response:
        access: Access = request.app.state.access
        if access.allows(kind, request):
            return await handler(request)
        if request.method != "GET":
            return message(request, 403, "A token is needed", "Sign in first.")
        return RedirectResponse("/login?" + urlencode({"next": f"{request.url.path}?{request.url.query}"}), 303)

    return answer


async def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, MessageError)  # noqa: S101
    return message(request, error.status, *error.sentences)


async def _failed(request: Request, error: Exception) -> Response:
    """A disk or an index that can't be read, or written, is a sentence; everything else goes on."""
    return message(request, 503, "This can't be done now", "" if request.app.state.access.is_stranger(request) else str(error))
