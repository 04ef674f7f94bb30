"""What the crawl and its reading processes say to each other: a frame is its length in four bytes, then msgpack.

Plain values only: what comes out of a process that has read a hostile file is data, whatever it is.
"""

from typing import Final

import msgspec


class Request(msgspec.Struct, frozen=True, array_like=True):
    """Read this."""

    kind: str
    """One of `KINDS`."""
    body: bytes
    seconds: float
    """After which whatever was read so far is the answer; a little later the process is gone."""
    text: int
    """Characters of it that are read."""
    memory: int
    """Bytes that the process should have."""
    effort: int = 1
    """``processing.effort``: times the limits for the markup of pages, as those of a book are."""


class Found(msgspec.Struct, frozen=True, array_like=True):
    """What was read."""

    title: str = ""
    text: str = ""
    links: tuple[tuple[str, str], ...] = ()
    """(address as it stands there, anchor)."""
    headings: tuple[str, ...] = ()
    modified: int = 0
    """Unix seconds; 0: not known."""
    language: str = ""
    description: str = ""
    warnings: tuple[str, ...] = ()
    failed: bool = False
    """Nothing could be read; the warning says why."""
    cuts: tuple[str, ...] = ()
    """See `larm.model.document.Document`."""
    ended: bool = False
    """Its process ended, or had not enough memory: it may be read the next time."""


PDF, WORD, SHEET, SLIDES, OPEN, EPUB, RTF = "pdf", "word", "sheet", "slides", "open", "epub", "rtf"
KINDS: Final = {
    "application/pdf": PDF,
    "application/x-pdf": PDF,
    **{
        f"application/vnd.openxmlformats-officedocument.{name}": kind
        for name, kind in (
            ("wordprocessingml.document", WORD),
            ("wordprocessingml.template", WORD),
            ("spreadsheetml.sheet", SHEET),
            ("spreadsheetml.template", SHEET),
            ("presentationml.presentation", SLIDES),
            ("presentationml.slideshow", SLIDES),
            ("presentationml.template", SLIDES),
        )
    },
    **{
        f"application/vnd.ms-{name}.macroenabled.12": kind
        for name, kind in (("word.document", WORD), ("excel.sheet", SHEET), ("powerpoint.presentation", SLIDES))
    },
    **{
        f"application/vnd.oasis.opendocument.{name}": OPEN
        for name in ("text", "text-template", "spreadsheet", "presentation", "text-master")
    },
    "application/epub+zip": EPUB,
    "application/rtf": RTF,
}
"""By MIME type."""

encode_request = msgspec.msgpack.Encoder().encode
decode_request = msgspec.msgpack.Decoder(Request).decode
encode_found = msgspec.msgpack.Encoder().encode
decode_found = msgspec.msgpack.Decoder(Found).decode
