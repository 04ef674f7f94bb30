"""The search page: ``/`` and ``/search``. What it shows is what ``larm search`` says. On the event loop."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from larm.index.search.query import LONGEST
from larm.index.search.results import Results
from larm.model.facets import DAYS, Age, Narrowed, Sort
from larm.model.findings import Asked
from larm.model.hit import Hit
from larm.seams import Searcher
from larm.web.directories import directories_of
from larm.web.facet_rows import FACETS, facet_rows
from larm.web.page import can_recommend, is_registrar, message, page, text_of
from larm.web.search_desk import PATIENCE, BusyError, Gatherings, SearchDesk, searchers_for

_SHOWN = 10
_FURTHEST = 100
"""The last page of results."""
_LONGEST = 200
"""Characters of what a search is narrowed down to."""


class Search(msgspec.Struct, frozen=True):
    """The parameters of ``/search``."""

    query: str
    page: int
    names: tuple[str, ...]
    """Of directories; empty: all."""
    explain: bool = False
    alike: bool = False
    """Also pages that say the same as a better one."""
    as_typed: bool = False
    """In no other spelling; not kept when other words are typed."""
    sort: Sort = "relevance"
    site: str = ""
    type: str = ""
    language: str = ""
    age: Age = ""
    wait: bool = False
    """For all machines that are asked."""
    fresh: bool = False
    """Ask all peers, though results are kept for this query."""

    @property
    def narrowed(self) -> Narrowed:
        """Which pages are wanted beside the query."""
        return Narrowed(site=self.site, type=self.type, language=self.language, age=self.age)

    @property
    def kept(self) -> list[tuple[str, str]]:
        """Parameters that stay when other words are typed."""
        pairs = [(name, getattr(self, name)) for name in FACETS]
        pairs += [("alike", "1" * self.alike), ("sort", "date" * (self.sort == "date"))]
        return [(name, value) for name, value in pairs if value]

    def address(self, **other: Any) -> str:
        """Of the same search with other parameters."""
        new = msgspec.structs.replace(self, **other)
        pairs = [("q", new.query)] + [("in", name) for name in new.names] + new.kept
        pairs += [("page", str(new.page))] * (new.page > 1) + [("explain", "1")] * new.explain + [("wait", "1")] * new.wait
        pairs += [("fresh", "1")] * (new.fresh and new.query == self.query)
        pairs += [("as_typed", "1")] * (new.as_typed and new.query == self.query)
        return "/search?" + urlencode(pairs, errors="replace")


def _read(request: Request) -> Search:
    """Anything may be asked; what is no number is 1."""
    given = request.query_params
    number = given.get("page", "1")
    at = int(number) if number.isascii() and number.isdecimal() and len(number) < 6 else 1
    names = tuple(dict.fromkeys(given.getlist("in")))
    return Search(
        given.get("q", "").strip(),
        min(max(1, at), _FURTHEST),
        names,
        explain=given.get("explain") == "1",
        alike=given.get("alike") == "1",
        as_typed=given.get("as_typed") == "1",
        sort="date" if given.get("sort") == "date" else "relevance",
        site=given.get("site", "")[:_LONGEST],
        type=given.get("type", "")[:_LONGEST],
        language=given.get("language", "")[:_LONGEST],
        wait=given.get("wait") == "1",
        fresh=given.get("fresh") == "1",
        age=next((age for age in DAYS if age == given.get("age")), ""),
    )


async def home(request: Request) -> Response:
    """A field to type into; a question that came here goes to its answer."""
    if (asked := _read(request)).query:
        return RedirectResponse(asked.address(), 303)
    return page(request, "search.html", search=Search("", 1, ()), served=_names(request), results=None)


async def search(request: Request) -> Response:
    """One page of results."""
    asked = _read(request)
    if not asked.query:
        return RedirectResponse("/", 303)
    if len(asked.query) > LONGEST:
        return message(request, 400, "That is too long", f"A query may have {LONGEST:,} characters.")
    directories = directories_of(request)
    searchers: Sequence[Searcher] = directories.searchers(asked.names)
    if not searchers:
        nothing = "There is no crawl of that name here; larm serve DIR serves one."
        there = "This is a registrar, which keeps who there is. Search at the address of a peer."
        return message(request, 404, "Nothing is searched", there if is_registrar(request) else nothing)
    try:
        searchers, kept = await searchers_for(request, _question(asked), searchers, fresh=asked.fresh)
        more, results = await _answered(request, asked, searchers)
    except BusyError:
        response = message(request, 503, "Too many searches at a time", "Please try again in some seconds.")
        response.headers["retry-after"] = "2"
        return response
    first = _SHOWN * (asked.page - 1) + 1
    return page(
        request,
        "search.html",
        200 if results.hits or not results.unanswered else 503,
        search=asked,
        served=_names(request),
        results=results,
        kept=kept,
        first=first,
        facets=facet_rows(asked, results),
        rows=_rows(request, asked, results, first),
        pages=_pages(asked, results),
        more=f"/search/more?{asked.address().partition('?')[2]}&more={more}&shown={len(results.hits)}" if more else "",
    )


async def _answered(request: Request, asked: Search, searchers: Sequence[Searcher]) -> tuple[str, Results]:
    """The results, and where other machines are slow, the name of what gathers theirs. Raises BusyError."""
    state, question = request.app.state, _question(asked)
    far = directories_of(request).are_far(searchers)
    if far and asked.page == 1 and asked.sort == "relevance" and not asked.wait:
        more, results = await state.gatherings.begin(state.desk.limited(question), searchers)
        if more or results.total or not results.suggestion:
            return more, results
    question = msgspec.structs.replace(question, wait=None if asked.wait else PATIENCE)
    return "", await state.desk.search(question, searchers, far=far)


async def more(request: Request) -> Response:
    """What other machines answer after the page was shown, as server-sent events."""
    asked = _read(request)
    name, shown = request.query_params.get("more", ""), request.query_params.get("shown", "")

    def render(results: Results, before: int) -> tuple[str, str]:
        rows = _rows(request, asked, results, 1)[before:]
        text = text_of("rows.html", rows=rows, search=asked, recommend=can_recommend(request))
        return text, text_of("about.html", search=asked, results=results, first=1)

    gatherings: Gatherings = request.app.state.gatherings
    stream = gatherings.more(name, int(shown) if shown.isascii() and shown.isdecimal() and len(shown) < 5 else 0, render)
    return StreamingResponse(stream, media_type="text/event-stream")


def _rows(request: Request, asked: Search, results: Results, first: int) -> list[_Row]:
    directories = directories_of(request)
    searchers: Sequence[Searcher] = directories.searchers(asked.names)
    here = {each.name for each in directories.all()}
    alone = searchers[0].name if len(searchers) == 1 and searchers[0].name in here else ""
    rows = [_row(rank, hit, asked, alone, here) for rank, hit in enumerate(results.hits, first)]
    return [row._replace(opened_at=directories.opened_at(row.hit.url)) for row in rows]


async def suggest(request: Request) -> Response:
    """What somebody may be about to type, as browsers ask for it (OpenSearch suggestions)."""
    asked = _read(request)
    directories = directories_of(request)
    served = directories.named(asked.names) if asked.names else directories.all()
    desk: SearchDesk = request.app.state.desk
    typed = request.query_params.get("q", "")[:LONGEST]
    found = await desk.suggest(typed, served) if served else ()
    answer = msgspec.json.encode((typed.encode("utf-8", "replace").decode(), [each.query for each in found]))
    return Response(answer, media_type="application/x-suggestions+json")


def _question(asked: Search) -> Asked:
    return Asked(
        query=asked.query,
        number=_SHOWN,
        page=asked.page,
        narrowed=asked.narrowed,
        sort=asked.sort,
        facets=True,
        explain=asked.explain,
        alike=asked.alike,
        as_typed=asked.as_typed,
    )


def _names(request: Request) -> list[str]:
    return [each.name for each in directories_of(request).searchers()]


class _Row(NamedTuple):
    """One result, for the template."""

    rank: int
    hit: Hit
    opened_at: str
    """Its address, with a pass where one is needed."""
    stored: str
    """Where its stored copy is, here or at a peer; empty where there is none."""
    host: str
    more: str
    """The same search on its host."""
    factors: list[tuple[str, float]]


def _row(rank: int, hit: Hit, asked: Search, alone: str, here: Collection[str]) -> _Row:
    host = urlsplit(hit.url).hostname if hit.url.isprintable() and "[" not in hit.url else None
    name = next((each for each in (hit.source or alone, hit.source.partition(", ")[0]) if each in here), "")
    stored = (
        "/copy?" + urlencode({"in": name, "url": hit.url}, errors="replace")
        if name and not hit.url.startswith("/")
        else hit.copy
    )
    more = asked.address(query=f"{asked.query} site:{host}", page=1) if host and "site:" not in asked.query else ""
    return _Row(rank, hit, hit.url, stored, host or "", more, _factors(hit.explanation))


def _factors(explanation: str) -> list[tuple[str, float]]:
    """Names and values of the parts of a score, largest first."""
    details = json.loads(explanation).get("details") if explanation else ()
    return sorted([(str(part["description"]), float(part["value"])) for part in details or ()], key=lambda part: -part[1])


def _pages(asked: Search, results: Results) -> list[tuple[int, str]]:
    """Numbers and addresses of the pages near this one."""
    last = min(-(-results.total // _SHOWN), _FURTHEST)
    near = range(max(1, asked.page - 4), min(last, max(asked.page + 4, 9)) + 1)
    return [(number, asked.address(page=number)) for number in near] if last > 1 else []
