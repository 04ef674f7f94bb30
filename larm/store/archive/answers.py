"""outcome_of: a record of an archive becomes what a fetch of the page would have brought. Pure; any thread."""

import re
from datetime import datetime

import msgspec

from larm.config import FetchSettings
from larm.fetch.classify import Ending, classify
from larm.fetch.large import is_document
from larm.model.exchange import Exchange
from larm.model.outcome import Fetched, Outcome, Timing
from larm.store.archive.scanning import Record, head_of

_YEARS = 1990, 9000  # there was no web before, and dates of a clock that is wrong overflow
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})")
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CHUNKED = re.compile(rb"^transfer-encoding[ \t]*:.*chunked", re.IGNORECASE | re.MULTILINE)


class Answer:
    """A record that answers for its address: header and body apart. Raises ValueError where it has no status."""

    def __init__(self, record: Record) -> None:
        # constant after construction
        self.url = record.get("warc-target-uri").strip("<>")
        self.date = wall_of(record.get("warc-date"))
        self.digest = record.get("warc-payload-digest")
        self.kind = record.get("warc-type")
        self.address = record.get("warc-ip-address")
        self.cut = record.get("warc-truncated")
        if self.kind == "resource":
            mime = record.get("content-type") or "application/octet-stream"
            robots = record.get("x-robots-tag")  # as `larm.store.archive.records` notes it
            asks = f"X-Robots-Tag: {robots}\r\n" if robots else ""
            self.head, self.body = f"HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\n{asks}\r\n".encode(), record.block
        else:
            self.head, self.body = parted(record.block)
        found = _STATUS.match(self.head)
        if found is None and self.head:
            raise ValueError("its status line can't be read")
        self.status = int(found[1]) if found else 0


def outcome_of(answer: Answer, original: Answer | None, settings: FetchSettings, seconds: float) -> Outcome:
    """What came, and when. ``original``: of a revisit, the capture that has its payload."""
    head, body = answer.head, answer.body
    if original is not None:
        body = original.body
        if not head or answer.status == 304:
            head = original.head
    lines = head.splitlines(keepends=True)
    status = int(found[1]) if (found := _STATUS.match(head)) else 0
    limit = int(settings.page_size)
    if is_document(lines, body):
        limit = max(limit, int(settings.document_size))
    stopped = len(body) > limit
    ending = Ending(
        status=status,
        lines=lines,
        body=body[:limit] if 200 <= status <= 300 else b"",
        timing=Timing(seconds, len(body)),
        limit=limit,
        stopped=stopped,
    )
    outcome = classify(ending, answer.date)
    if answer.cut and not stopped and isinstance(outcome, Fetched):  # no setting brings what the archive does not have
        why = f"the archive has a part of it, WARC-Truncated: {answer.cut}"
        outcome = msgspec.structs.replace(outcome, truncated=True, flaw=why)
    exchange = Exchange(answer.url, b"", head, body[:limit], answer.address, answer.date, "length" if stopped else answer.cut)
    return msgspec.structs.replace(outcome, exchange=exchange)


def wall_of(date: str) -> float:
    """WARC-Date -> seconds since 1970. Raises ValueError."""
    try:
        found = datetime.fromisoformat(date.strip())
    except ValueError as error:
        raise ValueError(f"its date can't be read: {date[:40]!r}") from error
    if found.tzinfo is None or not _YEARS[0] <= found.year <= _YEARS[1]:
        raise ValueError(f"its date can't be right: {date[:40]!r}")
    return found.timestamp()


def parted(block: bytes) -> tuple[bytes, bytes]:
    """Header, with the empty line, and body without transfer coding."""
    head = head_of(block)
    body = block[len(head) :]
    if head and not head.endswith((b"\r\n\r\n", b"\n\n")):  # it has no end
        head = head.rstrip(b"\r\n") + b"\r\n\r\n"
    return head, _unchunked(body) if is_chunked(head) else body


def is_chunked(head: bytes) -> bool:
    """Whether its header says so; many archives hold such bodies without their chunks all the same."""
    return bool(_CHUNKED.search(head))


def _unchunked(body: bytes) -> bytes:
    """Without the chunks that its header speaks of, unless somebody has taken them away before, or they are broken."""
    pieces: list[bytes] = []
    at = 0
    while found := _CHUNK.match(body, at):
        size = int(found[1], 16)
        if not size:
            return b"".join(pieces)
        pieces.append(body[found.end() : found.end() + size])
        if len(pieces[-1]) < size:
            return b"".join(pieces)  # it was cut
        at = found.end() + size
        at += 2 if body.startswith(b"\r\n", at) else body.startswith(b"\n", at)
    return body
