"""Questions of the API about crawls, and orders to them; it answers the Structs of `larm.ops.control`. On the event loop."""

from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from larm.engine.orders import AnyOrder, Done
from larm.errors import UsageError
from larm.index.search.query import LONGEST
from larm.ops.control.client import NotRunning
from larm.ops.control.requests import Checkpoint, Do, Explanation, Hosts, HostTable, Stop, Why
from larm.ops.control.requests import Request as Question
from larm.ops.history import Step
from larm.web.access import Kind
from larm.web.api import Endpoint, Problem, ProblemError, problem_response
from larm.web.crawls import Crawl, Lately, ask, crawl_of, lately, past
from larm.web.directories import Served
from larm.web.events import MOST
from larm.web.monitor_page import all_crawls, stream

A = TypeVar("A")
Name = Annotated[str, Meta(max_length=255, description="of a crawl that is served")]


class AllQuestion(msgspec.Struct, frozen=True):
    """No parameters."""


class CrawlQuestion(msgspec.Struct, frozen=True):
    """Which crawl."""

    name: Name


class HostsQuestion(msgspec.Struct, frozen=True):
    """Which hosts, in which order."""

    name: Name
    sort: Annotated[str, Meta(max_length=50, description="a field of HostLine")] = "queued"
    page: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    size: Annotated[int, Meta(ge=1, le=1_000)] = 50
    having: Annotated[str, Meta(max_length=255, description="part of the name")] = ""


class WhyQuestion(msgspec.Struct, frozen=True):
    """Which URL."""

    name: Name
    url: Annotated[str, Meta(max_length=LONGEST)]


class OrderQuestion(msgspec.Struct, frozen=True):
    """An order for a crawl that runs."""

    name: Name
    order: AnyOrder


class NewQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A crawl that is not there yet; what is left out is as by default."""

    name: Annotated[str, Meta(max_length=64, description="of its directory, below the root of the server")]
    start: Annotated[tuple[Annotated[str, Meta(max_length=LONGEST)], ...], Meta(min_length=1, max_length=1_000)]
    restrict_to: Annotated[str, Meta(max_length=LONGEST, description="an expression; empty: the hosts of the start URLs")] = ""
    max_pages: Annotated[int, Meta(ge=1)] | None = None
    max_depth: Annotated[int, Meta(ge=0)] | None = None
    max_time: Annotated[str, Meta(max_length=50, description="as 2h")] = ""
    delay: Annotated[str, Meta(max_length=50, description="as 500ms")] = ""
    contact: Annotated[str, Meta(max_length=LONGEST, description="a URL or mail address of yours")] = ""


class AllCrawls(msgspec.Struct, frozen=True):
    """Every crawl that is served."""

    crawls: tuple[Crawl, ...]


class Course(msgspec.Struct, frozen=True):
    """How a crawl went, over all its runs."""

    steps: tuple[Step, ...]


async def crawls(request: Request, _: AllQuestion) -> AllCrawls:
    """How all crawls stand, running or not."""
    return AllCrawls(tuple(await all_crawls(request)))


async def crawl(request: Request, asked: CrawlQuestion) -> Crawl:
    """How a crawl stands, running or not."""
    found: Crawl = await request.app.state.desk.look(crawl_of, _named(request, asked.name))
    return found


async def course(request: Request, asked: CrawlQuestion) -> Course:
    """Some hundred points of the curves of a crawl."""
    return Course(tuple(await request.app.state.desk.look(past, _named(request, asked.name))))


async def recent(request: Request, asked: CrawlQuestion) -> Lately:
    """The last pages and errors of a crawl that runs."""
    try:
        found: Lately = await request.app.state.desk.look(lately, _named(request, asked.name))
    except UsageError as error:
        raise _problem(error) from None
    return found


async def hosts(request: Request, asked: HostsQuestion) -> HostTable:
    """The hosts of a crawl that runs."""
    return await _ask(request, asked.name, Hosts(asked.sort, asked.page, asked.size, asked.having))


async def why(request: Request, asked: WhyQuestion) -> Explanation:
    """What a crawl that runs thinks of a URL."""
    return await _ask(request, asked.name, Why(asked.url))


async def order(request: Request, asked: OrderQuestion) -> Done:
    """Pause, resume, add, set, block, unblock or reopen; what is answered holds, also after a kill."""
    return await _ask(request, asked.name, Do(asked.order))


async def checkpoint(request: Request, asked: CrawlQuestion) -> Done:
    """Save all of a crawl now."""
    return await _ask(request, asked.name, Checkpoint())


async def stop(request: Request, asked: CrawlQuestion) -> Done:
    """End a crawl in good order."""
    return await _ask(request, asked.name, Stop())


async def start(request: Request, asked: CrawlQuestion) -> Done:
    """Start the crawl of a directory, as it is configured there."""
    try:
        await request.app.state.desk.look(request.app.state.starting.run, _named(request, asked.name).path)
    except UsageError as error:
        raise ProblemError(409, "it does not start", str(error)) from None
    return Done("the crawl has begun")


async def new(request: Request, asked: NewQuestion) -> Done:
    """Start a crawl in a new directory below the root of the server (larm serve --root FOLDER)."""
    fields = {name: "" if value is None else str(value) for name, value in msgspec.structs.asdict(asked).items()}
    try:
        await request.app.state.desk.look(request.app.state.starting.new, asked.name, fields | {"start": " ".join(asked.start)})
    except UsageError as error:
        raise ProblemError(422, "no such crawl can begin", str(error)) from None
    return Done("the crawl has begun")


async def events(request: Request) -> Response:
    """How a crawl stands, as it changes: server-sent events, whose data are `Crawl` as JSON. ``name`` is a parameter."""
    desk, state = request.app.state.desk, request.app.state
    found = state.directories.named([request.query_params.get("name", "")])
    if not found:
        return problem_response(Problem("no such crawl", 404))
    if state.events.streams >= MOST:
        return problem_response(Problem("too many streams at a time", 503))

    async def render() -> str:
        return msgspec.json.encode(await desk.look(crawl_of, found[0])).decode()

    return stream(request, f"{found[0].name} as JSON", render)


async def _ask(request: Request, name: str, question: Question[A]) -> A:
    try:
        answer: A = await request.app.state.desk.look(ask, _named(request, name), question)
    except UsageError as error:
        raise _problem(error) from None
    return answer


def _problem(error: UsageError) -> ProblemError:
    if isinstance(error, NotRunning):
        return ProblemError(409, "the crawl does not run", str(error))
    return ProblemError(422, "the crawl refuses", str(error))


def _named(request: Request, name: str) -> Served:
    found: list[Served] = request.app.state.directories.named([name])
    if not found:
        raise ProblemError(404, "no such crawl", "none of that name is served here")
    return found[0]


ENDPOINTS = (
    Endpoint("GET", "/crawls", Kind.SHOW, AllQuestion, AllCrawls, crawls),
    Endpoint("GET", "/crawl", Kind.SHOW, CrawlQuestion, Crawl, crawl),
    Endpoint("GET", "/course", Kind.SHOW, CrawlQuestion, Course, course),
    Endpoint("GET", "/recent", Kind.SHOW, CrawlQuestion, Lately, recent),
    Endpoint("GET", "/hosts", Kind.SHOW, HostsQuestion, HostTable, hosts),
    Endpoint("GET", "/why", Kind.SHOW, WhyQuestion, Explanation, why),
    Endpoint("POST", "/order", Kind.CHANGE, OrderQuestion, Done, order),
    Endpoint("POST", "/checkpoint", Kind.CHANGE, CrawlQuestion, Done, checkpoint),
    Endpoint("POST", "/stop", Kind.CHANGE, CrawlQuestion, Done, stop),
    Endpoint("POST", "/start", Kind.CHANGE, CrawlQuestion, Done, start),
    Endpoint("POST", "/new", Kind.CHANGE, NewQuestion, Done, new),
)
