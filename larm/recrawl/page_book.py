"""PageBook: what a later visit needs to know of each page that was stored (LARM-121).

A storage like the others, so that a checkpoint keeps it in step with them; its writer thread is ``larm-store-pages``. It keeps
no page, only how to ask for it again: address, validators, digest. A page that answered that it is gone is marked, and
forgotten only by a `Visit.gone`, which is decided at the end of a revisit (`larm.recrawl.revisit`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from larm.errors import StorageError
from larm.kit.record_table import RecordTable
from larm.model.digest import digest, text_digest
from larm.model.document import Visit
from larm.model.message import Known, URLMessage
from larm.model.url import Url

UNKNOWN = Known("", "", 0)
GONE = frozenset({301, 308, 404, 410})
"""Answers that say that the page is no longer there; any other failure may pass."""


class PageRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One page."""

    access: str
    normalised: str
    host: str
    referrer: str
    link_type: int
    depth: int
    known: Known
    stored: bool
    """False: it could not be fetched yet (a time-out, a 500)."""
    gone: int = 0
    """The status that said so; 0: it is there."""
    forgotten: bool = False
    """It leaves with the next generation: the other storages may not come to forget it in this one."""

    def message(self, key: int) -> URLMessage:
        """To ask for it again; for the whole page where it was gone the last time, as "unchanged" would leave it marked."""
        url = Url(self.access, self.normalised, self.host, key)
        return URLMessage(url, self.referrer, self.link_type, self.depth, known=UNKNOWN if self.gone else self.known)


_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(PageRow)


def decode_row(data: bytes, path: Path) -> PageRow:
    """Raises StorageError on damage."""
    try:
        return _decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise StorageError(f"{path}: a page's record is damaged ({error}); start over with --fresh") from error


class PageBook:
    """Implements `larm.seams.Storage` on a `RecordTable`. Pages that could not be fetched are kept too, for the next time."""

    name = "pages"

    def __init__(self, path: Path) -> None:
        # constant after construction
        self._path = path
        # only the writer thread
        self._table: RecordTable | None = None
        self._generation = 0
        self._puts: dict[int, PageRow] = {}
        self._forgotten: set[int] = set()  # in the last generation

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Begin anew, or go on: pages written after the checkpoint will be fetched again, and must not answer "unchanged"."""
        if position is None:
            self._path.unlink(missing_ok=True)
        self._table = RecordTable(self._path)
        self._generation = int(position["generation"]) if position else 0
        if self._table.generation < self._generation:
            raise StorageError(f"{self._path}: it is older than the last checkpoint; put it back, or start over with --fresh")
        again = []
        for record in self._table.younger(self._generation - 1):
            row = decode_row(record.data, self._path)
            if record.generation > self._generation:
                again.append((record.key, _encode(msgspec.structs.replace(row, known=UNKNOWN, forgotten=False))))
            elif row.forgotten:
                self._forgotten.add(record.key)
        if again or self._forgotten:
            self._table.write(self._generation, again, sorted(self._forgotten))
            self._forgotten = set()

    def store(self, visits: Sequence[Visit]) -> None:
        """Note what was stored; mark what is gone."""
        for visit in visits:
            url = visit.url
            if url is None:
                continue
            key = url.fingerprint
            if visit.document is not None:
                self._puts[key] = _row(visit, url)
            elif visit.gone:
                if (row := self._find(key)) is not None:
                    self._puts[key] = msgspec.structs.replace(row, forgotten=True)
            elif visit.status in GONE:
                if (row := self._find(key)) is not None:
                    self._puts[key] = msgspec.structs.replace(row, gone=visit.status)
            elif _may_come_back(visit.status) and self._find(key) is None:
                self._puts[key] = _row(visit, url)

    def commit(self) -> Mapping[str, Any]:
        """One generation."""
        if self._puts or self._forgotten:
            self._generation += 1
            rows = [(key, _encode(row)) for key, row in sorted(self._puts.items())]
            self._open_table().write(self._generation, rows, sorted(self._forgotten))
            self._forgotten = {key for key, row in self._puts.items() if row.forgotten}
            self._puts = {}
        return {"generation": self._generation}

    def close(self) -> None:
        """After the last commit."""
        if self._table is not None:
            self._table.close()

    def _find(self, key: int) -> PageRow | None:
        row = self._puts.get(key)
        if row is None and (record := self._open_table().get(key)) is not None:
            row = decode_row(record.data, self._path)
        return None if row is None or row.forgotten else row

    def _open_table(self) -> RecordTable:
        if self._table is None:
            raise StorageError(f"{self._path}: the table of pages was not opened")
        return self._table


def _may_come_back(status: int) -> bool:
    """No answer, or one of a server in trouble."""
    return status in {0, 429} or status >= 500


def _row(visit: Visit, url: Url) -> PageRow:
    headers = visit.headers
    known = (
        UNKNOWN
        if visit.document is None
        else Known(
            headers.get("etag", ""),
            headers.get("last-modified", ""),
            digest(visit.body),
            text_digest(visit.document.title, visit.document.raw_text),
        )
    )
    return PageRow(
        url.access, url.normalised, url.host, visit.referrer, visit.link_type, visit.depth, known, visit.document is not None
    )
