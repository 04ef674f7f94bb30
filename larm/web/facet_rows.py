"""Facets of the search page: what is shown of them, and where their links lead. Pure; on the event loop."""

from typing import Any, NamedTuple, Protocol

from larm.index.meta_words import MIME_NAMES
from larm.index.search.results import Results
from larm.kit.printable import printable
from larm.model.facets import Facet

FACETS = {"site": "Site", "type": "Type", "language": "Language", "age": "Changed"}
"""Their parameters, and what they are called."""
_SHOWN = 6
"""Values; the others are behind "more"."""
_AGES = {"day": "past day", "week": "past week", "month": "past month", "year": "past year"}


class Value(NamedTuple):
    """One value, for the template."""

    name: str
    pages: int
    address: str
    """The same search with only these pages."""


class FacetRow(NamedTuple):
    """One facet, for the template."""

    title: str
    chosen: str
    """What the search is narrowed down to; empty: nothing."""
    without: str
    """The search without that."""
    values: list[Value]
    more: list[Value]
    whole: bool
    """There are no others."""


class _Search(Protocol):
    def address(self, **other: Any) -> str: ...


def facet_rows(asked: _Search, results: Results) -> list[FacetRow]:
    """Those that part the results, or by which they were narrowed down."""
    counted = {facet.name: facet for facet in results.facets}
    rows = []
    for name, title in FACETS.items():
        chosen = str(getattr(asked, name))
        values = [] if chosen else _values(asked, counted.get(name, Facet(name)), results)
        if chosen or values:
            label = _label(name, chosen) if chosen else ""
            whole = name not in counted or counted[name].whole
            without = asked.address(**{name: ""}, page=1)
            rows.append(FacetRow(title, label, without, values[:_SHOWN], values[_SHOWN:], whole))
    return rows


def _values(asked: _Search, facet: Facet, results: Results) -> list[Value]:
    """None where all pages have the same."""
    found = [each for each in facet.values if not results.exact or each.pages < results.total]
    if len(found) < 2 and facet.name != "age":
        return []
    return [
        Value(_label(facet.name, each.value), each.pages, asked.address(**{facet.name: each.value}, page=1)) for each in found
    ]


def _label(name: str, value: str) -> str:
    if name == "type":
        return printable(MIME_NAMES.get(value, value))
    return _AGES.get(value, value) if name == "age" else printable(value)
