"""Tables of Office Open XML (ECMA-376, SpreadsheetML). Runs in a reading process only."""

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from larm.parse.apart.limits import Budget
from larm.parse.apart.package import Package, Unreadable, identity, local
from larm.parse.xml_tokens import END, START, TEXT, XmlTokens

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


_SINCE_1904 = re.compile(r"date1904=[\"'](?:1|true)")
_LINK = re.compile(r"\bHYPERLINK\(\s*\"([^\"]+)\"(?:\s*[,;]\s*\"([^\"]*)\")?", re.IGNORECASE)
"""In a formula: an address and what is shown, which a program that does not calculate leaves to Excel."""
_LOOK = 1_000
"""Rows between two looks at the clock."""


class _Book(NamedTuple):
    """What all sheets refer to."""

    strings: list[str]
    dates: frozenset[str]
    """Cell styles that show a date."""
    since_1904: bool


def read(package: Package, budget: Budget) -> str:
    """The cells into ``budget``, a row a line. A table has no title: the names of sheets are mostly their programs'."""
    main = package.main("xl/workbook.xml")
    if main not in package.names:
        raise Unreadable("there is no workbook in it")
    relations = package.relations(main)
    folder = main.rpartition("/")[0]
    text = package.text(main)
    book = _Book(
        _shared(package.tokens(f"{folder}/sharedStrings.xml")),
        date_styles(package.tokens(f"{folder}/styles.xml")),
        _SINCE_1904.search(text) is not None,
    )
    tokens = package.tokens_of(text)
    for kind, name, rest in tokens:
        if kind != START or local(name) != "sheet":
            continue
        attributes = tokens.attributes(rest)
        label, part = attributes.get("name", ""), relations.get(identity(attributes), "")
        budget.text(label + "\n")
        budget.headings.append(label)
        if budget.spent(f"sheet {label!r}"):
            break
        around = package.relations(part)
        _read_sheet(package.tokens(part), around, book, budget)
        for comments in (target for target in around.values() if "comments" in target and target in package.names):
            budget.text("\n".join(_shared(package.tokens(comments), "text")) + "\n")
    return ""


def _shared(tokens: XmlTokens, whole: str = "si") -> list[str]:
    """The texts that cells refer to by number; without the readings of East Asian characters."""
    found: list[str] = []
    pieces: list[str] = []
    inside, reading = False, 0
    for kind, name, rest in tokens:
        tag = local(name)
        if kind == TEXT:
            if inside and not reading:
                pieces.append(rest)
        elif tag == "t":
            inside = kind == START
        elif tag == "rph":
            reading += 1 if kind == START else -1
        elif tag == whole and kind == END:
            found.append("".join(pieces))
            pieces = []
    return found


def _read_sheet(tokens: XmlTokens, relations: dict[str, str], book: _Book, budget: Budget) -> None:
    row: list[str] = []
    cell: dict[str, str] = {}
    value, formula, inside, rows = "", "", "", 0
    for kind, name, rest in tokens:
        tag = local(name)
        if kind == TEXT:
            if inside == "f":
                formula += rest
            elif inside:
                value += rest
        elif tag in ("v", "t", "f"):
            inside = tag if kind == START else ""
        elif tag == "c" and kind == START:
            cell, value, formula = tokens.attributes(rest), "", ""
        elif tag == "c":
            shown = _shown(cell, value, book) if value else ""
            if link := _LINK.search(formula):
                shown = shown or link[2] or ""
                budget.link(link[1], shown)
            if shown:
                row.append(shown)
        elif tag == "row" and kind == END:
            budget.text("\t".join(row) + "\n" * bool(row))
            row, rows = [], rows + 1
            if rows % _LOOK == 0 and budget.spent(f"row {rows}"):
                return
        elif tag == "hyperlink" and kind == START:
            attributes = tokens.attributes(rest)
            budget.link(relations.get(identity(attributes), ""), attributes.get("display", ""))


def _shown(cell: dict[str, str], value: str, book: _Book) -> str:
    """What a reader of the table sees."""
    kind = cell.get("t", "n")
    if kind == "s":
        number = int(value) if value.isdecimal() and len(value) < 10 else len(book.strings)
        return book.strings[number] if number < len(book.strings) else ""
    if kind == "n" and cell.get("s") in book.dates:
        return date_of(value, book.since_1904)
    return value
