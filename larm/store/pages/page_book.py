"""PageBook: what a later visit needs to know of each page that was stored (LARM-121).

A storage like the others, so that a checkpoint keeps it in step with them; its writer thread is ``larm-store-pages``. It keeps
no page, only how to ask for it again: address, validators, digest. A page that answered that it is gone is marked, and counts
as forgotten only after a `Visit.gone`, which is decided at the end of a revisit (`larm.engine.recrawl.revisit`).
"""

import re
from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from larm.errors import StorageError
from larm.kit.clock import SystemClock
from larm.kit.disk.table import Table, TableRow
from larm.model.crawl_hash import digest
from larm.model.document import Document, Visit
from larm.model.message import REDIRECT, UNKNOWN, Known, as_whole, tag_of
from larm.model.url import Url
from larm.seams import Clock
from larm.store.pages.page_row import Answer, Failing, PageRow, Past, claim, decode_row, encode_row, kind_of, part_of

_MAX_AGE = re.compile(r"""(?:^|,)\s*max-age\s*=\s*"?([0-9]+)""", re.IGNORECASE)
_NEVER = re.compile(r"(?:^|,)\s*no-(?:store|cache)\s*(?:,|$)", re.IGNORECASE)
"""Not ``no-cache="a-field"``, which speaks of that field."""
_FURTHEST = 2**31
"""Seconds; more than that means as much (RFC 9111 1.2.2)."""
_LONGEST = 500  # characters of a validator that are kept with each page; real ones have 40
GONE = frozenset({301, 308, 404, 410})
"""Answers that say that the page is no longer there; any other failure may pass."""
_LAST = 253_402_300_799  # second of the year 9999
_NO_STATUS = 1
"""Status of a forgotten page whose server did not answer."""


