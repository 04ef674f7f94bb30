"""ShelfReader: what is found on a shelf, by the hashes of words and of addresses. Any thread; every method may raise
StorageError. It has a connection of its own, so that searches hold up nobody."""

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from larm.kit.disk.database import Database
from larm.peers.yacy.averages import Averages, averages_of
from larm.peers.yacy.chunk import Reference, references_in
from larm.peers.yacy.hashes import packed
from larm.peers.yacy.item import LIFE, Header, Kind, decoded_key
from larm.peers.yacy.page import read_page
from larm.peers.yacy.ring import partition_of

HEADER = "kind, author, digest, first, last, created, gone, signature"
"""Columns of which `header_of` makes one."""
_AUTHORS = 4
"""Of one address, whose documents are handed out."""
_MOST_DOCUMENTS = 50
"""Of one address, that are looked at."""
_SAMPLE = 500
"""Documents of which the averages are."""
Found = list[tuple[str, Reference]]
"""Author and reference."""


class ShelfReader:
    """Of the shelf at this path; ``base`` is read where that is no file."""

    def __init__(self, path: Path, base: Database) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._base = base if str(path) == ":memory:" else Database(path, "")

    def references(self, words: Sequence[str], partitions: Iterable[int], now: float) -> dict[str, Found]:
        """Of each of these words' hashes the references in these partitions; of two by one author for one address the newer."""
        wanted = set(partitions)
        holds: dict[int, list[str]] = {}
        for word in words:
            rows = self._read(
                "SELECT id FROM found JOIN item ON id = item WHERE hash = ? AND kind = ? AND created > ?",
                (packed(word), Kind.WORDS, now - LIFE),
            )
            for (number,) in rows:
                holds.setdefault(number, []).append(word)
        seen: dict[str, dict[tuple[str, str], Reference]] = {word: {} for word in words}
        items = [
            (number, *row)
            for number in holds
            for row in self._read("SELECT created, author, body FROM item WHERE id = ? AND NOT gone", (number,))
        ]
        for number, _, author, body in sorted(items, key=lambda item: -item[1]):
            key = decoded_key(author)
            for word, references in references_in(body, holds[number]).items():
                for each in references:
                    if partition_of(each.url) in wanted:
                        seen[word].setdefault((key, each.url), each)
        return {word: [(author, each) for (author, _), each in found.items()] for word, found in seen.items()}

    def averages(self) -> Averages:
        """Of documents that are here because of their addresses, and so of any; of own ones where there are no others."""
        for own in (0, 1):
            ((count,),) = self._read("SELECT COUNT(*) FROM item WHERE kind = ? AND NOT gone AND own = ?", (Kind.PAGE, own))
            if count:
                rows = self._read(
                    "SELECT body FROM item WHERE kind = ? AND NOT gone AND own = ? AND id % ? = 0 LIMIT ?",
                    (Kind.PAGE, own, max(1, count // _SAMPLE), 2 * _SAMPLE),
                )
                pages = [read_page(body) for (body,) in rows]
                if pages:
                    return averages_of(pages, count)
        return Averages()

    def pages(self, urls: Sequence[str], now: float) -> list[tuple[Header, bytes]]:
        """Documents with these addresses' hashes; of one address those of four authors: who came first, and of his the newest.

        So a stranger who writes something newer about a page displaces nobody."""
        found = []
        for url in urls:
            rows = self._read(
                f"SELECT id, body, {HEADER} FROM item JOIN found ON item.id = found.item "  # noqa: S608
                "WHERE found.hash = ? AND kind = ? AND created > ? ORDER BY id LIMIT ?",
                (packed(url), Kind.PAGE, now - LIFE, _MOST_DOCUMENTS),
            )
            by_author: dict[str, tuple[Header, bytes]] = {}
            for row in rows:
                header = header_of(row[2:])
                before = by_author.get(header.author)
                if before is None or before[0].created <= header.created:
                    by_author[header.author] = header, row[1]
            found += [*by_author.values()][:_AUTHORS]
        return found

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()

    def _read(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._base.rows(statement, values)


def header_of(row: Sequence[Any]) -> Header:
    """Of a row of `HEADER`."""
    kind, author, digest, first, last, created, gone, signature = row
    return Header(Kind(kind), decoded_key(author), digest, first, last, created, bool(gone), signature)
