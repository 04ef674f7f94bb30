"""The header lines of an answer, read: pure functions from what libcurl hands over to what an Outcome carries."""

import re
from collections.abc import Sequence
from functools import lru_cache

_FURTHEST = 1e9  # seconds; a Retry-After beyond it (30 years) is as good as infinite, and infinity breaks arithmetic

_FEW, _LONG = 50, 200  # lines, and bytes of one, of an ordinary answer

_SEPARATORS = {"x-robots-tag": "\n"}
_PLAIN_LINE = re.compile(rb"[\x20-\x7e]*\r\n")
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def is_success(lines: Sequence[bytes]) -> bool:
    """Whether the latest status line is a 2xx, or 300: the body that follows will be wanted."""
    if lines and _status(lines[0])[:1] != b"1":
        return _status(lines[0]).startswith((b"2", b"300"))
    return any(_status(line).startswith((b"2", b"300")) for line in reversed(lines) if line.startswith(b"HTTP/"))


def parse_headers(lines: Sequence[bytes]) -> tuple[dict[str, str], bool]:
    """The fields of the last answer in ``lines``, and whether its header block came to an end.

    1xx answers before it and trailers after its body are left out. Names in lower case, values of a repeated field joined by
    ", ", of X-Robots-Tag by a line end (a name in it holds for one header). Decoded as UTF-8, or as Latin-1 where they are not;
    control characters, C1 included, become spaces. libcurl gives up at 300 KB of them.
    """
    if 1 < len(lines) < _FEW and lines[-1] == b"\r\n" and lines[0].startswith(b"HTTP/"):
        found = dict(filter(None, map(_plain_field, lines[1:-1])))
        if len(found) == len(lines) - 2:  # nothing odd, nothing twice
            return found, True
    text = _decode(b"".join(lines)).replace("\r\n", "\n")
    text = text[text.rfind("\nHTTP/") + 1 :]
    block, blank, _ = text.partition("\n\n")
    if _CONTROL.search(block):
        block = _CONTROL.sub(" ", block)
    fields: dict[str, list[str]] = {}
    for line in block.split("\n")[1:]:
        name, colon, value = line.partition(":")
        if not colon:
            continue
        fields.setdefault(name.strip().lower(), []).append(value.strip())
    return {name: _SEPARATORS.get(name, ", ").join(values) for name, values in fields.items()}, bool(blank)


def parse_retry_after(value: str, wall: float) -> float | None:
    """Seconds from ``wall`` (seconds since 1970) on; None where ``value`` is neither a number nor an HTTP date.

    At least 0, as a date may have passed, and at most 30 years (RFC 9110 10.2.3).
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value), _FURTHEST)
    import email.utils  # 2 ms of the start, for what is seldom seen

    try:
        date = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(date - wall, 0.0), _FURTHEST)


@lru_cache(4_096)
def _plain_field(line: bytes) -> tuple[str, str] | None:
    """(name, value) of an ordinary line; None for any other. Most lines of a server are those of its answer before."""
    name, colon, value = line.partition(b":")
    if not colon or len(line) > _LONG or line.startswith(b"HTTP/") or not _PLAIN_LINE.fullmatch(line):
        return None
    return name.strip().lower().decode("ascii"), value.strip().decode("ascii")


def _status(status_line: bytes) -> bytes:
    return status_line.partition(b" ")[2]


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")  # what browsers make of a Location with raw bytes in it
    except UnicodeDecodeError:
        return raw.decode("latin-1")