class PageBook:
    """Implements `larm.seams.Storage` on a `Table`. Pages that could not be fetched are kept too, for the next time."""

    name = "pages"

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        # constant after construction
        self._path = path
        self._clock = clock or SystemClock()
        # only the writer thread
        self._table: Table | None = None
        self._generation = 0
        self._puts: dict[int, PageRow | None] = {}
        """None: to be removed."""

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Begin a new book, or continue at a checkpoint.

        Pages that came after the checkpoint are requested whole: their rows as of it have no validators.
        """
        generation = int(position["generation"]) if position else None
        self._table, self._generation = Table.of_checkpoint(self._path, generation, self._restored), generation or 0

    def store(self, visits: Sequence[Visit]) -> None:
        """Note what was stored, and what each answer was; mark what is gone."""
        now = int(self._clock.wall())
        for visit in visits:
            url = visit.url
            if url is None:
                continue
            key = url.fingerprint
            if visit.left:
                row = self._find(key)
                kept = row is not None and row.stored and not row.gone and not row.by
                self._puts[key] = msgspec.structs.replace(row, left=True) if row is not None and kept else None
                continue
            if visit.row:
                self._take_in(key, decode_row(visit.row, self._path))
                continue
            row = None if visit.document is not None and not visit.revisited else self._find(key)
            if visit.document is not None:
                self._puts[key] = _row(visit, url, now, row)
                if visit.document.lastmods:
                    self._hear(visit.document.lastmods, (url.host, urlsplit(visit.referrer).netloc))
                continue
            if row is None or (row.left and not visit.gone):  # links to it are no news any more: only a revisit finds it
                self._puts[key] = _row(visit, url, now, None)
            elif visit.gone:
                out = {"known": UNKNOWN, "stored": False, "gone": 0, "forgotten": row.gone or visit.status or _NO_STATUS}
                self._puts[key] = msgspec.structs.replace(row, **out, left_at=now)
            else:
                self._puts[key] = _answered(row, visit, url, now)

    def amend(self, key: int, row: PageRow | None) -> None:
        """Replace a row; None: remove it."""
        self._puts[key] = row

    def commit(self) -> Mapping[str, Any]:
        """Write all that changed as one generation."""
        if self._puts:
            self._generation += 1
            rows = [_put((key, row)) for key, row in sorted(self._puts.items()) if row is not None]
            self._open_table().write(self._generation, rows, [key for key, row in self._puts.items() if row is None])
            self._puts = {}
        return {"generation": self._generation}

    def close(self) -> None:
        """After the last commit."""
        if self._table is not None:
            self._table.close()

    def _take_in(self, key: int, row: PageRow) -> None:
        """Of another crawl; what is known here counts more if it is younger."""
        own = self._find(key)
        if own is not None and own.left and own.last.asked >= row.last.asked:
            self._puts[key] = msgspec.structs.replace(own, left=False)
        elif own is None or own.last.asked <= row.last.asked:
            self._puts[key] = row

    def _hear(self, lastmods: Mapping[int, int], hosts: Container[str]) -> None:
        """What a sitemap says of pages that are known; written where it is news.

        Of these ``hosts`` alone: its own, and the one of which robots.txt names it (sitemaps.org, "Sitemaps & Cross Submits").
        """
        keys = [key for key in lastmods if key not in self._puts]
        found = {key: decode_row(each.data, self._path) for key, each in self._open_table().get_many(keys).items()}
        found |= {key: row for key in lastmods if (row := self._puts.get(key)) is not None}
        for key, row in found.items():
            past = row.past or Past(row.fetched)
            if row.host in hosts and row.stored and (told := claim(past, lastmods[key], row.fetched)) is not past:
                self._puts[key] = msgspec.structs.replace(row, past=told)

    def _restored(self, old: TableRow, later: TableRow) -> TableRow:
        row, lost = decode_row(old.data, self._path), decode_row(later.data, self._path)
        if row.known == lost.known:
            return old
        return old._replace(data=encode_row(msgspec.structs.replace(row, known=UNKNOWN)))

    def _find(self, key: int) -> PageRow | None:
        if key in self._puts:
            return self._puts[key]
        record = self._open_table().get(key)
        return decode_row(record.data, self._path) if record else None

    def _open_table(self) -> Table:
        if self._table is None:
            raise StorageError(f"{self._path}: the table of pages was not opened")
        return self._table


def _put(row: tuple[int, PageRow]) -> TableRow:
    return TableRow(row[0], part_of(row[1].host), encode_row(row[1]))


def _validator(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, "")
    return value if len(value) <= _LONGEST else ""


def _answered(row: PageRow, visit: Visit, url: Url, now: int) -> PageRow:
    """A page that is known, after an answer that brought none."""
    last = _answer(visit, now)
    again = (last.status, last.why, last.moved) == (row.last.status, row.last.why, row.last.moved)
    if again or (last.brought and row.last.brought):  # 304 after 200
        last = msgspec.structs.replace(last, since=row.last.since)
    if visit.status in GONE and row.stored:
        past = _past(row, now).seen(changed=True)
        return msgspec.structs.replace(row, access=url.access, gone=visit.status, last=last, failing=None, past=past)
    if not last.brought:
        kind = kind_of(last.status, last.why) if row.stored else None
        failing = row.failing if kind is None else (row.failing or Failing(now, kind)).again(kind)
        return msgspec.structs.replace(row, last=last, failing=failing)
    past = _past(row, now).seen(changed=False)
    return msgspec.structs.replace(
        row, last=last, failing=None, fetched=now, current=current_until(visit.headers, now), past=past
    )


def _past(row: PageRow, now: int) -> Past:
    return row.past or Past(row.fetched or now)


def _answer(visit: Visit, now: int) -> Answer:
    moved = next((link.url.access for link in visit.links if link.link_type == REDIRECT), "") if visit.document is None else ""
    return Answer(visit.status, now, now, "" if visit.status >= 400 else visit.failure, moved)


def _row(visit: Visit, url: Url, now: int, before: PageRow | None) -> PageRow:
    headers = visit.headers
    known = UNKNOWN
    if visit.document is not None:
        validators = _validator(headers, "etag"), _validator(headers, "last-modified")
        known = Known(*validators, digest(visit.body), visit.document.seen, visit.restricted, tag_of(headers))
        known = as_whole(known) if visit.document.unread else known
    past, came = None, 0 if visit.document is None else now
    if before is not None:
        same = abs(known.digest) == abs(before.known.digest) != 0
        came = before.came if same and before.stored else came
        past = _past(before, now).seen(changed=not (same or known.text == before.known.text != 0))
    if visit.document is not None and visit.document.lastmods is not None:
        past = msgspec.structs.replace(past or Past(now), sitemap=True)
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
        last=_answer(visit, now),
        fetched=now if visit.document is not None else 0,
        index=visit.document is None or visit.document.index,
        current=current_until(headers, now) if known.digest > 0 else 0,
        past=past,
        asks=_asked(visit.document) if visit.document is not None else "",
        came=came,
    )


def _asked(document: Document) -> str:
    """Also what its headers ask for, which nobody else keeps."""
    until = ""
    if document.until is not None:  # dates with a time zone may be in the year 0 or 10,000
        until = f"unavailable_after: {datetime.fromtimestamp(min(max(document.until, 0), _LAST), UTC).isoformat()}"
    snippet = "" if document.snippet is None else f"max-snippet: {document.snippet}"
    return ", ".join(filter(None, ("" if document.follow else "nofollow", snippet, until)))


def current_until(headers: Mapping[str, str], now: int) -> int:
    """Return until when a page is current, as its server says (RFC 9111 4.2), in seconds since 1970.

    0: it says nothing, or that the page must be requested each time. Names of headers are in lower case.
    """
    control = headers.get("cache-control", "")
    if _NEVER.search(control):
        return 0
    found, expires = _MAX_AGE.search(control), headers.get("expires", "")
    if not (found or expires):
        return 0
    made = date(headers.get("date", "")) or now
    lifetime = int(found[1][:12]) if found else int((date(expires) or made) - made)
    age = headers.get("age", "")
    old = max(int(age[:12]) if age.isascii() and age.isdigit() else 0, int(now - made), 0)  # a cache may have kept it
    seconds = min(lifetime, _FURTHEST) - old
    return now + seconds if seconds > 0 else 0


@lru_cache(maxsize=1_000)
def date(text: str) -> float:
    """Of a header, in seconds since 1970; 0 where it is none, as in ``Expires: 0``."""
    import email.utils  # 2 ms of the start, for what is seldom seen

    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0
