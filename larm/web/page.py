"""Pages made of templates: everything in them is text, which is escaped; and forms that come back. On the event loop."""

from typing import Any
from urllib.parse import parse_qsl

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from larm import __version__
from larm.engine.figures.rates import duration, minute, size
from larm.index.meta_words import MIME_NAMES
from larm.index.search.answer import moment
from larm.kit.counted import counted
from larm.kit.printable import harmless, printable
from larm.ops.outcome import cluster_line
from larm.web.chart import HEIGHT, WIDTH, clock
from larm.web.directories import Served

_OPENED = ("http://", "https://")
"""Addresses that a browser may be sent to; of all others, such as javascript:, the text is shown and no link."""


def _day(seconds: int) -> str:
    return (moment(seconds) or "")[:10]


def _kind(mime: str) -> str:
    """The name that people use; empty for HTML."""
    if mime in {"text/html", "application/xhtml+xml", ""}:
        return ""
    return MIME_NAMES.get(mime, mime.rpartition("/")[2])


def can_be_opened(url: str) -> bool:
    """A link may lead there."""
    return url.lower().startswith(_OPENED) or url.startswith("/files/")  # of this server


def _environment() -> Environment:
    # what is served has no styles of its own; what is a file by itself has
    loader = ChoiceLoader([PackageLoader("larm.web"), PackageLoader("larm.web", "standalone")])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.globals |= {"width": WIDTH, "height": HEIGHT, "version": __version__}
    environment.filters |= {"plain": printable, "lines": harmless, "day": _day, "clock": clock, "kind": _kind}
    environment.filters |= {
        "size": size,
        "duration": duration,
        "cluster_line": cluster_line,
        "counted": counted,
        "minute": minute,
    }
    environment.tests["opened"] = can_be_opened
    return environment


_pages = _environment()


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page; ``values`` are what the template names."""
    access = request.app.state.access
    shared = {
        "peering": request.app.state.peering is not None,
        "registrar": is_registrar(request),
        "network": request.app.state.network is not None,
        "recommend": can_recommend(request),
        "public": access.only_search,
        "signed_in": access.signed_in(request),
        "path": request.url.path,
    }
    return HTMLResponse(text_of(template, **shared, **values), status)


def is_registrar(request: Request) -> bool:
    """And nothing else."""
    peering = request.app.state.peering
    return peering is not None and peering.peer is None


def can_recommend(request: Request) -> bool:
    """This machine is a peer, and who looks is its owner."""
    peering = request.app.state.peering
    return peering is not None and peering.peer is not None and request.app.state.access.signed_in(request)


def text_of(template: str, **values: Any) -> str:
    """What a template makes of the values it names."""
    return _pages.get_template(template).render(**values)


class MessageError(Exception):
    """A request ends with a `message`."""

    def __init__(self, status: int, *sentences: str) -> None:
        super().__init__(*sentences)
        self.status = status
        self.sentences = sentences


def crawl_named(request: Request) -> Served:
    """The crawl that the address names. Raises MessageError."""
    found: list[Served] = request.app.state.directories.named([request.path_params["name"]])
    if not found:
        raise MessageError(404, "No such crawl", "None of that name is served here.")
    return found[0]


def message(request: Request, status: int, title: str, *sentences: str) -> HTMLResponse:
    """A page that says what went wrong, and what to do."""
    return page(request, "message.html", status, title=title, sentences=sentences)


_MOST = 100
"""Fields."""


async def form_of(request: Request) -> dict[str, str]:
    """The last value of each field; empty for what is no form. `larm.web.guard` has bounded the body."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
        return {}
    try:
        return dict(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST))
    except ValueError:  # more of them
        return {}
