"""The monitor: which crawls there are, how each stands, live, and the buttons that steer it. On the event loop."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar, get_args

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from larm.engine.figures.limits import advice
from larm.engine.limits import CHANGEABLE
from larm.engine.orders import Add, AnyOrder, Done
from larm.errors import LarmError
from larm.ops.control.client import NotRunning
from larm.ops.control.requests import Checkpoint, Do, HostLine, Hosts, Stop, Tail
from larm.ops.control.requests import Request as Question
from larm.web.chart import charts
from larm.web.crawls import Crawl, Lately, ask, crawl_of, lately, past, rows_of
from larm.web.directories import Served
from larm.web.events import MOST, Render
from larm.web.page import MessageError, crawl_named, form_of, page, text_of

_SORTS = tuple(name for name in HostLine.__struct_fields__ if name not in {"closed", "next"})
A = TypeVar("A")
_NOTHING = Lately((), ())


async def crawls(request: Request) -> Response:
    """All of them."""
    found = await all_crawls(request)
    return page(request, "crawls.html", crawls=found, can_add=request.app.state.directories.root is not None)


async def all_crawls(request: Request) -> list[Crawl]:
    """How each stands; all are asked at the same time, as far as there are threads."""
    look: Callable[..., Awaitable[Crawl]] = request.app.state.desk.look
    return await asyncio.gather(*(look(crawl_of, served) for served in request.app.state.directories.all()))


async def crawl(request: Request) -> Response:
    """One of them."""
    served = crawl_named(request)
    return await _shown(request, served, said=request.app.state.notices.take(request.query_params.get("done", "")))


async def events(request: Request) -> Response:
    """Its figures, as they change."""
    served = crawl_named(request)
    if request.app.state.events.streams >= MOST:
        return Response(status_code=503)

    async def render() -> str:
        return text_of("figures.html", **await _figures(request, served))

    return stream(request, served.name, render)


def stream(request: Request, key: str, render: Render) -> Response:
    """Server-sent events; all that look at the same ``key`` get the same."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(request.app.state.events.stream(key, render), media_type="text/event-stream", headers=headers)


async def steer(request: Request) -> Response:
    """A button was pressed."""
    served = crawl_named(request)
    fields = await form_of(request)
    try:
        done = await request.app.state.desk.look(ask, served, request_of(fields.get("command", ""), fields))
    except BadCommandError as error:
        return await _shown(request, served, wrong=str(error), status=400)
    except LarmError as error:
        return await _shown(request, served, wrong=str(error), status=409)
    refused = [f"{each.url}: {each.why}" for each in done.refused]
    return RedirectResponse(f"/crawls/{served.name}?done={request.app.state.notices.put([done.says, *refused])}", 303)


async def hosts(request: Request) -> Response:
    """Its hosts as a table."""
    served, given = crawl_named(request), request.query_params
    number = given.get("page", "1")
    sort = given.get("sort", "queued")
    asked = Hosts(
        sort=sort if sort in _SORTS else "queued",
        page=int(number) if number.isascii() and number.isdecimal() and len(number) < 7 and int(number) else 1,
        having=given.get("having", "")[:100],
    )
    table = await _answer(request, served, asked)
    return page(request, "hosts.html", name=served.name, table=table, asked=asked, sorts=_SORTS)


async def log(request: Request) -> Response:
    """The last lines of one of its logs."""
    served = crawl_named(request)
    name, known = request.query_params.get("log", ""), await _answer(request, served, Tail())
    lines = None
    if name in known.logs:
        lines = await _answer(request, served, Tail(name, 100))
    return page(request, "log.html", name=served.name, logs=known.logs, lines=lines)


async def _answer(request: Request, served: Served, asked: Question[A]) -> A:
    """Raises MessageError where the crawl does not run, or refuses."""
    try:
        answer: A = await request.app.state.desk.look(ask, served, asked)
    except NotRunning:
        raise MessageError(409, "This crawl does not run", "Its hosts and logs can be seen while it runs.") from None
    except LarmError as error:
        raise MessageError(409, "Nothing to see", str(error)) from error
    return answer


async def _shown(request: Request, served: Served, *, said: Any = (), wrong: str = "", status: int = 200) -> Response:
    values = await _figures(request, served)
    return page(request, "crawl.html", status, said=said, wrong=wrong, settings=CHANGEABLE, **values)


async def _figures(request: Request, served: Served) -> dict[str, Any]:
    """What ``figures.html`` shows. Raises nothing for what can happen to a crawl."""
    desk = request.app.state.desk
    found: Crawl = await desk.look(crawl_of, served)
    last = _NOTHING
    if found.runs:
        try:
            last = await desk.look(lately, served)
        except NotRunning:
            found = await desk.look(crawl_of, served)
        except LarmError as error:
            found = msgspec.structs.replace(found, said=str(error))
    try:
        drawn = charts(await desk.look(past, served))
    except LarmError as error:
        drawn, found = [], msgspec.structs.replace(found, said=str(error))
    due = 0.0 if found.runs else request.app.state.schedule.due.get(served.path, 0.0)
    return {
        "due": due,
        "helps": advice(found.limited_by),
        "crawl": found,
        "rows": rows_of(found),
        "last": last,
        "charts": drawn,
    }


class BadCommandError(Exception):
    """There is no such command, or something is missing; ``str`` says what."""


_ORDERS: Mapping[str, type[AnyOrder]] = {str(each.__struct_config__.tag): each for each in get_args(AnyOrder)}
"""By their commands, as buttons send them."""
_OTHERS: Mapping[str, Question[Done]] = {"stop": Stop(), "checkpoint": Checkpoint()}


def request_of(command: str, fields: Mapping[str, str]) -> Question[Done]:
    """Return what a button asks of a running crawl; ``fields``: those of its form. Raises BadCommandError."""
    if command in _OTHERS:
        return _OTHERS[command]
    order = _ORDERS.get(command)
    if order is None:
        raise BadCommandError(f"there is no such command; there are {', '.join([*_ORDERS, *_OTHERS])}")
    given: dict[str, Any] = {each.name: fields.get(each.name, "").strip() for each in msgspec.structs.fields(order)}
    for each in msgspec.structs.fields(order):
        if each.required and not given[each.name]:
            raise BadCommandError(f"{each.name} is missing")
    return Do(Add(tuple(given["urls"].split())) if order is Add else order(**given))


_MOST = 100


class Notices:
    """Each is taken once."""

    def __init__(self) -> None:
        # only the event loop
        self._kept: dict[str, Sequence[str]] = {}

    def put(self, sentences: Sequence[str]) -> str:
        """By what it is taken."""
        while len(self._kept) >= _MOST:
            del self._kept[next(iter(self._kept))]
        key = secrets.token_urlsafe(8)
        self._kept[key] = sentences
        return key

    def take(self, key: str) -> Sequence[str]:
        """Empty for one that is not there, or not any more."""
        return self._kept.pop(key, ())
