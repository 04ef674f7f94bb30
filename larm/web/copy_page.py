"""The stored copy of a page: its text in our own page, and the original in a frame where nothing of it can run.

The original comes with a policy that makes any browser treat it as nobody's page, without scripts, forms and network, wherever
it is opened; what is no HTML and no plain text is a file to be saved. On the event loop.
"""

from collections.abc import Mapping
from enum import Enum
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from larm.errors import LarmError, UsageError
from larm.store.reader import StoreLog
from larm.web.directories import Served, directories_of
from larm.web.page import message, page
from larm.web.search_desk import SearchDesk

_SEALED: Mapping[str, str] = {
    "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
    "content-disposition": "inline",
}
_SHOWN = {"text/html": "text/html", "application/xhtml+xml": "text/html", "text/plain": "text/plain"}
_LARGEST = 20_000_000
"""Bytes of an original that is handed out."""


class Keeping(Enum):
    """What there is of a page."""

    ALL = "the bytes as they came"
    TEXT = "its text in the index"
    NOTHING = "it asked for that"


def _asked(request: Request) -> tuple[Served | None, str]:
    """The directory and the address in the parameters."""
    served = directories_of(request).named([request.query_params.get("in", "")])
    return (served[0] if served else None), request.query_params.get("url", "")


async def copy(request: Request) -> Response:
    """Its text, as it was indexed."""
    served, url = _asked(request)
    desk: SearchDesk = request.app.state.desk
    if served is None or not url:
        return message(request, 404, "No such crawl", "The address of a stored copy names a crawl and a page.")
    record = await desk.look(served.searcher.page, url)
    if record is None:
        return message(request, 404, "No such page", f"{url} is not in the index of {served.name}.")
    keeping = await desk.look(keeping_of, served, record.url)
    if keeping is Keeping.NOTHING:
        return message(request, 404, "No copy", f"{url} asks that no copy of it is kept (noarchive).")
    original = "/copy/original?" + urlencode({"in": served.name, "url": record.url}, errors="replace")
    return page(request, "copy.html", record=record, name=served.name, kept=keeping is Keeping.ALL, original=original)


async def original(request: Request) -> Response:
    """The bytes as they came, sealed."""
    served, url = _asked(request)
    desk: SearchDesk = request.app.state.desk
    if served is None or not url:
        return message(request, 404, "No such crawl")
    indexed = await desk.look(served.searcher.page, url)  # a page that is gone has no copy for anybody
    found = await desk.look(_body, served, url) if indexed is not None else None
    if found is None:
        return message(request, 404, "No copy", f"{served.name} keeps no copy of this page.")
    mime, body = found
    if mime not in _SHOWN:
        sealed = {**_SEALED, "content-disposition": "attachment"}
        return Response(body, headers=sealed, media_type="application/octet-stream")
    response = Response(body, headers=_SEALED)
    response.headers["content-type"] = _SHOWN[mime]  # without an encoding: the page says it, or the browser tells it
    return response


def keeping_of(served: Served, url: str) -> Keeping:
    """What may be shown of a page. Reads a disk."""
    try:
        entry = StoreLog(served.path).find(url)
    except LarmError:  # no page files; its text is in the index all the same
        return Keeping.TEXT
    if entry is not None and entry.size and not entry.file:
        return Keeping.NOTHING
    return Keeping.ALL if entry is not None and entry.file and entry.size <= _LARGEST else Keeping.TEXT


def _body(served: Served, url: str) -> tuple[str, bytes] | None:
    try:
        log = StoreLog(served.path)
    except UsageError:
        return None
    entry = log.find(url)
    if entry is None or not entry.file or entry.size > _LARGEST:
        return None
    return entry.mime, log.body(entry)
