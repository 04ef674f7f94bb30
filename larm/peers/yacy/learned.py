"""Learned: the documents that searches have fetched, as one index that ranks all answers (YACY-38, 49).

A search adds the documents that are not in it yet, and finds the best among its candidates by larm's own search. So ranking,
operators and passages are those of a local index, and a document that is known is not fetched again for an hour. Its pages are
found again without the network, too, also after a restart. They are bounded, shared with nobody, and forgotten after as long as
an item lives, with their author, and with their site.

The table is written after the index, which goes back to what the table knows. Thread-safe; `tick` on the thread that shares.
"""

import re
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.config import SearchSettings
from larm.errors import StorageError
from larm.index import page as index
from larm.index.anchors import ANCHORS, renew_anchors, write_anchors
from larm.index.failure import BUSY
from larm.index.meta_words import meta_words
from larm.index.schema import index_exists
from larm.index.search.searcher import IndexSearcher
from larm.index.search.shared import SharedSearcher
from larm.index.writer import IndexWriter
from larm.kit.disk.database import Database
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.threads.progress import Progress
from larm.model.crawl_hash import page_hash
from larm.model.findings import Asked, Findings
from larm.model.url import BadUrl, URLNormalizer
from larm.peers.strangers import findings_of
from larm.peers.yacy.item import LIFE
from larm.peers.yacy.page import Page
from larm.peers.yacy.trust import Trust

_TABLES = """
CREATE TABLE IF NOT EXISTS page (
    hash TEXT PRIMARY KEY, normalised TEXT NOT NULL, fingerprint INTEGER NOT NULL, author TEXT NOT NULL,
    learned INTEGER NOT NULL, language TEXT NOT NULL, size INTEGER NOT NULL, linked INTEGER NOT NULL, links BLOB NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS padding (value INTEGER NOT NULL);
INSERT INTO padding SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM padding);
"""
_MEMORY = 15_000_000
_LEAST = 1_000
"""Pages that are kept at least, or a search would drop its own candidates."""
_TEXT = 20_000
"""Characters of a page on the average, at most."""
_FRESH = 3_600
"""Seconds for which a document is not fetched again."""
_PADDING, _MOST_PADDING = "http://padding.invalid/", 4
"""URLs of the pages without text, and their number for each page at most."""
_WORD = re.compile(r"\w+")
_SOME = 50
"""Pages whose languages say something of the network's."""


class _Row(NamedTuple):
    """A row of the table, without the texts of links."""

    hash: str
    normalised: str
    fingerprint: int
    author: str
    learned: int
    language: str
    size: int
    linked: int


class _Borrowed(SharedSearcher):
    """The index without the network, whose pages they are: it knows where they stand."""

    def search(self, asked: Asked, among: Sequence[str] | None = None) -> Iterator[Findings]:
        """Yield one part. What these pages lack is no news."""
        for found in super().search(asked, among):
            hits = tuple(hit for hit in found.hits if not hit.url.startswith(_PADDING))
            yield msgspec.structs.replace(found, hits=hits, borrowed=True, notes=())


