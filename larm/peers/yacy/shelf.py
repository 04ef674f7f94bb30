"""Shelf: the items that a peer keeps, its own and others', in one SQLite file beside the index. Never the index itself.

The body of an item is checked before it is kept.

Others' items have a quota, of which one author gets an eighth; what is over it is refused, and said. Own items are outside of
it. What is found by an item counts as well, as it takes as much of the disk as the item does.

Under the lock of `larm.peers.yacy.node`, but for `reader`. Every method may raise StorageError.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from larm.kit.disk.database import Database
from larm.peers.identity import Verify
from larm.peers.yacy.chunk import BadChunkError, check_chunk, read_chunk, words_in
from larm.peers.yacy.hashes import packed
from larm.peers.yacy.item import LIFE, Header, Kind, digest_of, encoded_key, refusal
from larm.peers.yacy.page import BadPageError, place_of, read_page
from larm.peers.yacy.shelf_reader import HEADER, ShelfReader, header_of


def hashes_in(header: Header, body: bytes) -> list[bytes]:
    """What it is found by. Raises BadChunkError, BadPageError."""
    return [packed(read_page(body).hash)] if header.kind is Kind.PAGE else words_in(body)


def unfit(header: Header, body: bytes) -> str:
    """Why this body of somebody else's is not kept."""
    try:
        if header.kind is Kind.WORDS:
            check_chunk(read_chunk(body), header.first, header.last)
        elif header.first != header.last or header.first != place_of(read_page(body)):
            return "it lies elsewhere than it says"
    except (BadChunkError, BadPageError) as error:
        return str(error)
    return ""


_TABLES = """
CREATE TABLE IF NOT EXISTS item (
    id INTEGER PRIMARY KEY, author BLOB NOT NULL, digest BLOB NOT NULL, kind INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, created INTEGER NOT NULL, gone INTEGER NOT NULL, signature TEXT NOT NULL, own INTEGER NOT NULL,
    size INTEGER NOT NULL, body BLOB NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS item_name ON item (author, digest);
CREATE TABLE IF NOT EXISTS found (hash BLOB NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (hash, item)) WITHOUT ROWID;
"""
_SHARE = 8
_WITHDRAWN = 400
"""Bytes that the header of a withdrawn item is counted as: anybody makes as many as he likes."""
_ROW = 40
"""Bytes that a word or an address takes by which an item is found, in a table and its tree."""


class Kept(NamedTuple):
    """What becomes of an item that is offered."""

    wanted: bool
    """Its body is asked for."""
    reason: str = ""
    """Why it is refused."""


