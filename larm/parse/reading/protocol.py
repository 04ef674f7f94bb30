"""What a crawl and a process that reads pages for it say to each other: msgpack, typed, never pickle. Pure; any thread."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from larm.config import PageRules, ProcessingSettings
from larm.kit.processes.frames import LENGTH
from larm.kit.processes.helper_process import MAX_ANSWER
from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched

_OTHERS = frozenset({"documents", "by_mime"})


class Terms(msgspec.Struct, frozen=True, array_like=True):
    """Everything that the reading of pages depends on; told to each new process."""

    processing: dict[str, Any]
    """`larm.config.ProcessingSettings`, without what is about other types than HTML."""
    agent: str
    urls: tuple[bool, bool]
    """``urls.lowercase_path`` and ``urls.folder_pages``."""
    host_rules: str
    """The host resolver's file, as text."""
    files: bool
    """A start URL is a file."""
    text: bool
    """Some storage wants the text of pages."""
    page_size: int
    """``fetch.page_size``."""
    own: Sequence[str] = ()
    """MIME types that processors of the user's own read, which must not be in this process."""
    rules: dict[str, tuple[PageRules, ...]] = {}
    """For pages, by site."""
    web_roots: Sequence[str] = ()
    """See `larm.model.url.URLNormalizer`."""
    judged: bool = False
    """The crawl needs `larm.model.document.Document.measured` of its pages."""


def plain(processing: ProcessingSettings) -> dict[str, Any]:
    """Settings as `Terms` has them."""
    return {name: value for name, value in msgspec.structs.asdict(processing).items() if name not in _OTHERS}


def settings_of(terms: Terms) -> ProcessingSettings:
    """The inverse. Raises msgspec.ValidationError."""
    return msgspec.convert(terms.processing, ProcessingSettings)


class Request(msgspec.Struct, frozen=True, array_like=True):
    """Pages to be read."""

    pages: Sequence[tuple[URLMessage, Fetched]]
    terms: Terms | None = None
    """None: as before. A new process must be told."""
    seconds: float = 0.0
    """That it may take."""
    careful: bool = False
    """By html5lib, which is Python and does not crash: for a page that has ended processes."""


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """What became of them."""

    documents: Sequence[Document | None]
    """In their order; None: read it yourself, it is for others to read, its text is no UTF-8, or it is too long."""
    counts: dict[str, int] = {}
    """For the statistics."""


_LEAST, _PAGE, _MEGABYTE = 6.0, 0.5, 1.0
"""Seconds. Hostile pages are cut at a tenth of one; a megabyte of tables takes 0.35 s, of all else a tenth of that."""


def allowance(sizes: Sequence[int]) -> float:
    """Seconds that a process may take for pages of so many bytes."""
    return _LEAST + len(sizes) * _PAGE + sum(sizes) / 1_000_000 * _MEGABYTE


_PACKED = 12_000_000
"""Bytes that gzip stands for: HTML is cut where it is as large as a page may be by default, XML of 50 MB takes as long."""


def sizes_of(pages: Iterable[tuple[object, Fetched]]) -> list[int]:
    """Bytes of each page, for who wants to know how long it may take."""
    return [_PACKED if fetched.body.startswith(b"\x1f\x8b") else len(fetched.body) for _, fetched in pages]


_encoder = msgspec.msgpack.Encoder()
_requests = msgspec.msgpack.Decoder(Request)
_replies = msgspec.msgpack.Decoder(Reply)


def encode_request(request: Request, room: bytearray) -> None:
    """One frame, in place of what is in ``room``. Raises UnicodeEncodeError for lone surrogates in a header."""
    _encoder.encode_into(request, room)


def decode_request(frame: bytes | memoryview) -> Request:
    """The inverse; raises msgspec.DecodeError."""
    return _requests.decode(frame)


def encode_reply(reply: Reply, room: bytearray, longest: int = MAX_ANSWER - LENGTH) -> None:
    """Write one frame, without documents that can't be told; nor one that has too many bytes for an answer.

    Raises MemoryError where several have: each of them is told alone then.
    """
    try:
        _encoder.encode_into(reply, room)
    except UnicodeEncodeError:
        _encoder.encode_into(Reply([_telling(document) for document in reply.documents], reply.counts), room)
    if len(room) > longest:
        if len(reply.documents) > 1:
            raise MemoryError(f"an answer of {len(room)} bytes")
        _encoder.encode_into(Reply([None] * len(reply.documents)), room)


def decode_reply(frame: bytes | bytearray | memoryview) -> Reply:
    """The inverse; raises msgspec.DecodeError."""
    return _replies.decode(frame)


def _telling(document: Document | None) -> Document | None:
    try:
        _encoder.encode(document)
    except UnicodeEncodeError:
        return None
    return document
