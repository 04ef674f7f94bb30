"""The answer to a search as JSON has it: ``larm search --json``, ``larm serve``. Stable, see docs/searching.rst. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from larm.index.search.results import Results
from larm.model.facets import Facet


class HitAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One page that was found."""

    rank: int
    url: str
    title: str
    snippet: str
    html: str
    passage: str | None
    mime: str
    language: str | None
    modified: str | None
    fetched: str | None
    size: int | None
    cut: tuple[str, ...]
    complete: bool
    score: float
    failing_since: str | msgspec.UnsetType = msgspec.UNSET
    """Since when revisits have not reached it."""
    fields: Mapping[str, tuple[str, ...]] | msgspec.UnsetType = msgspec.UNSET
    source: str | msgspec.UnsetType = msgspec.UNSET
    copy: str | msgspec.UnsetType = msgspec.UNSET
    explanation: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One page of results."""

    query: str
    total: int
    complete: int
    exact: bool
    alike: int
    page: int
    seconds: float
    notes: tuple[str, ...]
    unanswered: tuple[str, ...]
    suggestion: str | None
    instead: str | None
    facets: tuple[Facet, ...] | msgspec.UnsetType = msgspec.UNSET
    hits: tuple[HitAnswer, ...]


def answer_of(results: Results, page: int, first: int) -> SearchAnswer:
    """The results as JSON has them; ``first`` is the rank of the first hit."""
    hits = [
        HitAnswer(
            rank=rank,
            url=hit.url,
            title=hit.title,
            snippet=hit.snippet,
            html=hit.html,
            passage=hit.passage or None,
            mime=hit.mime,
            language=hit.language or None,
            modified=moment(hit.modified),
            fetched=moment(hit.fetched),
            size=hit.size or None,
            cut=hit.cuts,
            failing_since=moment(hit.failing) or msgspec.UNSET,
            complete=hit.complete,
            score=hit.score,
            fields=hit.fields or msgspec.UNSET,
            source=hit.source or msgspec.UNSET,
            copy=hit.copy or msgspec.UNSET,
            explanation=msgspec.json.decode(hit.explanation) if hit.explanation else msgspec.UNSET,
        )
        for rank, hit in enumerate(results.hits, first)
    ]
    return SearchAnswer(
        query=results.query,
        total=results.total,
        complete=results.complete,
        exact=results.exact,
        alike=results.alike,
        page=page,
        seconds=round(results.took, 6),
        notes=results.notes,
        unanswered=results.unanswered,
        suggestion=results.suggestion or None,
        instead=results.instead or None,
        facets=results.facets or msgspec.UNSET,
        hits=tuple(hits),
    )


def moment(seconds: int) -> str | None:
    """ISO 8601 in UTC; None where the time is not known, or beyond the year 9999."""
    if not 0 < seconds < 253_402_300_800:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
