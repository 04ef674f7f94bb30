"""Results: a page of them, as `larm.open_index` gives and every surface shows it. Pure."""

from collections.abc import Callable, Iterator

import msgspec

from larm.model.findings import Answered, Asked
from larm.model.hit import Hit


class Results(Answered, frozen=True, kw_only=True):
    """One page of results; iterating over it gives the hits."""

    query: str
    unanswered: tuple[str, ...] = ()
    """Of several indexes those that did not answer, each with the reason, as a sentence."""

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
