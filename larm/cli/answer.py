"""The answer of ``larm search --json``: stable, described in README.rst. Pure."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from larm.search.results import Results


def document(results: Results, page: int, first: int) -> dict[str, Any]:
    """The results as JSON has them; ``first`` is the rank of the first hit."""
    hits = []
    for rank, hit in enumerate(results.hits, first):
        row: dict[str, Any] = {
            "rank": rank,
            "url": hit.url,
            "title": hit.title,
            "snippet": hit.snippet,
            "html": hit.html,
            "mime": hit.mime,
            "language": hit.language or None,
            "modified": moment(hit.modified),
            "fetched": moment(hit.fetched),
            "size": hit.size or None,
            "cut": list(hit.cuts),
            "complete": hit.complete,
            "score": hit.score,
        }
        if hit.source:
            row["source"] = hit.source
        if hit.explanation:
            row["explanation"] = json.loads(hit.explanation)
        hits.append(row)
    return {
        "query": results.query,
        "total": results.total,
        "complete": results.complete,
        "exact": results.exact,
        "page": page,
        "seconds": round(results.took, 6),
        "notes": list(results.notes),
        "unanswered": list(results.unanswered),
        "suggestion": results.suggestion or None,
        "hits": hits,
    }


def moment(seconds: int) -> str | None:
    """ISO 8601 in UTC; None where the time is not known, or beyond the year 9999."""
    if not 0 < seconds < 253_402_300_800:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
