"""Facets: what a search can be narrowed down to, and how many of its pages there are of each value. Frozen values."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

Sort: TypeAlias = Literal["relevance", "date"]
"""By date: those that changed last come first, of the pages with all words; those without a date come last."""
Age: TypeAlias = Literal["", "day", "week", "month", "year"]

DAYS: dict[Age, int] = {"day": 1, "week": 7, "month": 30, "year": 365}
"""The days that an age stands for."""


class Narrowed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which pages are wanted, beside what the query says; empty: any."""

    site: str = ""
    """The name of a host."""
    type: str = ""
    """A MIME type."""
    language: str = ""
    """ISO 639-1."""
    age: Age = ""
    """Changed within the last day, week (7 days), month (30) or year (365)."""


class FacetValue(msgspec.Struct, frozen=True):
    """One value of a facet."""

    value: str
    pages: int
    """Of those that match, how many have it."""


class Facet(msgspec.Struct, frozen=True):
    """What a search can be narrowed down to in one way."""

    name: str
    """The name of a field of `Narrowed`."""
    values: tuple[FacetValue, ...] = ()
    """Those that some page has; the most frequent ones first, ages from the shortest."""
    whole: bool = True
    """There are no others; else the index has so many values that only its commonest were looked for."""


def summed_facets(facets: Iterable[Facet]) -> tuple[Facet, ...]:
    """Those of several indexes as of one. A page that is in two of them counts twice, as nobody knows of it."""
    values: dict[str, dict[str, int]] = {}
    whole: dict[str, bool] = {}
    for facet in facets:
        counts = values.setdefault(facet.name, {})
        for each in facet.values:
            counts[each.value] = counts.get(each.value, 0) + each.pages
        whole[facet.name] = whole.get(facet.name, True) and facet.whole
    return tuple(Facet(name, ordered(name, counts), whole[name]) for name, counts in values.items())


def ordered(name: str, counts: dict[str, int]) -> tuple[FacetValue, ...]:
    """The values of a facet that are there, in their order."""
    found = [FacetValue(value, pages) for value, pages in counts.items() if pages]
    if name == "age":
        return tuple(sorted(found, key=lambda each: list(DAYS).index(each.value)))  # type: ignore[arg-type]
    return tuple(sorted(found, key=lambda each: (-each.pages, each.value)))
