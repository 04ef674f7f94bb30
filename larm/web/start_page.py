"""The form that starts a crawl, and the button that goes on with one. On the event loop."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from larm.errors import LarmError
from larm.web.page import crawl_named, form_of, message, page
from larm.web.starting import FIELDS


async def form(request: Request) -> Response:
    """An empty one."""
    if request.app.state.directories.root is None:
        return message(request, 404, "No place for a new crawl", "larm serve --root FOLDER gives it one.")
    return page(request, "start.html", fields=dict.fromkeys([*FIELDS, "name"], ""), wrong="")


async def start(request: Request) -> Response:
    """It is sent: a crawl begins, or the form comes back with a sentence."""
    given = await form_of(request)
    fields = {name: given.get(name, "") for name in [*FIELDS, "name"]}
    name = fields["name"].strip()
    try:
        path = await request.app.state.desk.look(request.app.state.starting.new, name, fields)
    except LarmError as error:
        return page(request, "start.html", 400, fields=fields, wrong=str(error))
    return _to(request, next(each.name for each in request.app.state.directories.all() if each.path == path.absolute()))


async def go_on(request: Request) -> Response:
    """The crawl of a directory that is served, as it is configured there."""
    served = crawl_named(request)
    try:
        await request.app.state.desk.look(request.app.state.starting.run, served.path)
    except LarmError as error:
        return message(request, 409, "It does not start", str(error))
    return _to(request, served.name)


def _to(request: Request, name: str) -> Response:
    return RedirectResponse(f"/crawls/{name}?done={request.app.state.notices.put(['The crawl has begun.'])}", 303)
