"""Questions of the API about what was crawled: search, one page. On the event loop."""

from collections.abc import Callable, Mapping
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request

from larm.index.search.answer import SearchAnswer, answer_of, moment
from larm.index.search.query import LONGEST
from larm.index.search.several import SeveralSearchers
from larm.index.search.suggesting import Suggestion
from larm.model.facets import Age, Narrowed, Sort
from larm.model.findings import MOST_HITS, Asked, Findings, WordStatistics
from larm.model.page_record import PageLink
from larm.seams import Searcher
from larm.web.access import Kind
from larm.web.api import Endpoint, ProblemError
from larm.web.copy_page import Keeping, keeping_of
from larm.web.directories import Served, directories_of
from larm.web.search_desk import PATIENCE, BusyError, SearchDesk, searchers_for

_LONGEST = 3_600
"""Seconds that somebody may say he has; ours are fewer."""
T = TypeVar("T")
_LONGEST_VALUE = 200
"""Characters of what a search is narrowed down to."""


class SearchQuestion(msgspec.Struct, frozen=True, kw_only=True, rename={"within": "in"}):
    """Parameters of a search."""

    q: Annotated[str, Meta(max_length=LONGEST, description="the words, with all operators")]
    n: Annotated[int, Meta(ge=1, le=100, description="results on a page")] = 10
    page: Annotated[int, Meta(ge=1, le=100, description="which page of them")] = 1
    within: Annotated[tuple[str, ...], Meta(description="names of crawls; without it all are searched")] = ()
    sort: Annotated[Sort, Meta(description="by date: what changed last comes first")] = "relevance"
    site: Annotated[str, Meta(max_length=_LONGEST_VALUE, description="only pages of this host")] = ""
    type: Annotated[str, Meta(max_length=_LONGEST_VALUE, description="only pages of this MIME type")] = ""
    language: Annotated[str, Meta(max_length=_LONGEST_VALUE, description="only pages in this language (ISO 639-1)")] = ""
    age: Annotated[Age, Meta(description="only pages that changed within this time")] = ""
    facets: Annotated[bool, Meta(description="count sites, types, languages and ages of what matches")] = False
    explain: Annotated[bool, Meta(description="say how each score came about")] = False
    alike: Annotated[bool, Meta(description="also pages that say nearly the same as a better one")] = False
    as_typed: Annotated[bool, Meta(description="no other spelling takes its place, though no page has all words")] = False
    fresh: Annotated[bool, Meta(description="ask all peers, though a group keeps results for this query")] = False
    wait: Annotated[
        float,
        Meta(
            gt=0,
            le=600,
            description="seconds that peers have, at most peers.timeout; those of a network in each of three rounds",
        ),
    ] = PATIENCE


class SuggestQuestion(msgspec.Struct, frozen=True, kw_only=True, rename={"within": "in"}):
    """Parameters of the question for suggestions."""

    q: Annotated[str, Meta(max_length=LONGEST, description="what was typed so far")]
    within: Annotated[tuple[str, ...], Meta(description="names of crawls; without it all are asked")] = ()


class SuggestAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What may be meant, best first."""

    suggestions: tuple[Suggestion, ...]


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
    fields: Mapping[str, tuple[str, ...]]
    """Those of the user's, by name."""
    links_to: tuple[str, ...]
    """Pages that link to it, the most important first."""
    links: tuple[PageLink, ...]


async def search(request: Request, asked: SearchQuestion) -> SearchAnswer:
    """The pages that have all the words, best first."""
    desk: SearchDesk = request.app.state.desk
    question = Asked(
        query=asked.q,
        number=asked.n,
        page=asked.page,
        narrowed=Narrowed(site=asked.site, type=asked.type, language=asked.language, age=asked.age),
        sort=asked.sort,
        facets=asked.facets,
        explain=asked.explain,
        alike=asked.alike,
        as_typed=asked.as_typed,
        wait=asked.wait,
    )
    try:
        named = _searchers(request, asked.within)
        searchers, _ = await searchers_for(request, question, named, fresh=asked.fresh)
        results = await desk.search(question, searchers, far=directories_of(request).are_far(searchers))
    except BusyError:
        raise ProblemError(503, "too many searches at a time", "try again in some seconds") from None
    return answer_of(results, asked.page, asked.n * (asked.page - 1) + 1)


async def findings(request: Request, asked: Asked) -> Findings:
    """One page of the answer to a search, for another larm that searches here and elsewhere at the same time."""
    return await _run(request, lambda searchers: searchers.findings, asked)


async def statistics(request: Request, asked: Asked) -> WordStatistics:
    """How many pages have the words of a query, so that scores of several machines can be compared."""
    return await _run(request, lambda searchers: searchers.statistics, asked) or WordStatistics()


async def _run(request: Request, function: Callable[[SeveralSearchers], Callable[[Asked], T]], asked: Asked) -> T:
    """Of the indexes that are here: those of others are asked by who asks us."""
    if len(asked.query) > LONGEST or not 0 < asked.page <= MOST_HITS or not 0 < (asked.seconds or 1) < _LONGEST:
        raise ProblemError(400, "the question can't be understood", "its query, page or time is beyond all bounds")
    desk: SearchDesk = request.app.state.desk
    here = {each.name for each in request.app.state.directories.all()}
    found = [each for each in directories_of(request).searchers() if each.name in here]
    if not found:
        raise ProblemError(404, "no such crawl", "none is served here")
    searchers = SeveralSearchers(found)
    try:
        return await desk.run(function(searchers), msgspec.structs.replace(asked, explain=False))
    except BusyError:
        raise ProblemError(503, "too many searches at a time", "try again in some seconds") from None


async def suggest(request: Request, asked: SuggestQuestion) -> SuggestAnswer:
    """Words and titles that somebody may be about to type."""
    desk: SearchDesk = request.app.state.desk
    return SuggestAnswer(suggestions=await desk.suggest(asked.q, _served(request, asked.within)))


async def page(request: Request, asked: PageQuestion) -> PageAnswer:
    """What the index and the link graph have of a page."""
    desk: SearchDesk = request.app.state.desk
    for served in _served(request, asked.within):
        found = await desk.look(_page, served, asked.url)
        if found is not None:
            return found
    raise ProblemError(404, "no such page", "it is in none of the indexes")


def _searchers(request: Request, names: tuple[str, ...]) -> list[Searcher]:
    searchers: list[Searcher] = directories_of(request).searchers(names)
    if not searchers or len(searchers) < len(set(names)):
        raise ProblemError(404, "no such crawl", "none of that name is served here")
    return searchers


def _served(request: Request, names: tuple[str, ...]) -> list[Served]:
    directories = directories_of(request)
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
        fields=record.fields,
        links_to=links.to,
        links=links.of,
    )


ENDPOINTS = (
    Endpoint("GET", "/search", Kind.SEARCH, SearchQuestion, SearchAnswer, search),
    Endpoint("POST", "/findings", Kind.SEARCH, Asked, Findings, findings),
    Endpoint("POST", "/statistics", Kind.SEARCH, Asked, WordStatistics, statistics),
    Endpoint("GET", "/suggest", Kind.SEARCH, SuggestQuestion, SuggestAnswer, suggest),
    Endpoint("GET", "/page", Kind.SEARCH, PageQuestion, PageAnswer, page),
)
