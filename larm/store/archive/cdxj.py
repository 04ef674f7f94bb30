"""CDXJ: one line for each capture, sorted by key and time: where in which WARC file it is. Pure.

The form is that of ``cdxj-indexer``, which pywb and others read: key, fourteen digits, and a JSON object.
"""

import json
import re
from typing import Any

import msgspec

from larm.store.archive.surt import surt

_NOT_DIGITS = re.compile(r"\D")
_SPACE = re.compile(r"[; ]")


class Capture(msgspec.Struct, frozen=True):
    """What a line says."""

    url: str
    date: str
    """As in WARC-Date."""
    mime: str
    """``warc/revisit`` for a revisit; empty: not known. So is `status`."""
    status: str
    digest: str
    """``sha1:`` and base 32, of the payload."""
    length: int
    """Bytes of the record in the file, compressed."""
    offset: int
    file: str


def cdxj_line(capture: Capture) -> str:
    """With the line end."""
    fields: dict[str, Any] = {
        "url": capture.url,
        "mime": _SPACE.split(capture.mime, maxsplit=1)[0].strip(),
        "status": capture.status,
        "digest": capture.digest,
        "length": str(capture.length),
        "offset": str(capture.offset),
        "filename": capture.file,
    }
    text = json.dumps({name: value for name, value in fields.items() if value})  # others compare such lines as text
    return f"{surt(capture.url)} {_NOT_DIGITS.sub('', capture.date)[:14]} {text}\n"


def place_of(line: str) -> tuple[int, int]:
    """Offset and length of the record that a line is about. Raises ValueError."""
    try:
        said = msgspec.json.decode(line.split(" ", 2)[2])
        return int(said["offset"]), int(said["length"])
    except (msgspec.DecodeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"no line of a CDXJ index: {line[:100]!r}") from error
