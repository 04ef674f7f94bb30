"""The CDXJ index of any WARC or ARC file, and a check of its digests: what ``larm warc index`` and ``verify`` say. Main thread.

Of a long record only the beginning is kept in memory, however long it is.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from larm.errors import StorageError
from larm.fetch.classify import parse_headers
from larm.store.archive.answers import is_chunked, parted
from larm.store.archive.arc import is_arc, scan_arc
from larm.store.archive.cdxj import Capture, cdxj_line
from larm.store.archive.records import FIELDS_TYPE, digest_text, payload_digest
from larm.store.archive.scanning import Damaged, Record, is_by_record, is_packed, is_wacz, not_an_archive, scan

_KEPT = 16_000_000  # bytes of a block
_BETWEEN = 4  # bytes: two line ends follow a record, and are no part of it
_INDEXED = frozenset({"response", "revisit", "resource", "metadata"})


class Checked(msgspec.Struct, frozen=True):
    """What is in a file."""

    records: dict[str, int]
    """By their types."""
    digests: int
    """That were there and are right, of blocks and payloads."""
    damaged: int


def index_lines(path: Path, damaged: Damaged) -> list[str]:
    """All lines, sorted. Raises StorageError, also for a file that can't be read by record."""
    _refuse_wacz(path)
    arc = is_arc(path)
    if not arc and not is_by_record(path):
        raise StorageError(f"{path}: it was compressed as a whole: no index can lead into it; 'warcio recompress' mends that")
    records = scan_arc(path, damaged, _KEPT) if arc else with_ends(path, damaged)
    return sorted(cdxj_line(capture) for record, end in records if (capture := _capture(path, record, end)))


def _refuse_wacz(path: Path) -> None:
    if is_wacz(path):
        raise StorageError(
            f"{path}: a WACZ file, which has an index of its own: unzip it, and name the WARC files in its archive/"
        )


def check(path: Path, damaged: Damaged) -> Checked:
    """Read all of it. Raises StorageError where there is no record."""
    _refuse_wacz(path)
    kinds: Counter[str] = Counter()
    digests = lost = 0

    def lose(offset: int, why: str) -> None:
        nonlocal lost
        lost += 1
        damaged(offset, why)

    records = (record for record, _ in scan_arc(path, lose, _KEPT)) if is_arc(path) else scan(path, lose, most=_KEPT)
    for record in records:
        kinds[record.get("warc-type") or "unknown"] += 1
        digests += record.get("warc-block-digest").startswith("sha1:")
        payload = _payload_is_right(record)
        digests += payload is True
        if payload is False:
            lose(record.offset, "its payload has another digest than it says")
    if not kinds and not lost:
        raise not_an_archive(path)
    return Checked(dict(kinds), digests, lost)


def _payload_is_right(record: Record) -> bool | None:
    """None: it says nothing of it, or nothing that can be checked here."""
    said = record.get("warc-payload-digest")
    if not said.startswith("sha1:") or record.get("warc-type") not in ("response", "resource"):
        return None
    if record.get("warc-type") == "resource" or not record.block.startswith(b"HTTP/"):
        return said == (digest_text(record.sha1) if record.sha1 else payload_digest(record.block))
    head, body = parted(record.block)
    if record.sha1:
        right = said == digest_text(record.payload_sha1)
        return right or (None if is_chunked(head) else False)  # the whole would be needed in memory
    return said in (payload_digest(record.block[len(head) :]), payload_digest(body))  # the field does both


def with_ends(path: Path, damaged: Damaged) -> Iterator[tuple[Record, int]]:
    """Each record, and where the next one begins."""
    starts: list[int] = []
    held: Record | None = None
    with path.open("rb") as file:
        packed = is_packed(file)

    def lose(offset: int, why: str) -> None:
        starts.append(offset)
        damaged(offset, why)

    for record in scan(path, lose, most=_KEPT):
        if held is not None:
            after = [start for start in starts if start > held.offset + 1]
            yield held, min([*after, record.offset]) - (0 if packed else _BETWEEN)
        held = record
        starts.clear()
    if held is not None:
        yield held, path.stat().st_size - (0 if packed else _BETWEEN)


def _capture(path: Path, record: Record, end: int) -> Capture | None:
    kind, mime = record.get("warc-type"), record.get("content-type")
    if kind not in _INDEXED or (kind in ("resource", "metadata") and mime == FIELDS_TYPE):
        return None
    status = ""
    digest = record.get("warc-payload-digest")
    if kind in ("response", "revisit"):
        head, body = parted(record.block)
        headers, _ = parse_headers(head.splitlines(keepends=True))
        mime = headers.get("content-type", "") if head else ""
        status = head.split(None, 2)[1].decode("latin-1") if head else ""
        digest = digest or _payload_digest(record, body if head else record.block)
    url = record.get("warc-target-uri").strip("<>").replace(" ", "%20")
    return Capture(
        url=url,
        date=record.get("warc-date"),
        mime="warc/revisit" if kind == "revisit" else mime,
        status=status,
        digest=digest or _payload_digest(record, record.block),
        length=end - record.offset,
        offset=record.offset,
        file=path.name,
    )


def _payload_digest(record: Record, payload: bytes) -> str:
    """Of all of it, where what is in memory is not all: then without undoing chunks."""
    return digest_text(record.payload_sha1) if record.sha1 else payload_digest(payload)


def say_damage(path: Path, tell: Callable[[str], object]) -> Damaged:
    """Tells of damage, a line each."""
    return lambda offset, why: tell(f"{path}: byte {offset:,}: {why}")
