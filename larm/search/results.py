"""Results: a page of them, as `larm.open_index` gives and every surface shows it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from larm.model.facets import Facet
from larm.model.findings import Asked
from larm.model.hit import Hit


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """One page of results; iterating over it gives the hits."""

    query: str
    total: int
    """All pages that match: those that have all words, and, where these are few, those that have some."""
    complete: int = 0
    """Those that have all words."""
    alike: int = 0
    """Pages that were left out, as they say the same as one of these, or nearly (YIOOP-58)."""
    exact: bool = True
    """Of several indexes, which may have the same pages, nobody knows more than that there are at least so many."""
    hits: tuple[Hit, ...] = ()
    facets: tuple[Facet, ...] = ()
    """What they can be narrowed down to, with numbers of pages, if that was asked for."""
    took: float = 0.0
    """Seconds."""
    notes: tuple[str, ...] = ()
    """Sentences about parts of the query that were left out, and why nothing was found."""
    unanswered: tuple[str, ...] = ()
    """Of several indexes those that did not answer, each with the reason, as a sentence."""
    suggestion: str = ""
    """Another spelling that finds more, where few pages were found."""
    instead: str = ""
    """The spelling that took the place of what was asked, which has some of the words: `Asked.as_typed` has those pages."""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


def corrected(asked: Asked, search: Callable[[Asked], Results]) -> Results:
    """What ``search`` finds; where that is nothing, what another spelling finds, and a note that says so."""
    results = search(asked)
    if results.total or not results.suggestion or asked.as_typed:
        return results
    better = search(msgspec.structs.replace(asked, query=results.suggestion))
    if not better.total:
        return results
    note = f"nothing found for {results.query}; these pages are for {results.suggestion}"
    return msgspec.structs.replace(
        better, query=results.query, notes=(note, *better.notes), suggestion="", instead="", took=results.took + better.took
    )
