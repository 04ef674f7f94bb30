"""Tables of Office Open XML (ECMA-376, SpreadsheetML). Runs in a reading process only."""

from __future__ import annotations

from larm.processing.apart.limits import Budget
from larm.processing.apart.package import Package, Unreadable, identity, local
from larm.processing.xml_tokens import END, START, TEXT, XmlTokens

_LOOK = 1_000
"""Rows between two looks at the clock."""


def read(package: Package, budget: Budget) -> str:
    """The cells into ``budget``, a row a line; the name of the first sheet."""
    main = package.main("xl/workbook.xml")
    if main not in package.names:
        raise Unreadable("there is no workbook in it")
    relations = package.relations(main)
    strings = _shared(package.text(main.rpartition("/")[0] + "/sharedStrings.xml"))
    first = ""
    tokens = XmlTokens(package.text(main))
    for kind, name, rest in tokens:
        if kind != START or local(name) != "sheet":
            continue
        attributes = tokens.attributes(rest)
        label, part = attributes.get("name", ""), relations.get(identity(attributes), "")
        first = first or label
        budget.text(label + "\n")
        budget.headings.append(label)
        if budget.spent(f"sheet {label!r}"):
            break
        _read_sheet(package.text(part), package.relations(part), strings, budget)
    return first


def _shared(text: str) -> list[str]:
    """The texts that cells refer to by number; without the readings of East Asian characters."""
    found: list[str] = []
    pieces: list[str] = []
    inside, reading = False, 0
    for kind, name, rest in XmlTokens(text):
        tag = local(name)
        if kind == TEXT:
            if inside and not reading:
                pieces.append(rest)
        elif tag == "t":
            inside = kind == START
        elif tag == "rph":
            reading += 1 if kind == START else -1
        elif tag == "si" and kind == END:
            found.append("".join(pieces))
            pieces = []
    return found


def _read_sheet(text: str, relations: dict[str, str], strings: list[str], budget: Budget) -> None:
    tokens = XmlTokens(text)
    row: list[str] = []
    kind_of_cell, value, inside = "", "", False
    rows = 0
    for kind, name, rest in tokens:
        tag = local(name)
        if kind == TEXT:
            if inside:
                value += rest
        elif tag in ("v", "t"):
            inside = kind == START
        elif tag == "c":
            if kind == START:
                kind_of_cell, value = tokens.attributes(rest).get("t", "n"), ""
            elif value:
                row.append(_cell(kind_of_cell, value, strings))
        elif tag == "row" and kind == END:
            if row:
                budget.text("\t".join(row) + "\n")
                row = []
            rows += 1
            if rows % _LOOK == 0 and budget.spent(f"row {rows}"):
                return
        elif tag == "hyperlink" and kind == START:
            attributes = tokens.attributes(rest)
            budget.link(relations.get(identity(attributes), ""), attributes.get("display", ""))


def _cell(kind: str, value: str, strings: list[str]) -> str:
    if kind == "s":
        number = int(value) if value.isdecimal() and len(value) < 10 else len(strings)
        return strings[number] if number < len(strings) else ""
    return value
