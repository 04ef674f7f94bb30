"""Shelf: the items that a peer keeps, its own and others', in one SQLite file beside the index.

The body of an item is checked before it is kept. Others' items have a quota, of which one author, one address and one site
get a share; further items are refused with a reason. The rows by which an item is found count too, since they take as much
of the disk.

Under the lock of `larm.peers.yacy.node`; `reader` on any thread. Every method may raise StorageError.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from larm.kit.disk.database import Database
from larm.peers.identity import Verify
from larm.peers.yacy.authors import TABLE, Authors
from larm.peers.yacy.chunk import BadChunkError, check_chunk, read_chunk, words_in
from larm.peers.yacy.hashes import packed
from larm.peers.yacy.item import LIFE, Header, Kind, decoded_key, digest_of, encoded_key, refusal
from larm.peers.yacy.page import BadPageError, place_of, read_page
from larm.peers.yacy.shelf_reader import HEADER, ShelfReader, header_of


def found_by(kind: Kind, body: bytes) -> list[bytes]:
    """Return the packed hashes by which an item is found. Raises BadChunkError, BadPageError."""
    return [packed(read_page(body).hash)] if kind is Kind.PAGE else words_in(body)


def site_of(name: bytes) -> bytes:
    """Return the five bytes of a page's packed hash that all pages of a site share (YACY-9)."""
    return bytes((name[4] & 15, *name[5:]))


def unfit(header: Header, body: bytes) -> str:
    """Return why a body of another author is refused; empty: it is not."""
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
_AUTHORS_SHARE = 8
"""Part of the quota that the items of one author may take."""
_ADDRESS_SHARE = 4
"""Part that the items of all authors at one address may take: keys are for free, addresses are not."""
_SITE_SHARE = 4
"""Part that documents of one site may take, whoever signs them."""
_TRICKLE = 500
"""Part of its share that a new author gets: 250 KB of a quota of 1 GB, some 150 pages."""
_KEY_BYTES = 32
_SLACK = 50_000
"""Bytes by which an item is found, at most."""
_WITHDRAWN = 400
"""Bytes on the account of a withdrawn item's header, since an author can make any number of them."""
_ROW = 40
"""Bytes of a row by which an item is found, in a table and its tree."""


class Kept(NamedTuple):
    """The decision on an offered item."""

    wanted: bool
    """True if its body is needed."""
    reason: str = ""
    """The reason of a refusal."""


