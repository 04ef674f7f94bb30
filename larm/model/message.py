"""URLMessage: one URL on its way through the river.

Immutable. Born when a link is found (or a start URL is given), it passes the filters, waits in its host's queue, is leased to
a fetcher and ends in an outcome. A retry or a redirect is a new message.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import msgspec

from larm.model.url import Url

START = "<start>"
"""The referrer of start URLs (LARM-89)."""

ORDINARY, FRAME, REDIRECT = 0, 1, 2
"""Link types (LARM-90)."""


class Known(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What an earlier visit learned of a page, to ask whether it has changed (LARM-121)."""

    etag: str
    """Sent as If-None-Match where not empty."""
    last_modified: str
    """Sent as If-Modified-Since where not empty."""
    digest: int
    """63 bits of XXH3 over the body: for servers that answer 200 whatever one asks. Less than 0: the same, but it is to be read
    even where it is the same (`as_whole`); 0: there is no page yet."""
    text: int = 0
    """The same over what a reader sees, as sites change their markup more often than their words; 0: not known."""


UNKNOWN = Known("", "", 0)
"""Of what is revisited, and was no page yet."""
LOST = Known("", "", 0, -1)
"""The same of one that was lost with the agent that had it (`larm.agents.search_again`); no text has this number."""


def as_whole(known: Known) -> Known:
    """To ask for a page that there is without conditions, and read it whatever it is."""
    return Known("", "", -abs(known.digest), known.text) if known.digest else UNKNOWN


class Standing(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What an order must know of a URL on its way: that of host budgets (YIOOP-42 to 44) all of it, that by PageRank a tier."""

    index: int = 0
    """Place of the link among those of its page; the weight of the page that it leads to."""
    weight: int = 0
    """Of the page with the link."""
    tier: int = 0
    """Of the page with the link; of the URL itself, once it has been filed."""


class URLMessage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One URL and how it was found (LARM-43)."""

    url: Url
    referrer: str = START
    """Access URL of the page with the first link to this URL."""
    link_type: int = ORDINARY
    depth: int = 0
    """Links followed from a start URL; a redirect does not count."""
    redirects: int = 0
    """Redirects in a row that led here (LARM-17)."""
    tries: int = 0
    """Fetches of this URL that failed so far."""
    known: Known | None = None
    """Set where the page is revisited."""
    standing: Standing | None = None
    """Only where the crawl's order needs it."""
    stale: bool = False
    """The page with the link said nothing that was new."""
    released: bool = False
    """It was held back for the pattern of its address, and now goes on."""


class _Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A message on the disk. Most URLs are normal as they are; these are written once."""

    access: str
    normalised: str | None
    host: str
    fingerprint: int
    referrer: str
    link_type: int
    depth: int
    redirects: int
    tries: int
    known: Known | None
    standing: Standing | None = None
    stale: bool = False
    released: bool = False


_LONG = 200
"""Bytes."""
_EMPTY = b"\x90"
"""What a list of none is: most queues of most hosts are empty."""
_PACKED = b"\x78"
"""What zlib begins with, and no list of msgpack does."""
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[_Row])
_row_decoder = msgspec.msgpack.Decoder(_Row)
_WINDOW = 10
"""Bits: a kilobyte, as less is made ready in less time."""
_WORDS = (
    b"&page=?id=.pdf.jpg/wp-content/uploads/index.php?/category//articles//products//archive//about/contact/tag//blog//news/"
    b".php.aspx.htm.html/en/de/fr/.de/.co.uk/.net/.org/.com/http://https://www."
)
"""With others, what is on disks could not be read."""


def encode_messages(messages: Sequence[URLMessage]) -> bytes:
    """A block of messages as msgpack: some 130 bytes a message."""
    return _encoder.encode([_row(message) for message in messages])


def decode_messages(block: bytes) -> list[URLMessage]:
    """The inverse of `encode_messages`; raises msgspec.DecodeError or UnicodeDecodeError on a damaged block."""
    return [_message(row) for row in _decoder.decode(block)]


def pack_messages(messages: Sequence[URLMessage]) -> bytes:
    """As `encode_messages`, for our own disk: a third of that where it is long, as URLs of a host begin alike."""
    block = encode_messages(messages) if messages else _EMPTY
    return zlib.compress(block, 1) if len(block) > _LONG else block


def unpack_messages(block: bytes) -> list[URLMessage]:
    """The inverse of `pack_messages`, and of `encode_messages`, as earlier larms wrote them; raises as `decode_messages`.

    Not for what others send: it may be very long.
    """
    if block[:1] != _PACKED:
        return decode_messages(block) if block != _EMPTY else []
    try:
        return decode_messages(zlib.decompress(block))
    except zlib.error as error:
        raise msgspec.DecodeError(f"damaged block: {error}") from error


def pack_message(message: URLMessage) -> bytes:
    """One alone, for our own disk: some 90 bytes. Its words are those that URLs are full of; its host is that of its address,
    if there is no rule for it."""
    url, *rest = msgspec.structs.astuple(message)
    named = "" if _named(url.access) == url.host else url.host
    row = _Row(url.access, None if url.normalised == url.access else url.normalised, named, url.fingerprint, *rest)
    packer = zlib.compressobj(1, zlib.DEFLATED, -_WINDOW, 1, zlib.Z_DEFAULT_STRATEGY, _WORDS)
    return packer.compress(_encoder.encode(row)) + packer.flush()


def unpack_message(data: bytes) -> URLMessage:
    """The inverse; raises msgspec.DecodeError or UnicodeDecodeError on damage."""
    try:
        row = _row_decoder.decode(zlib.decompressobj(-_WINDOW, _WORDS).decompress(data))
    except zlib.error as error:
        raise msgspec.DecodeError(f"damaged message: {error}") from error
    return _message(row if row.host else msgspec.structs.replace(row, host=_named(row.access)))


def _named(access: str) -> str:
    return access.partition("://")[2].partition("/")[0]


def _row(message: URLMessage) -> _Row:
    url, *rest = msgspec.structs.astuple(message)
    return _Row(url.access, None if url.normalised == url.access else url.normalised, url.host, url.fingerprint, *rest)


def _message(row: _Row) -> URLMessage:
    access, normalised, host, fingerprint, *rest = msgspec.structs.astuple(row)
    return URLMessage(Url(access, access if normalised is None else normalised, host, fingerprint), *rest)
