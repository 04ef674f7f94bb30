"""first_of: which page an address is an alias of, for `larm why` and for searches. Any thread; a crawl may be running."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from larm.duplicates.row import decode_row
from larm.kit.twin_table import TwinTable


class Kin(NamedTuple):
    """What the index has in place of a page."""

    first: str
    """Access URL of the page that was indexed."""
    why: str
    """For a person: what the two have in common."""


def first_of(path: Path, fingerprint: int) -> Kin | None:
    """None where the page leads, is unknown, or where there is no table of aliases. Raises StorageError."""
    if not path.exists():
        return None
    table = TwinTable(path, read_only=True)
    try:
        own = table.get_many([fingerprint]).get(fingerprint)
        lead = table.get_many([own.first]).get(own.first) if own is not None and own.first != own.key else None
        if own is None or lead is None:
            return None
        row, first = decode_row(own.data), decode_row(lead.data)
        if row.digest == first.digest != 0:
            return Kin(first.access, "same text as")
        if row.canonical and row.canonical != row.key:
            return Kin(first.access, "names another address as its own (canonical):")
        return Kin(first.access, "nearly the same text as")
    finally:
        table.close()
