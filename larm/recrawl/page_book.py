"""PageBook: what a later visit needs to know of each page that was stored (LARM-121).

A storage like the others, so that a checkpoint keeps it in step with them; its writer thread is ``larm-store-pages``. It keeps
no page, only how to ask for it again: address, validators, digest. A page that answered that it is gone is marked, and counts
as forgotten only after a `Visit.gone`, which is decided at the end of a revisit (`larm.recrawl.revisit`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from larm.errors import StorageError
from larm.kit.disk.record_table import RecordTable
from larm.model.cuts import may_be_whole
from larm.model.digest import digest
from larm.model.document import Visit
from larm.model.message import UNKNOWN, Known, URLMessage
from larm.model.url import Url

_LONGEST = 500  # characters of a validator that are kept with each page; real ones have 40
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
    """False: it could not be fetched yet (a time-out, a 500, a 404), or was forgotten."""
    gone: int = 0
    """The status that said so; 0: it is there."""
    forgotten: int = 0
    """What `gone` was when it was forgotten: the other storages may not have come to forget it, then it is gone once more."""
    cuts: dict[str, int] = {}
    """What was not read of it, and the limits that held (`larm.model.cuts`)."""

    def message(self, key: int, limits: Mapping[str, int] = MappingProxyType({})) -> URLMessage:
        """To ask for it again; for the whole page where it was gone the last time, as "unchanged" would leave it marked.

        The same where ``limits``, those of now, let more of it be read.
        """
        url = Url(self.access, self.normalised, self.host, key)
        whole = self.gone or (self.cuts and may_be_whole(self.cuts, limits))
        return URLMessage(url, self.referrer, self.link_type, self.depth, known=UNKNOWN if whole else self.known)


_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(PageRow)


def decode_row(data: bytes, path: Path) -> PageRow:
    """Raises StorageError on damage."""
    try:
        return _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
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

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Begin anew, or go on: pages written after the checkpoint will be fetched again, and must not answer "unchanged"."""
        if position is None:
            self._path.unlink(missing_ok=True)
        self._table = RecordTable(self._path)
        self._generation = int(position["generation"]) if position else 0
        if self._table.generation < self._generation:
            raise StorageError(
                f"{self._path}: it is older than the last checkpoint: it was removed or replaced; "
                "put the file back as it was, or start over with --fresh"
            )
        rows = [(each.key, decode_row(each.data, self._path)) for each in self._table.younger(self._generation)]
        if rows:
            again = [(key, _encode(_undone(row))) for key, row in rows]
            self._table.write(self._generation, again)

    def store(self, visits: Sequence[Visit]) -> None:
        """Note what was stored; mark what is gone."""
        for visit in visits:
            url = visit.url
            if url is None:
                continue
            key = url.fingerprint
            if visit.document is not None:
                self._puts[key] = _row(visit, url)
                continue
            row = self._find(key)
            if row is None:
                if visit.status == 0 or visit.status >= 400:  # links to it are no news any more: only a revisit finds it
                    self._puts[key] = _row(visit, url)
            elif visit.gone:
                self._puts[key] = msgspec.structs.replace(row, known=UNKNOWN, stored=False, gone=0, forgotten=row.gone)
            elif visit.status in GONE and row.stored:
                self._puts[key] = msgspec.structs.replace(row, access=url.access, gone=visit.status)

    def commit(self) -> Mapping[str, Any]:
        """One generation."""
        if self._puts:
            self._generation += 1
            self._open_table().write(self._generation, [(key, _encode(row)) for key, row in sorted(self._puts.items())])
            self._puts = {}
        return {"generation": self._generation}

    def close(self) -> None:
        """After the last commit."""
        if self._table is not None:
            self._table.close()

    def _find(self, key: int) -> PageRow | None:
        if key in self._puts:
            return self._puts[key]
        record = self._open_table().get(key)
        return decode_row(record.data, self._path) if record else None

    def _open_table(self) -> RecordTable:
        if self._table is None:
            raise StorageError(f"{self._path}: the table of pages was not opened")
        return self._table


def _undone(row: PageRow) -> PageRow:
    if row.forgotten:
        return msgspec.structs.replace(row, stored=True, gone=row.forgotten, forgotten=0)
    return msgspec.structs.replace(row, known=UNKNOWN, gone=0)  # if it is gone, it will say so again


def _validator(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, "")
    return value if len(value) <= _LONGEST else ""


def _row(visit: Visit, url: Url) -> PageRow:
    headers = visit.headers
    known = (
        UNKNOWN
        if visit.document is None or visit.document.unread
        else Known(
            _validator(headers, "etag"),
            _validator(headers, "last-modified"),
            digest(visit.body),
            visit.document.seen,
        )
    )
    return PageRow(
        url.access,
        url.normalised,
        url.host,
        visit.referrer,
        visit.link_type,
        visit.depth,
        known,
        visit.document is not None,
        cuts=dict(visit.cuts),
    )
