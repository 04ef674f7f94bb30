"""What the table of aliases knows of a page: `kin_of` for `larm why` and for searches, `Leads` for `larm reindex`.

`kin_of` on any thread; a crawl may be running. `aliases_in` at the end of one. `Leads` on the main thread, of a directory that
nobody else uses.
"""

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from larm.index.duplicates.likeness import likeness
from larm.index.duplicates.row import AliasRow, decode_row, same_text
from larm.kit.disk.files import is_there
from larm.kit.disk.table import Table


class Kin(NamedTuple):
    """What the index has in place of a page, or beside it."""

    first: str
    """Access URL of the other page."""
    why: str
    """For a person: what the two have in common."""
    indexed: bool
    """The page is in the index itself, and one search result with the other."""


class Leads:
    """The pages that are in the index, as the table knows them: those that are no alias of another."""

    def __init__(self, path: Path, generation: int) -> None:
        """At that generation. Raises StorageError."""
        # constant after construction
        self._table = Table.of_checkpoint(path, generation)

    def group(self, fingerprint: int) -> int | None:
        """What the page has in common with those of one search result; 0: nothing. None: it is not in the index."""
        entry = self._table.get_many([fingerprint]).get(fingerprint)
        return None if entry is None or entry.parent != entry.key else decode_row(entry.data).group

    def close(self) -> None:
        """A second call does nothing."""
        self._table.close()


def kin_of(path: Path, fingerprint: int) -> Kin | None:
    """None where the page is like no other, is unknown, or where there is no table of aliases. Raises StorageError."""
    if not is_there(path):
        return None
    with closing(Table(path, read_only=True)) as table, table.moment():
        own = table.get_many([fingerprint]).get(fingerprint)
        if own is None:
            return None
        row = decode_row(own.data)
        indexed = own.parent == own.key
        other = table.get_many([row.head if indexed else own.parent]).get(row.head if indexed else own.parent)
        first = decode_row(other.data) if other is not None else None
        if first is None or (indexed and row.group != first.digest):  # it is of no group, or the other page has changed since
            return None
        return Kin(first.access, _why(row, first), indexed)


def aliases_in(path: Path, most: int) -> tuple[int, list[str]]:
    """How many pages are aliases, and the addresses of ``most`` of them; 0 where there is no table. Raises StorageError."""
    if not is_there(path):
        return 0, []
    with closing(Table(path, read_only=True)) as table, table.moment():
        some = [entry for lead in table.parents(limit=most) for entry in table.children(lead, limit=most)]
        return table.count_children(), [decode_row(entry.data).access for entry in some[:most]]


def _why(row: AliasRow, first: AliasRow) -> str:
    if same_text(row, first):
        return "same text as"
    if row.canonical and row.canonical != row.key:
        return "names another address as its own (canonical):"
    share = min(likeness(row.sketch, first.sketch), 0.99)  # an estimate; all of it is what it is not
    return f"nearly the same text (about {share:.0%} of it) as"
