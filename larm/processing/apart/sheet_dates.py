"""Which numbers of a table are dates: Office Open XML keeps both as numbers, and only the format of a cell tells. Pure."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from larm.processing.apart.package import local
from larm.processing.xml_tokens import START, XmlTokens

_BUILT_IN = frozenset(map(str, (*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59))))
"""Numbers of formats for dates and times that every table has (ECMA-376 18.8.30)."""
_LITERAL = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]|_.|\*.")
_DATE = re.compile(r"[ymdhs]", re.IGNORECASE)
_DAYS = 2_900_000  # most of the way to the year 9999


def date_styles(tokens: XmlTokens) -> frozenset[str]:
    """Of ``styles.xml``: the numbers of the cell styles that show a date or a time."""
    formats: set[str] = set(_BUILT_IN)
    found: set[str] = set()
    number, inside = 0, False
    for kind, name, rest in tokens:
        tag = local(name)
        if tag == "cellxfs":
            inside = kind == START
        elif kind != START:
            continue
        elif tag == "numfmt":
            attributes = tokens.attributes(rest)
            code = _LITERAL.sub("", attributes.get("formatcode", ""))
            (formats.add if _DATE.search(code) else formats.discard)(attributes.get("numfmtid", ""))
        elif tag == "xf" and inside:
            if tokens.attributes(rest).get("numfmtid", "0") in formats:
                found.add(str(number))
            number += 1
    return frozenset(found)


def date_of(value: str, since_1904: bool) -> str:
    """``2024-01-02`` or ``2024-01-02 15:30`` of a number of days; the number itself, where it is none."""
    try:
        days = float(value)
    except ValueError:
        return value
    if not 0 <= days <= _DAYS:
        return value
    epoch = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)
    when = epoch + timedelta(seconds=round(days * 86_400))
    if days < 1:
        return f"{when:%H:%M}"
    return f"{when:%Y-%m-%d}" if days == int(days) else f"{when:%Y-%m-%d %H:%M}"
