"""ShelfReader: finds items on a shelf by the hashes of words and URLs. Thread-safe; every method may raise StorageError.

It has a connection of its own, so searches do not block the node."""

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from larm.kit.disk.database import Database
from larm.peers.yacy.chunk import Reference, references_in
from larm.peers.yacy.hashes import packed
from larm.peers.yacy.item import LIFE, Header, Kind, decoded_key
from larm.peers.yacy.page import read_page
from larm.peers.yacy.ring import partition_of

HEADER = "kind, author, digest, first, last, created, gone, signature"
"""Columns of a header, for `header_of`."""
_AUTHORS = 4
"""Number of authors of one URL whose documents are handed out."""
_MOST_ITEMS, _PIECES = 100, 12
"""Items of one URL that are read, and of these the items of one author: one document has at most nine."""
_SAMPLE = 200
"""Number of items for the mean length: a random sample, since digests are random."""
Found = list[tuple[str, Reference]]
"""Author and reference."""


class ShelfReader:
    """The reader of the shelf at this path; ``base`` is used if it is in memory."""

    def __init__(self, path: Path, base: Database) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._base = base if str(path) == ":memory:" else Database(path, "")

    def references(self, words: Sequence[str], partitions: Iterable[int], now: float) -> dict[str, Found]:
        """Return, for each word, its references in these partitions; of two of one author for one URL the newer one."""
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

    def pages(self, url: str, now: float, shows: Callable[[str], bool] = bool) -> list[tuple[Header, bytes]]:
        """Return the documents with this URL's hash, of four authors: shown ones, then those whose items came first.

        Of each author the newest items. A stranger who writes something newer about a page displaces no other author.
        """
        rows = self._read(
            f"SELECT body, {HEADER} FROM item JOIN found ON item.id = found.item "  # noqa: S608
            "LEFT JOIN author ON author.key = item.author WHERE found.hash = ? AND kind = ? AND created > ? "
            "ORDER BY (own OR COALESCE(good, 0) > 0) DESC, id LIMIT ?",
            (packed(url), Kind.PAGE, now - LIFE, _MOST_ITEMS),
        )
        by_author: dict[str, list[tuple[Header, bytes]]] = {}
        for row in rows:
            header = header_of(row[1:])
            by_author.setdefault(header.author, []).append((header, row[0]))
        chosen = sorted(by_author.items(), key=lambda pair: not shows(pair[0]))
        newest = (sorted(each, key=lambda item: -item[0].created)[:_PIECES] for _, each in chosen[:_AUTHORS])
        return [item for each in newest for item in each if not item[0].gone]

    def length(self) -> int:
        """Return the mean number of characters of a document's text, of documents that are here because of their URLs.

        0: there are none. A further piece of a text is no document of its own.
        """
        rows = self._read(
            "SELECT body FROM item WHERE kind = ? AND NOT gone AND NOT own ORDER BY digest LIMIT ?", (Kind.PAGE, _SAMPLE)
        )
        pages = [read_page(body) for (body,) in rows]
        return round(sum(len(page.text) for page in pages) / max(1, sum(page.piece == 0 for page in pages)))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()

    def _read(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._base.rows(statement, values)


def header_of(row: Sequence[Any]) -> Header:
    """Return the header of a row."""
    kind, author, digest, first, last, created, gone, signature = row
    return Header(Kind(kind), decoded_key(author), digest, first, last, created, bool(gone), signature)
