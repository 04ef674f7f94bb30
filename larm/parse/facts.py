"""What a page says of itself: its description and when it was last changed. Pure; called by the `Assembler`.

The sources of the date, the best first: what its own markup calls modified (Open Graph, schema.org, Dublin Core), what that
calls published, the Last-Modified header. Templates that give no valid date are passed over.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from larm.parse.dates import seconds_of
from larm.parse.page import Element
from larm.parse.readable import ordered, squeeze_line

MAX_DESCRIPTION: Final = 2_000
"""Characters (YIOOP-16)."""

_DESCRIPTIONS = ordered("description og:description twitter:description dc.description dcterms.description")
_DATES = ordered(
    "article:modified_time og:updated_time datemodified dcterms.modified dc.date.modified last-modified revised"
    " article:published_time datepublished dcterms.issued dcterms.created dc.date.issued dcterms.date dc.date date"
)
"""Of the last change, and then of the first publication."""
_LD_DATE = re.compile(r'"(dateModified|datePublished)"\s*:\s*"([^"]{4,40})"')
_MONTH = len("2024-01")


def named_metas(about: Iterable[Element]) -> dict[str, str]:
    """The contents of ``<meta>`` by name, property or itemprop, in lower case; the first of each that is not empty."""
    found: dict[str, str] = {}
    for tag, attributes, _ in about:
        if tag == "meta":
            content = attributes.get("content")
            if not content:
                continue
            get = attributes.get
            if name := get("name") or get("property") or get("itemprop") or get("http-equiv"):
                found.setdefault(name.strip().lower(), content)
    return found


def description(metas: Mapping[str, str]) -> str:
    """What the page says that it is about, on one line; "" where it does not say."""
    for name in _DESCRIPTIONS:
        if name in metas and (line := squeeze_line(metas[name])):
            return line[:MAX_DESCRIPTION]
    return ""


def modified(metas: Mapping[str, str], linked_data: Sequence[str], last_modified: str) -> int:
    """When the page was last changed, in seconds since 1970; 0 where nobody says it.

    ``linked_data``: texts of its JSON-LD scripts, of which only the dates are looked for; ``last_modified``: the header.
    """
    said = {name.lower(): date for text in linked_data for name, date in _LD_DATE.findall(text)} | dict(metas)
    for name in _DATES:
        if name in said and (when := _seconds(said[name])):
            return when
    return _seconds(last_modified)


def _seconds(date: str) -> int:
    """0 also for a mere year or month: templates have such."""
    return seconds_of(date) if len(date) > _MONTH else 0
