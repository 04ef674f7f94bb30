"""WarcStorage: each answer that came over the wire, with its request, in WARC files in ``warc/``.

Of an answer whose payload the archive has already, or a 304, there is a ``revisit``; of a page also a ``metadata`` record, with
where it was found and where it leads; of a file of a folder a ``resource``. Made by wiring; everything else happens on its
writer thread, which also compresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from larm.config import WarcSettings
from larm.config.section import Count
from larm.errors import REPAIR, StorageError
from larm.fetch.classify import parse_headers
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.range_sums import Sums, take_sums
from larm.model.document import Visit
from larm.model.exchange import Exchange
from larm.model.file_url import FILES
from larm.seams import Clock
from larm.store.archive.cdxj import Capture
from larm.store.archive.names import FOLDER, PAYLOADS
from larm.store.archive.payload_book import PayloadBook
from larm.store.archive.records import (
    NOT_MODIFIED,
    SAME_PAYLOAD,
    SUFFIX,
    Made,
    Original,
    Records,
    date_of,
    gzip_member,
    payload_digest,
)
from larm.store.archive.warc_files import Entry, Place, WarcFiles, damaged_archive, sums_of_archive


class _Position(msgspec.Struct, frozen=True):
    """What a checkpoint notes of the storage."""

    place: Place
    payloads: Count
    """Generation of the table of payloads."""

    @classmethod
    def read(cls, position: Mapping[str, Any]) -> _Position:
        """From a checkpoint."""
        try:
            return msgspec.convert(dict(position), cls)
        except msgspec.ValidationError as error:
            raise StorageError(f"the checkpoint's position of the warc storage is damaged ({error}); {REPAIR}") from error


def damaged_files(folder: Path, noted: Mapping[str, Any], store: BlockStore) -> Iterator[tuple[Path, int, int]]:
    """Yield where files of the archive are damaged: path, begin and end. Raises StorageError."""
    return damaged_archive(folder, _Position.read(noted).place, store)


def sums_of_files(folder: Path, noted: Mapping[str, Any] | None) -> Sums:
    """Return the rows of all files of the archive, read again; ``noted``: the position of the checkpoint that they go into."""
    return sums_of_archive(folder, _Position.read(noted).place) if noted else {}


class WarcStorage:
    """Writes ``directory/warc``. Implements `larm.seams.Storage`."""

    name = "warc"
    exchanges = True

    def __init__(  # noqa: PLR0917
        self,
        directory: Path,
        queues: Path,
        settings: WarcSettings,
        clock: Clock,
        about: Sequence[tuple[str, str]],
        counted: Callable[[str, int], object],
    ) -> None:
        """``queues``: folder of the table of payloads; ``about``: fields of warcinfo, beside the file's own."""
        # constant after construction
        self._folder = directory / FOLDER
        self._queues = queues
        self._settings = settings
        self._clock = clock
        self._about = about
        self._counted = counted
        self._records = Records(gzip_member)
        # only the writer thread; None before open
        self._files: WarcFiles | None = None
        self._book: PayloadBook | None = None
        self._sums: Sums = {}

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Cut all files back to ``position``, or remove them (None). Raises StorageError."""
        noted = None if position is None else _Position.read(position)
        place = noted.place if noted else Place()
        self._book = PayloadBook(self._queues / PAYLOADS, noted.payloads if noted else None)
        size, clock = int(self._settings.size), self._clock.wall
        self._files = WarcFiles(self._folder, SUFFIX, size, place, clock, self._begin, self._sums)

    def store(self, visits: Sequence[Visit]) -> None:
        """Append the records of each."""
        files, _ = self._opened()
        for visit in visits:
            entries = self._entries(visit)
            if entries:
                files.append(entries)

    def commit(self) -> Mapping[str, Any]:
        """Sync all; the position is the place in the files, and the generation of the table of payloads."""
        files, book = self._opened()
        position: Mapping[str, Any] = msgspec.to_builtins(_Position(files.commit(), book.commit()))
        return position

    def checkpoint_rows(self) -> Sums:
        """Return the checksums of what the last commit made durable (`larm.kit.disk.range_sums`)."""
        return take_sums(self._sums)

    def close(self) -> None:
        """Complete the last file."""
        try:
            if self._files is not None:
                self._files.close()
        finally:
            if self._book is not None:
                self._book.close()

    def _opened(self) -> tuple[WarcFiles, PayloadBook]:
        if self._files is None or self._book is None:
            raise StorageError(f"{self._folder}: the warc storage was not opened")
        return self._files, self._book

    def _begin(self, file: str) -> list[Entry]:
        return [Entry(self._records.warcinfo(file, self._clock.wall(), self._about).member)]

    def _entries(self, visit: Visit) -> list[Entry]:
        document, exchange = visit.document, visit.exchange
        if document is not None and not document.archive:  # the page asks that no copy of it is kept
            self._counted("warc/noarchive", 1)
            return []
        if exchange is not None:
            return self._exchanged(visit, exchange)
        if visit.url is not None and visit.url.host == FILES and document is not None:
            self._opened()[0].prepare()
            date = date_of(self._clock.wall())
            made = self._records.resource(visit.url.access, date, document.mime, visit.body)
            return [Entry(made.member, Capture(visit.url.access, date, document.mime, "", made.digest, 0, 0, ""))]
        return []

    def _exchanged(self, visit: Visit, exchange: Exchange) -> list[Entry]:
        self._opened()[0].prepare()
        headers, _ = parse_headers(exchange.head.splitlines(keepends=True))
        status = exchange.head.split(None, 2)[1].decode("latin-1")
        answer, mime = self._answer(exchange, status, headers.get("content-type", ""))
        unmodified = mime == _REVISIT and status == _NOT_MODIFIED
        self._counted("warc/" + ("revisits" if mime == _REVISIT else "responses"), 1)
        when = date_of(exchange.began)
        capture = Capture(exchange.url, when, mime, "" if unmodified else status, answer.digest, 0, 0, "")
        entries = [Entry(answer.member, capture), Entry(self._records.request(exchange, answer.id).member)]
        if unmodified:  # the revisit has no room for its header
            lines = exchange.head.decode("latin-1").splitlines()[:-1]
            about = [("status", status), *(("http-response-header", line) for line in lines[1:])]
            entries.append(Entry(self._records.about(exchange.url, when, answer.id, about).member))
        if visit.document is not None:
            about = [("via", visit.referrer), ("hopsFromSeed", "L" * min(visit.depth, _HOPS))]
            lines = visit.links.lines.decode("utf-8", "replace").splitlines()
            about += [("outlink", line.partition("\t")[0]) for line in lines]
            entries.append(Entry(self._records.about(exchange.url, when, answer.id, about).member))
        return entries

    def _answer(self, exchange: Exchange, status: str, mime: str) -> tuple[Made, str]:
        """The record of an answer, and the type that the index says."""
        _, book = self._opened()
        if status == _NOT_MODIFIED:
            original = book.of_address(exchange.url)
            if original is not None:
                return self._records.revisit(exchange, original, NOT_MODIFIED), _REVISIT
        if not exchange.body or exchange.truncated:
            return self._records.response(exchange), mime
        digest = payload_digest(exchange.body)
        original = book.same_payload(digest)
        book.note(exchange.url, original or Original(exchange.url, date_of(exchange.began), digest))
        if original is None:
            return self._records.response(exchange, digest), mime
        return self._records.revisit(exchange, original, SAME_PAYLOAD), _REVISIT


_REVISIT = "warc/revisit"
_NOT_MODIFIED = "304"
_HOPS = 50  # of a path of letters, one for each link from a start URL