class Shelf:
    """The items of one peer. ``quota``: bytes of others' items. ``young``: seconds for which an author is new."""

    def __init__(self, path: Path, quota: int, verify: Verify, young: float = 0.0) -> None:
        # constant after construction
        self.quota = quota
        self._verify = verify
        # only under the node's lock
        self._base = Database(path, _TABLES + TABLE)
        self.authors = Authors(self._base, young)
        self.reader = ShelfReader(path, self._base)
        """Reads on any thread."""
        self._writing = False
        self._usage: Counter[bytes] = Counter()
        """Bytes of others' items: of each author by its key, of each site (`site_of`), of all by ``b""``."""
        self._measure()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Write everything within it in one transaction, with one wait for the disk."""
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
        """Take a header: renew or withdraw its item, ask for its body, or refuse it."""
        known = self._known(header)
        if known is not None and known[1] >= header.created:
            return Kept(wanted=False)
        why = refusal(header, now, self._verify)
        if why:
            return Kept(wanted=False, reason=why)
        if not header.gone and (known is None or known[2] or known[3:] != (header.kind, header.first, header.last)):
            return Kept(wanted=True)  # also a withdrawn or moved item that is issued again
        if known is None and (why := self._full(header.author, _WITHDRAWN, now)):
            return Kept(wanted=False, reason=why)
        with self.at_once():
            if known is None:
                self._insert(header, b"", own=False)
            else:
                self._renew(known[0], header)
        return Kept(wanted=False)

    def handed(
        self, header: Header, body: bytes, now: float, *, own: bool = False, shows: Callable[[str], bool] | None = None
    ) -> str:
        """Keep an item, on the disk when this returns. Return why it is refused; empty: it is not.

        ``shows``: returns True if pages of an author are shown; None: by its samples.
        """
        why = refusal(header, now, self._verify)
        if why:
            return why
        known = self._known(header)
        if known is not None and known[1] > header.created:
            return ""
        if digest_of(body) != header.digest:
            return "its body is another one"
        if not own:
            self._make_room(header.author, len(body), shows or self.authors.shows)
        before = 0 if known is None else self._base.row("SELECT size * (1 - own) FROM item WHERE id = ?", (known[0],))[0]
        why = "" if own else self._full(header.author, len(body) - before, now) or unfit(header, body)
        if why:
            return why
        hashes = found_by(header.kind, body)
        size = len(body) + _ROW * len(hashes)
        site = site_of(hashes[0]) if header.kind is Kind.PAGE else b""
        if not own and (why := self._full(header.author, size - before, now, site)):
            return why
        with self.at_once():
            if known is not None:
                self._drop(known[0])
            number = self._insert(header, body, own=own, size=size)
            self._base.write_many("INSERT OR IGNORE INTO found VALUES (?, ?)", [(each, number) for each in hashes])
        if site and not own:
            self._usage[site] += size
        return ""

    def headers(self, after: int, number: int) -> list[tuple[int, Header]]:
        """Return (number, header) of the next items after this number."""
        rows = self._base.rows(f"SELECT id, {HEADER} FROM item WHERE id > ? ORDER BY id LIMIT ?", (after, number))  # noqa: S608
        return [(row[0], header_of(row[1:])) for row in rows]

    def bodies(self, names: Sequence[tuple[str, bytes]]) -> list[tuple[Header, bytes]]:
        """Return headers and bodies of these items, as far as they are here."""
        found = []
        for author, digest in names:
            rows = self._base.rows(
                f"SELECT body, {HEADER} FROM item WHERE author = ? AND digest = ? AND NOT gone",  # noqa: S608
                (encoded_key(author), digest),
            )
            found += [(header_of(row[1:]), row[0]) for row in rows]
        return found

    def own(self) -> dict[bytes, Header]:
        """Return the headers of all own items, by digest."""
        rows = self._base.rows(f"SELECT {HEADER} FROM item WHERE own")  # noqa: S608
        return {header.digest: header for header in map(header_of, rows)}

    def own_pages(self) -> int:
        """Return the number of own documents that are shared."""
        query = "SELECT COUNT(DISTINCT hash) FROM found JOIN item ON id = item WHERE own AND kind = ? AND NOT gone"
        return int(self._base.row(query, (Kind.PAGE,))[0])

    def put_own(self, header: Header) -> None:
        """Renew or withdraw an own item by a newer header."""
        known = self._known(header)
        if known is not None:
            with self.at_once():
                self._renew(known[0], header)

    def let_go(self, numbers: Sequence[int]) -> None:
        """Drop items that others keep now."""
        if numbers:
            with self.at_once():
                for number in numbers:
                    self._drop(number)

    def drop_authors(self, keys: Iterable[str]) -> None:
        """Drop all items of these authors."""
        for key in keys:
            self.let_go([number for (number,) in self._base.rows("SELECT id FROM item WHERE author = ?", (encoded_key(key),))])

    def expire(self, now: float, members: Set[str] = frozenset()) -> int:
        """Drop items that are over, and forget authors without items that are not ``members``, keys. Return how many items."""
        self.authors.age(now, members | {decoded_key(each) for each in self._usage if len(each) == _KEY_BYTES})
        rows = self._base.rows("SELECT id FROM item WHERE created <= ?", (now - LIFE,))
        if rows:
            self.let_go([number for (number,) in rows])
        return len(rows)

    def sample(self, known: Container[str], random: Random) -> list[tuple[str, bytes]]:
        """Return, of each author of documents here, its key and the body of any of them; of ``known`` authors none."""
        documents = f"FROM item WHERE kind = {Kind.PAGE:d} AND NOT own AND NOT gone"
        found = []
        for author, least, most in self._base.rows(f"SELECT author, MIN(id), MAX(id) {documents} GROUP BY author"):
            if (key := decoded_key(author)) not in known:
                chosen = random.randint(least, most)
                rows = self._base.rows(f"SELECT body {documents} AND author = ? AND id >= ? LIMIT 1", (author, chosen))
                found += [(key, body) for (body,) in rows]
        return found

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of others' items, their bytes, number of own items. Withdrawn ones do not count."""
        foreign = self._base.row("SELECT COUNT(*) FROM item WHERE NOT own AND NOT gone")[0]
        return foreign, self._usage[b""], self._base.row("SELECT COUNT(*) FROM item WHERE own AND NOT gone")[0]

    @property
    def words(self) -> int:
        """Number of words with references (ICount)."""
        return int(self._base.row("SELECT COUNT(DISTINCT hash) FROM found JOIN item ON id = item WHERE kind = 0")[0])

    def close(self) -> None:
        """Close the file."""
        self._base.close()
        self.reader.close()

    def _make_room(self, author: str, size: int, shows: Callable[[str], bool]) -> None:
        """If the shelf is full, drop the items of the largest author whose pages are not shown, for one whose pages are.

        An author of references without documents is never sampled, and could fill the shelf.
        """
        if self._usage[b""] + size + _SLACK > self.quota and shows(author):
            hidden = [key for key in self._usage if len(key) == _KEY_BYTES and not shows(decoded_key(key))]
            if hidden:
                self.drop_authors([decoded_key(max(hidden, key=self._usage.__getitem__))])

    def _full(self, author: str, size: int, now: float, site: bytes = b"") -> str:
        """Return why an item of so many bytes more has no room; empty: it has."""
        usage, quota, key = self._usage, self.quota, encoded_key(author)
        share = quota // _AUTHORS_SHARE
        if usage[b""] + size > quota:
            return "there is no room any more"
        if usage[key] + size > share:
            return "its author has the share of one author"
        if self.authors.is_young(author, now) and usage[key] + size > share // _TRICKLE:
            return "its author is new here, and has the share of a new author"
        if sum(usage[encoded_key(each)] for each in self.authors.at_address_of(author)) + size > quota // _ADDRESS_SHARE:
            return "its address has the share of one address"
        return "its site has the share of one site" if site and usage[site] + size > quota // _SITE_SHARE else ""

    def _measure(self) -> None:
        """Read the bytes of each author and site."""
        self._usage = Counter(dict(self._base.rows("SELECT author, SUM(size) FROM item WHERE NOT own GROUP BY author")))
        self._usage[b""] = self._usage.total()
        for name, size in self._base.rows(
            "SELECT hash, size FROM item JOIN found ON item.id = item WHERE kind = ? AND NOT own", (Kind.PAGE,)
        ):
            self._usage[site_of(name)] += size

    def _use(self, author: bytes, size: int) -> None:
        self._usage[author] += size
        self._usage[b""] += size

    def _known(self, header: Header) -> tuple[int, int, int, int, int, int] | None:
        """Return (number, created, gone, kind, first, last) of a known item."""
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
            self._use(encoded_key(header.author), size)
        return int(self._base.row("SELECT last_insert_rowid()")[0])

    def _renew(self, number: int, header: Header) -> None:
        if header.gone:
            size, own = self._unlink(number)
            if not own:
                self._use(encoded_key(header.author), _WITHDRAWN - size)
            self._base.write("UPDATE item SET body = x'', size = ?, kind = ? WHERE id = ?", (_WITHDRAWN, header.kind, number))
        self._base.write(
            "UPDATE item SET first = ?, last = ?, created = ?, gone = ?, signature = ? WHERE id = ?",
            (header.first, header.last, header.created, header.gone, header.signature, number),
        )

    def _drop(self, number: int) -> None:
        author = self._base.row("SELECT author FROM item WHERE id = ?", (number,))[0]
        size, own = self._unlink(number)
        if not own:
            self._use(author, -size)
        self._base.write("DELETE FROM item WHERE id = ?", (number,))

    def _unlink(self, number: int) -> tuple[int, bool]:
        """Delete the rows by which an item is found. Return its bytes, and True for an own one."""
        size, own, kind, body = self._base.row("SELECT size, own, kind, body FROM item WHERE id = ?", (number,))
        hashes = found_by(Kind(kind), body) if body else ()
        self._base.write_many("DELETE FROM found WHERE hash = ? AND item = ?", [(each, number) for each in hashes])
        if kind == Kind.PAGE and hashes and not own:
            self._usage[site_of(hashes[0])] -= size
        return size, bool(own)