class Shelf:
    """``quota``: bytes of others' bodies."""

    def __init__(self, path: Path, quota: int, verify: Verify) -> None:
        # constant after construction
        self.quota = quota
        self._verify = verify
        # only under the node's lock
        self._base = Database(path, _TABLES)
        self.reader = ShelfReader(path, self._base)
        """For any thread."""
        self._writing = False
        self._foreign = int(self._base.row("SELECT COALESCE(SUM(size), 0) FROM item WHERE NOT own")[0])

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """All that is written within it is on the disk at its end, or nothing; one wait for the disk instead of many."""
        if self._writing:
            yield
            return
        self._writing = True
        try:
            with self._base.transaction():
                yield
        finally:
            self._writing = False

    def offered(self, header: Header, now: float) -> Kept:
        """A header from somewhere: it renews or withdraws what is here, or asks for its body, or is refused."""
        known = self._known(header)
        if known is not None and known[1] >= header.created:
            return Kept(wanted=False)
        why = refusal(header, now, self._verify)
        if why:
            return Kept(wanted=False, reason=why)
        if not header.gone and (known is None or known[2] or known[3:] != (header.kind, header.first, header.last)):
            return Kept(wanted=True)  # also what was withdrawn, or lay elsewhere, and is issued anew
        if known is None and (why := self._full(header.author, _WITHDRAWN)):
            return Kept(wanted=False, reason=why)
        with self.at_once():
            if known is None:
                self._insert(header, b"", own=False)
            else:
                self._renew(known[0], header)
        return Kept(wanted=False)

    def handed(self, header: Header, body: bytes, now: float, *, own: bool = False) -> str:
        """Keep it; the reason why not, or nothing. What is kept is on the disk when this returns."""
        why = refusal(header, now, self._verify)
        if why:
            return why
        known = self._known(header)
        if known is not None and known[1] > header.created:
            return ""
        if digest_of(body) != header.digest:
            return "its body is another one"
        before = 0 if known is None else self._base.row("SELECT size * (1 - own) FROM item WHERE id = ?", (known[0],))[0]
        why = "" if own else self._full(header.author, len(body) - before) or unfit(header, body)
        if why:
            return why
        hashes = hashes_in(header, body)
        size = len(body) + _ROW * len(hashes)
        if not own and (why := self._full(header.author, size - before)):
            return why
        with self.at_once():
            if known is not None:
                self._drop(known[0])
            number = self._insert(header, body, own=own, size=size)
            self._base.write_many("INSERT OR IGNORE INTO found VALUES (?, ?)", [(each, number) for each in hashes])
        return ""

    def headers(self, after: int, number: int) -> list[tuple[int, Header]]:
        """(number, header) of the next items after this number, for who looks through all of them."""
        rows = self._base.rows(f"SELECT id, {HEADER} FROM item WHERE id > ? ORDER BY id LIMIT ?", (after, number))  # noqa: S608
        return [(row[0], header_of(row[1:])) for row in rows]

    def bodies(self, names: Sequence[tuple[str, bytes]]) -> list[tuple[Header, bytes]]:
        """Of those of these items that are here."""
        found = []
        for author, digest in names:
            rows = self._base.rows(
                f"SELECT body, {HEADER} FROM item WHERE author = ? AND digest = ? AND NOT gone",  # noqa: S608
                (encoded_key(author), digest),
            )
            found += [(header_of(row[1:]), row[0]) for row in rows]
        return found

    def own(self) -> dict[bytes, Header]:
        """Headers of all own items, by digest."""
        rows = self._base.rows(f"SELECT {HEADER} FROM item WHERE own")  # noqa: S608
        return {header.digest: header for header in map(header_of, rows)}

    def own_pages(self) -> int:
        """Documents of our own that are out."""
        return int(self._base.row("SELECT COUNT(*) FROM item WHERE own AND kind = ? AND NOT gone", (Kind.PAGE,))[0])

    def put_own(self, header: Header) -> None:
        """A newer header of an own item: renewed, or withdrawn."""
        known = self._known(header)
        if known is not None:
            with self.at_once():
                self._renew(known[0], header)

    def let_go(self, numbers: Sequence[int]) -> None:
        """These are kept by others now."""
        if numbers:
            with self.at_once():
                for number in numbers:
                    self._drop(number)

    def drop_authors(self, keys: Iterable[str]) -> None:
        """Nothing that these have signed is kept."""
        for key in keys:
            self.let_go([number for (number,) in self._base.rows("SELECT id FROM item WHERE author = ?", (encoded_key(key),))])

    def expire(self, now: float) -> int:
        """Forget what is over; how many."""
        rows = self._base.rows("SELECT id FROM item WHERE created <= ?", (now - LIFE,))
        if rows:
            self.let_go([number for (number,) in rows])
        self._foreign = int(self._base.row("SELECT COALESCE(SUM(size), 0) FROM item WHERE NOT own")[0])
        return len(rows)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Items of others, their bytes, own items; withdrawn ones are none."""
        foreign = self._base.row("SELECT COUNT(*) FROM item WHERE NOT own AND NOT gone")[0]
        return foreign, self._foreign, self._base.row("SELECT COUNT(*) FROM item WHERE own AND NOT gone")[0]

    @property
    def words(self) -> int:
        """Words that there are references of (ICount)."""
        return int(self._base.row("SELECT COUNT(DISTINCT hash) FROM found JOIN item ON id = item WHERE kind = 0")[0])

    def close(self) -> None:
        """Close the file."""
        self._base.close()
        self.reader.close()

    def _full(self, author: str, size: int) -> str:
        if self._foreign + size > self.quota:
            return "there is no room any more"
        has = self._base.row("SELECT COALESCE(SUM(size), 0) FROM item WHERE author = ? AND NOT own", (encoded_key(author),))[0]
        return "its author has the share of one author" if has + size > self.quota // _SHARE else ""

    def _known(self, header: Header) -> tuple[int, int, int, int, int, int] | None:
        """(number, created, gone, kind, first, last)."""
        try:
            name = (encoded_key(header.author), header.digest)
        except ValueError:
            return None
        rows = self._base.rows("SELECT id, created, gone, kind, first, last FROM item WHERE author = ? AND digest = ?", name)
        return rows[0] if rows else None

    def _insert(self, header: Header, body: bytes, *, own: bool, size: int = _WITHDRAWN) -> int:
        self._base.write(
            "INSERT INTO item (author, digest, kind, first, last, created, gone, signature, own, size, body) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                encoded_key(header.author), header.digest, header.kind, header.first, header.last, header.created, header.gone,
                header.signature, own, size, body,
            ),
        )  # fmt: skip
        if not own:
            self._foreign += size
        return int(self._base.row("SELECT last_insert_rowid()")[0])

    def _renew(self, number: int, header: Header) -> None:
        self._base.write(
            "UPDATE item SET first = ?, last = ?, created = ?, gone = ?, signature = ? WHERE id = ?",
            (header.first, header.last, header.created, header.gone, header.signature, number),
        )
        if header.gone:
            size, own = self._base.row("SELECT size, own FROM item WHERE id = ?", (number,))
            self._foreign += 0 if own else _WITHDRAWN - size
            self._base.write("DELETE FROM found WHERE item = ?", (number,))
            self._base.write("UPDATE item SET body = x'', size = ?, kind = ? WHERE id = ?", (_WITHDRAWN, header.kind, number))

    def _drop(self, number: int) -> None:
        size, own = self._base.row("SELECT size, own FROM item WHERE id = ?", (number,))
        self._foreign -= 0 if own else size
        for table, column in (("item", "id"), ("found", "item")):
            self._base.write(f"DELETE FROM {table} WHERE {column} = ?", (number,))  # noqa: S608
