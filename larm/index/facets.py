"""count_facets: how many of the pages that match a query are of which site, type, language and age. On the reader's thread.

One pass over the pages that match, for all values together: 1.3 ms of processor time for 28 values and 16,600 pages that match.
The values are those that most pages of the index have, and those that the caller knows of.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import tantivy

from larm.index import fields
from larm.index.meta_words import meta_word
from larm.model.facets import DAYS, Facet, ordered

_META = {"site": "host", "type": "mime", "language": "lang"}
"""By which meta words the facets are found."""
_COMMONEST = 50
"""Values of a facet that are looked for."""
_PLAIN = re.compile(r"[\w.+/\[\]:-]+", re.ASCII)
"""Values that can stand in a filter as they are; whatever else a server sends is no type."""
_PORT = re.compile(r":\d+\Z")
_DAY = 86_400


def count_facets(
    searcher: tantivy.Searcher, query: tantivy.Query, now: float, known: Mapping[str, Iterable[str]]
) -> tuple[Facet, ...]:
    """``now`` in seconds since 1970; ``known``: for names of facets values that some result has."""
    wanted: dict[str, tuple[list[str], bool]] = {}
    asked: dict[str, Any] = {}
    for name, meta in _META.items():
        common = _commonest(searcher, meta)
        values = list(dict.fromkeys([*common[:_COMMONEST], *filter(_PLAIN.fullmatch, known.get(name, ()))]))
        wanted[name] = values, len(common) <= _COMMONEST
        asked |= {f"{name} {value}": {"filter": f'{fields.META}:"{meta_word(meta, value)}"'} for value in values}
    for age, days in DAYS.items():
        ranges = [{"key": age, "from": max(1, int(now) - days * _DAY)}]
        asked[f"age {age}"] = {"range": {"field": fields.MODIFIED, "ranges": ranges}}
    found = searcher.aggregate(query, asked)
    facets = [
        Facet(name, ordered(name, {value: found[f"{name} {value}"]["doc_count"] for value in values}), whole)
        for name, (values, whole) in wanted.items()
    ]
    ages: dict[str, int] = {age: _within(found[f"age {age}"], age) for age in DAYS}
    return (*facets, Facet("age", ordered("age", ages)))


def _commonest(searcher: tantivy.Searcher, meta: str) -> list[str]:
    """Values of a meta word, the most frequent ones, at least one more than are looked for if there are so many."""
    head = len(meta_word(meta, ""))
    found = [word[head:] for word, _ in searcher.terms_with_prefix(fields.META, meta_word(meta, ""), limit=3 * _COMMONEST)]
    # a host with a port is also there without
    return [value for value in found if value != "all" and _PLAIN.fullmatch(value) and not _PORT.search(value)]


def _within(found: Mapping[str, Any], age: str) -> int:
    return next((int(each["doc_count"]) for each in found["buckets"] if each["key"] == age), 0)
