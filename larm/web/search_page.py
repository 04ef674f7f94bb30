"""The search page: ``/`` and ``/search``. What it shows is what ``larm search`` says. On the event loop."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from larm.model.findings import Asked
from larm.model.hit import Hit
from larm.search.query import LONGEST
from larm.search.results import Results
from larm.web.page import message, page
from larm.web.search_desk import BusyError, SearchDesk

_SHOWN = 10
_FURTHEST = 100
"""The last page of results."""


class Search(msgspec.Struct, frozen=True):
    """The parameters of ``/search``."""

    query: str
    page: int
    names: tuple[str, ...]
    """Of directories; empty: all."""
    explain: bool

    def address(self, **other: Any) -> str:
        """Of the same search with other parameters."""
        new = msgspec.structs.replace(self, **other)
        pairs = [("q", new.query)] + [("in", name) for name in new.names]
        pairs += [("page", str(new.page))] * (new.page > 1) + [("explain", "1")] * new.explain
        return "/search?" + urlencode(pairs, errors="replace")


def _read(request: Request) -> Search:
    """Anything may be asked; what is no number is 1."""
    given = request.query_params
    number = given.get("page", "1")
    at = int(number) if number.isascii() and number.isdecimal() and len(number) < 6 else 1
    names = tuple(dict.fromkeys(given.getlist("in")))
    return Search(given.get("q", "").strip(), min(max(1, at), _FURTHEST), names, given.get("explain") == "1")


async def home(request: Request) -> Response:
    """A field to type into."""
    return page(request, "search.html", search=Search("", 1, (), False), served=_names(request), results=None)


async def search(request: Request) -> Response:
    """One page of results."""
    asked = _read(request)
    if not asked.query:
        return RedirectResponse("/", 303)
    if len(asked.query) > LONGEST:
        return message(request, 400, "That is too long", f"A query may have {LONGEST:,} characters.")
    directories = request.app.state.directories
    searchers = directories.searchers(asked.names)
    if not searchers:
        return message(request, 404, "Nothing is searched", "There is no crawl of that name here; larm serve DIR serves one.")
    desk: SearchDesk = request.app.state.desk
    try:
        results = await desk.search(Asked(query=asked.query, number=_SHOWN, page=asked.page, explain=asked.explain), searchers)
    except BusyError:
        response = message(request, 503, "Too many searches at a time", "Please try again in some seconds.")
        response.headers["retry-after"] = "2"
        return response
    alone = searchers[0].name if len(searchers) == 1 else ""
    here = {each.name for each in directories.all()}
    first = _SHOWN * (asked.page - 1) + 1
    return page(
        request,
        "search.html",
        200 if results.hits or not results.unanswered else 503,
        search=asked,
        served=_names(request),
        results=results,
        first=first,
        rows=[_row(rank, hit, asked, alone if alone in here else "", here) for rank, hit in enumerate(results.hits, first)],
        pages=_pages(asked, results),
    )


def _names(request: Request) -> list[str]:
    return [each.name for each in request.app.state.directories.searchers()]


class _Row(NamedTuple):
    """One result, for the template."""

    rank: int
    hit: Hit
    stored: str
    """Where its stored copy is; empty where another machine has it."""
    host: str
    more: str
    """The same search on its host."""
    factors: list[tuple[str, float]]


def _row(rank: int, hit: Hit, asked: Search, alone: str, here: Collection[str]) -> _Row:
    host = urlsplit(hit.url).hostname if hit.url.isprintable() and "[" not in hit.url else None
    name = hit.source or alone
    stored = "/copy?" + urlencode({"in": name, "url": hit.url}, errors="replace") if name in here else ""
    more = asked.address(query=f"{asked.query} site:{host}", page=1) if host and "site:" not in asked.query else ""
    return _Row(rank, hit, stored, host or "", more, _factors(hit.explanation))


def _factors(explanation: str) -> list[tuple[str, float]]:
    """Names and values of the parts of a score, largest first."""
    details = json.loads(explanation).get("details") if explanation else ()
    return sorted([(str(part["description"]), float(part["value"])) for part in details or ()], key=lambda part: -part[1])


def _pages(asked: Search, results: Results) -> list[tuple[int, str]]:
    """Numbers and addresses of the pages near this one."""
    last = min(-(-results.total // _SHOWN), _FURTHEST)
    near = range(max(1, asked.page - 4), min(last, max(asked.page + 4, 9)) + 1)
    return [(number, asked.address(page=number)) for number in near] if last > 1 else []
