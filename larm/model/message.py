"""URLMessage: one URL on its way through the river.

Immutable. Born when a link is found (or a start URL is given), it passes the filters, waits in its host's queue, is leased to
a fetcher and ends in an outcome. A retry or a redirect is a new message.
"""

import zlib
from collections.abc import Mapping, Sequence

import msgspec

from larm.kit.squash import zstd
from larm.model.crawl_hash import digest
from larm.model.restriction import UNKNOWN as NOT_NOTED
from larm.model.url import Url, fingerprint_of

START = "<start>"
"""The referrer of start URLs (LARM-89)."""

ORDINARY, FRAME, REDIRECT, SITEMAP = 0, 1, 2, 3
"""Link types (LARM-90). A sitemap lists URLs of the crawl, and may be out of scope itself."""
BY_ROBOTS, LISTED = 4, 8
"""Added to SITEMAP in messages: robots.txt names it, or the index that lists it; an index lists it. Its redirects keep both."""


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
    restricted: int = NOT_NOTED
    """Why strangers could not have had the page: bits of `larm.model.restriction`."""
    tag: int = 0
    """`tag_of` the response."""

    @property
    def conditional(self) -> bool:
        """True if the request asks whether the page has changed."""
        return bool(self.etag or self.last_modified)


UNKNOWN = Known("", "", 0)
"""Of what is revisited, and was no page yet."""
LOST = Known("", "", 0, -1)
"""The same of one that was lost with the agent that had it (`larm.cluster.search_again`); no text has this number."""


def as_whole(known: Known) -> Known:
    """To ask for a page that there is without conditions, and read it whatever it is."""
    return Known("", "", -abs(known.digest), known.text, known.restricted, known.tag) if known.digest else UNKNOWN


def tag_of(headers: Mapping[str, str]) -> int:
    """Return 63 bits over what the response header asks of crawlers, which may change while the body stays; 0: nothing."""
    value = headers.get("x-robots-tag", "")
    return digest(value.encode("utf-8", "replace")) if value else 0


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
    chain: tuple[int, ...] = ()
    """Fingerprints of the redirects in a row that led here."""
    tried: tuple[int, ...] = ()
    """Numbers of the spellings of this page that failed (`Url.spelling`)."""

    @property
    def is_sitemap(self) -> bool:
        """True for a sitemap that robots.txt, a page or an index names."""
        return self.link_type & SITEMAP == SITEMAP

    @property
    def failed(self) -> bool:
        """True if this is a request that failed, and another spelling of the page may get its turn."""
        return bool(self.tried) and self.url.spelling == self.tried[-1]


class _Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A message on the disk. Most URLs are normal as they are; these are written once."""

    access: str
    normalised: str | None
    host: str
    fingerprint: int
    referrer: str
    link_type: int
    depth: int
    redirects: int = 0
    tries: int = 0
    known: Known | None = None
    standing: Standing | None = None
    stale: bool = False
    released: bool = False
    chain: tuple[int, ...] = ()
    tried: tuple[int, ...] = ()


_ORDINARY = list(msgspec.structs.astuple(URLMessage(Url("", "", "", 0)))[4:])
"""What most messages are, behind their depth."""
_LONG = 200
"""Bytes."""
_EMPTY = b"\x90"
"""What a list of none is: most queues of most hosts are empty."""
_FRAME = b"\x28"
"""The first byte of a block that zstd packed; no list of msgpack begins with it."""
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[_Row])
_row_decoder = msgspec.msgpack.Decoder(_Row)
_WORDS = (
    b"&page=?id=.pdf.jpg/wp-content/uploads/index.php?/category//articles//products//archive//about/contact/tag//blog//news/"
    b".php.aspx.htm.html/en/de/fr/.de/.co.uk/.net/.org/.com/http://https://www."
)
"""With others, what is on disks could not be read."""
_BITS = 10
"""Of the window, a kilobyte, as less is made ready in less time."""
_COMPUTED = -1
"""In place of a fingerprint that is that of the normalised form."""
_packer = zstd.ZstdCompressor(
    options={zstd.CompressionParameter.compression_level: -1, zstd.CompressionParameter.checksum_flag: 1}
)
"""A tenth of zlib's time: a host's row is written again with each few URLs that are found of it. It keeps its memory from one
frame to the next, and has a lock of its own for that."""


def encode_messages(messages: Sequence[URLMessage]) -> bytes:
    """A block of messages as msgpack: some 130 bytes a message."""
    return _encoder.encode([_row(message) for message in messages])


def decode_messages(block: bytes) -> list[URLMessage]:
    """The inverse of `encode_messages`; raises msgspec.DecodeError or UnicodeDecodeError on a damaged block."""
    return [_message(row) for row in _decoder.decode(block)]


def pack_messages(messages: Sequence[URLMessage]) -> bytes:
    """As `encode_messages`, for our own disk: a third of that where it is long, as URLs of a host begin alike."""
    block = encode_messages(messages) if messages else _EMPTY
    return _packer.compress(block, zstd.ZstdCompressor.FLUSH_FRAME) if len(block) > _LONG else block


def unpack_messages(block: bytes) -> list[URLMessage]:
    """The inverse of `pack_messages`; raises as `decode_messages`.

    Not for what others send: it may be very long.
    """
    try:
        if block[:1] == _FRAME:
            block = zstd.decompress(block)
    except zstd.ZstdError as error:
        raise msgspec.DecodeError(f"damaged block: {error}") from error
    return decode_messages(block) if block != _EMPTY else []


def pack_message(message: URLMessage) -> bytes:
    """One alone, for our own disk: some 75 bytes, without what can be found out and with the words that URLs are full of."""
    url, referrer, link_type, depth, *rest = msgspec.structs.astuple(message)
    named = "" if host_in(url.access) == url.host else url.host
    fingerprint = _COMPUTED if fingerprint_of(url.normalised) == url.fingerprint else url.fingerprint
    row = [url.access, None if url.normalised == url.access else url.normalised, named, fingerprint, referrer, link_type, depth]
    if rest != _ORDINARY:
        row += rest
    packer = zlib.compressobj(1, zlib.DEFLATED, -_BITS, 1, zlib.Z_DEFAULT_STRATEGY, _WORDS)
    return packer.compress(_encoder.encode(row)) + packer.flush()


def unpack_message(data: bytes) -> URLMessage:
    """The inverse; raises msgspec.DecodeError or UnicodeDecodeError on damage."""
    try:
        row = _row_decoder.decode(zlib.decompressobj(-_BITS, _WORDS).decompress(data))
    except zlib.error as error:
        raise msgspec.DecodeError(f"damaged message: {error}") from error
    fingerprint = row.fingerprint if row.fingerprint != _COMPUTED else fingerprint_of(row.normalised or row.access)
    return _message(msgspec.structs.replace(row, host=row.host or host_in(row.access), fingerprint=fingerprint))


def host_in(access: str) -> str:
    """Return the host and port that an access form names; of most URLs this is `Url.host`."""
    return access.partition("://")[2].partition("/")[0]


def _row(message: URLMessage) -> _Row:
    url, *rest = msgspec.structs.astuple(message)
    return _Row(url.access, None if url.normalised == url.access else url.normalised, url.host, url.fingerprint, *rest)


def _message(row: _Row) -> URLMessage:
    access, normalised, host, fingerprint, *rest = msgspec.structs.astuple(row)
    return URLMessage(Url(access, access if normalised is None else normalised, host, fingerprint), *rest)