class Learned:
    """The index in ``folder``, of at most ``most`` pages; 0: they are dropped after an hour, and found by no other search."""

    def __init__(
        self, folder: Path, settings: SearchSettings, most: int, trust: Trust, *, shows: Callable[[str], bool], name: str = ""
    ) -> None:
        """``shows``: returns True if pages of an author are shown; ``name``: that of the network. Raises StorageError."""
        # constant after construction
        self._lasting = most > 0
        self._folder = folder
        self._most = max(most, _LEAST)
        self._trust = trust
        self._shows = shows
        self._normalizer = URLNormalizer()
        opened = partial(IndexSearcher, folder, settings, linked=self._links_to)
        self.searcher = _Borrowed(f"network {name}, kept here", opened)
        self._lock = threading.Lock()
        # guarded by self._lock
        self._denied = (trust.denied, trust.denied_sites)
        self._opinions = trust.opinions
        self._looked = float("-inf")
        self._forget = False
        self._fresh = dict[str, str]()
        """Normalised URLs of documents that this process has fetched under the present votes, by hash."""
        self._rows = dict[str, _Row]()
        """The oldest first."""
        self._linked = dict[int, int]()
        self._padding = 0
        self._writer: IndexWriter | None = None
        with disk_failures(folder):
            folder.mkdir(mode=0o700, exist_ok=True)
        self._base = Database(folder / "pages.db", _TABLES)
        if self._lasting:
            names = ", ".join(_Row._fields)
            self._rows = {row[0]: _Row(*row) for row in self._base.rows(f"SELECT {names} FROM page ORDER BY learned")}  # noqa: S608
            self._linked = {row.fingerprint: row.linked for row in self._rows.values()}
        if not index_exists(folder / "index"):
            self._open_writer()

    @property
    def pages(self) -> int:
        """Number of pages that are kept."""
        return len(self._rows)

    @property
    def languages(self) -> Mapping[str, float]:
        """Shares of the pages in each language; empty while there are few."""
        with self._lock:
            counts = Counter(row.language for row in self._rows.values())
        total = counts.total()
        return {name: count / total for name, count in counts.items()} if total >= _SOME else {}

    def fresh(self, urls: Iterable[str], now: float) -> dict[str, str]:
        """Return normalised URLs, by hash, of those of these documents that need not be fetched again."""
        with self._lock:
            if self._opinions is not self._trust.opinions:
                self._opinions, self._fresh = self._trust.opinions, {}
            known = ((self._rows[url], self._fresh[url]) for url in urls if url in self._fresh)
            return {row.hash: name for row, name in known if now - row.learned < _FRESH and self._shows(row.author)}

    def add(self, found: Sequence[tuple[str, Page]], now: float, length: float = 0.0) -> None:
        """Keep pages, each with its author, whose signature was checked. Searches find them at once. Raises StorageError.

        ``length``: mean number of characters of the network's texts; 0: not known.
        """
        parsed = [(author, page, as_indexed(page, self._normalizer)) for author, page in found]
        new = [(author, page, indexed) for author, page, indexed in parsed if indexed is not None]
        if not new:
            return
        with self._lock:
            self._open_writer()
            names = {page.hash for _, page, _ in new}
            old = [row for row in self._rows.values() if row.hash not in names]
            pages = len(old) + len(new) - self._most
            size = sum(row.size for row in old) + sum(len(page.text) for _, page, _ in new) - self._most * _TEXT
            over = list[_Row]()
            for row in old:
                if len(over) >= pages and size <= 0:
                    break
                over.append(row)
                size -= row.size
            self._pad([page for _, page, _ in new], len(names) + len(old) - len(over), size + self._most * _TEXT, length)
            self._change(new, over, int(now))

    def find(self, asked: Asked, among: Sequence[str]) -> Findings:
        """Return the best of the pages with these normalised URLs."""
        (found,) = SharedSearcher.search(self.searcher, asked, among)
        return findings_of("", found, asked.number, trusted=True)

    def forget(self) -> None:
        """Drop all pages at the next tick."""
        self._forget = True

    def tick(self, now: float) -> None:
        """Drop what is over, each hour and after each vote. Raises StorageError."""
        with self._lock:
            denied = (self._trust.denied, self._trust.denied_sites)
            if not (self._forget or denied != self._denied or now - self._looked >= _FRESH):
                return
            self._denied, self._looked = denied, now
            before = now - (LIFE if self._lasting else _FRESH)
            if over := [row for row in self._rows.values() if self._forget or self._is_over(row, before)]:
                self._change([], over, int(now))
            self._forget = False

    def close(self) -> None:
        """Close index and table."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()
            self._base.close()

    def _is_over(self, row: _Row, before: float) -> bool:
        return row.learned <= before or not self._shows(row.author) or self._trust.denies_page(row.normalised)

    def _links_to(self, fingerprints: Iterable[int]) -> Sequence[int]:
        return [self._linked.get(each, 0) for each in fingerprints]

    def _open_writer(self) -> IndexWriter:
        """Return the writer, opened at the first call, so that a second process on this folder changes nothing."""
        if self._writer is None:
            writer, known = IndexWriter(self._folder / "index", _MEMORY, 1), self._base.generation if self._lasting else 0
            try:
                writer.open(known or None)
            except StorageError as error:
                if BUSY in str(error):
                    raise
                known = 0  # damaged, or of another version of larm: searches fetch all of it again
                shutil.rmtree(self._folder / "index", ignore_errors=True)
                writer.open(None)
            if known:
                self._padding = int(self._base.row("SELECT value FROM padding")[0])
            else:
                self._rows, self._linked = {}, {}
                self._base.write("DELETE FROM page")
                write_anchors(self._folder / ANCHORS, lambda _: ())
            self._writer = writer
        return self._writer

    def _pad(self, new: Sequence[Page], pages: int, size: int, length: float) -> None:
        """Let the index have the mean length of all of the network, by pages without text: long pages are found more often."""
        wanted = min(_MOST_PADDING * pages, round(size / length) - pages) if length else 0
        if abs(wanted - self._padding) <= (pages + self._padding) / 20:
            return
        writer = self._open_writer()
        title, description = (
            " ".join(["x"] * round(sum(len(text.split()) for text in texts) / len(new)))
            for texts in ([page.title for page in new], [page.description for page in new])
        )
        for number in range(max(0, wanted), self._padding):
            writer.delete(f"{_PADDING}{number}")
        for number in range(self._padding, wanted):
            url = self._normalizer.parse(f"{_PADDING}{number}")
            writer.add(index.Page(url, "", title, "", description=description))
        self._padding = max(0, wanted)

    def _change(self, new: Sequence[tuple[str, Page, index.Page]], over: Sequence[_Row], now: int) -> None:
        links: dict[int, Sequence[str]] = {row.fingerprint: () for row in over}
        writer = self._open_writer()
        for row in over:
            writer.delete(row.normalised)
        rows = list[_Row]()
        for author, page, indexed in new:
            writer.add(indexed)
            url, size = indexed.url, len(page.text)
            links[url.fingerprint] = page.links if self._trust.trusts(author) else supported(page)
            rows.append(_Row(page.hash, url.normalised, url.fingerprint, author, now, page.language, size, page.linked))
        generation = writer.commit()
        renewed = renew_anchors(self._folder / ANCHORS, links.items(), generation, Progress())
        with self._base.transaction():
            self._base.write_many("DELETE FROM page WHERE hash = ?", [(row.hash,) for row in over])
            self._base.write_many(
                "INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(*row, msgspec.msgpack.encode(links[row.fingerprint])) for row in rows],
            )
            self._base.write("UPDATE padding SET value = ?", (self._padding,))
            self._base.generation = generation
        for row in (*over, *rows):
            self._rows.pop(row.hash, None)
            self._fresh.pop(row.hash, None)
            self._linked.pop(row.fingerprint, None)
        self._rows |= {row.hash: row for row in rows}
        self._fresh |= {row.hash: row.normalised for row in rows}
        self._linked |= {row.fingerprint: row.linked for row in rows}
        if not renewed:
            write_anchors(self._folder / ANCHORS, self._texts, generation)

    def _texts(self, after: int) -> Iterator[tuple[int, Sequence[str]]]:
        rows = self._base.rows("SELECT fingerprint, links FROM page WHERE fingerprint > ? ORDER BY fingerprint", (after,))
        return ((page, msgspec.msgpack.decode(links)) for page, links in rows)


def supported(page: Page) -> tuple[str, ...]:
    """Return the texts of links whose words the page itself has: nothing else shows that there are such links."""
    own = "\n".join((page.title, page.description, page.text, page.other, page.url)).lower()
    return tuple(text for text in dict.fromkeys(page.links) if all(word in own for word in _WORD.findall(text.lower())))


def as_indexed(page: Page, normalizer: URLNormalizer) -> index.Page | None:
    """Return the page as an index takes it; None for a malformed URL."""
    try:
        url = normalizer.parse(page.url)
    except BadUrl:
        return None
    meta = meta_words(url, page.mime, language=page.language, size=page.size, modified=page.modified, fetched=page.fetched)
    same = ("title", "description", "text", "language", "mime", "modified", "fetched", "size", "other")
    told = {name: getattr(page, name) for name in same}
    return index.Page(url=url, meta=meta, digest=page_hash(page.title, page.text), **told)
