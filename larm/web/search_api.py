"""Questions of the API about what was crawled: search, one page. On the event loop."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request

from larm.model.findings import Asked
from larm.model.page_record import PageLink
from larm.search.answer import SearchAnswer, answer_of, moment
from larm.search.query import LONGEST
from larm.web.access import Kind
from larm.web.copy_page import Keeping, keeping_of
from larm.web.directories import Served
from larm.web.endpoint import Endpoint, ProblemError
from larm.web.search_desk import BusyError, SearchDesk


class SearchQuestion(msgspec.Struct, frozen=True, kw_only=True, rename={"within": "in"}):
    """Parameters of a search."""

    q: Annotated[str, Meta(max_length=LONGEST, description="the words, with all operators of larm search")]
    n: Annotated[int, Meta(ge=1, le=100, description="results on a page")] = 10
    page: Annotated[int, Meta(ge=1, le=100, description="which page of them")] = 1
    within: Annotated[tuple[str, ...], Meta(description="names of crawls; without it all are searched")] = ()
    explain: Annotated[bool, Meta(description="say how each score came about")] = False


class PageQuestion(msgspec.Struct, frozen=True, kw_only=True, rename={"within": "in"}):
    """Parameters of the question for a page."""

    url: Annotated[str, Meta(max_length=LONGEST)]
    within: Annotated[tuple[str, ...], Meta(description="names of crawls; without it all are looked into")] = ()


class PageAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a page."""

    url: str
    title: str
    source: str
    text: str | None
    """The main text; null where the page asks that no copy is kept."""
    whole: bool
    description: str
    mime: str
    language: str | None
    modified: str | None
    fetched: str | None
    size: int | None
    cut: tuple[str, ...]
    links_to: tuple[str, ...]
    """Pages that link to it, the most important first."""
    links: tuple[PageLink, ...]


async def search(request: Request, asked: SearchQuestion) -> SearchAnswer:
    """The pages that have all the words, best first."""
    desk: SearchDesk = request.app.state.desk
    question = Asked(query=asked.q, number=asked.n, page=asked.page, explain=asked.explain)
    try:
        results = await desk.search(question, _served(request, asked.within))
    except BusyError:
        raise ProblemError(503, "too many searches at a time", "try again in some seconds") from None
    return answer_of(results, asked.page, asked.n * (asked.page - 1) + 1)


async def page(request: Request, asked: PageQuestion) -> PageAnswer:
    """What the index and the link graph have of a page."""
    desk: SearchDesk = request.app.state.desk
    for served in _served(request, asked.within):
        found = await desk.look(_page, served, asked.url)
        if found is not None:
            return found
    raise ProblemError(404, "no such page", "it is in none of the indexes")


def _served(request: Request, names: tuple[str, ...]) -> list[Served]:
    directories = request.app.state.directories
    served: list[Served] = directories.named(names) if names else directories.all()
    if not served or len(served) < len(set(names)):
        raise ProblemError(404, "no such crawl", "none of that name is served here")
    return served


def _page(served: Served, url: str) -> PageAnswer | None:
    record = served.searcher.page(url)
    if record is None:
        return None
    links = served.searcher.links(record.url)
    keeping = keeping_of(served, record.url)
    return PageAnswer(
        url=record.url,
        title=record.title,
        source=served.name,
        text=None if keeping is Keeping.NOTHING else record.text,
        whole=record.whole,
        description=record.description,
        mime=record.mime,
        language=record.language or None,
        modified=moment(record.modified),
        fetched=moment(record.fetched),
        size=record.size or None,
        cut=record.cuts,
        links_to=links.to,
        links=links.of,
    )


ENDPOINTS = (
    Endpoint("GET", "/search", Kind.SEARCH, SearchQuestion, SearchAnswer, search),
    Endpoint("GET", "/page", Kind.SEARCH, PageQuestion, PageAnswer, page),
)
