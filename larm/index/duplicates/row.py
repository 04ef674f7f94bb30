"""AliasRow: what the table of aliases keeps of a page, as bytes and back. Pure."""

import msgspec
import xxhash

from larm.errors import REPAIR, StorageError
from larm.kit.squash import zstd
from larm.model.document import Visit
from larm.model.links import NONE


class AliasRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One page."""

    key: int
    """Fingerprint of its URL."""
    access: str
    digest: int
    """Its `larm.model.crawl_hash.page_hash`, or what stands for it where a page of HTML has no text; 0: a file without text."""
    simhash: int
    sketch: bytes
    """Empty where the text has no features."""
    bands: tuple[int, ...]
    canonical: int = 0
    """Fingerprint of the address that it names as its canonical one; 0: none."""
    visit: bytes = b""
    """Of an alias, and of what may become one, `pack`: to be indexed when it takes over."""
    features: int = 0
    """Number of those of the main text."""
    letter: int = 0
    """`letter_hash` of its title and texts."""
    group: int = 0
    """``digest`` of the page that this one is nearly the same as, though it leads; 0: of none. Both are one search result."""
    head: int = 0
    """Fingerprint of that page's URL."""

    @property
    def exact(self) -> tuple[int, ...]:
        """The mark by which pages of the same text are found."""
        return (self.digest >> 1,) if self.digest else ()


def same_text(row: AliasRow, other: AliasRow) -> bool:
    """They say the same to the letter. To ``digest``, by which they are found, ``==`` and ``!=``, or ``1 23`` and ``12 3``, are
    the same."""
    return row.digest == other.digest != 0 and row.letter == other.letter and row.sketch == other.sketch


def letter_hash(*texts: str) -> int:
    """63 bits over all but white space, and, of short texts, over where there is some; of long ones the sketch knows it."""
    hashed = xxhash.xxh3_64()
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        hashed.update(b" ".join(encoded.split()) if len(encoded) <= _SHORT else encoded.translate(None, _WHITE))
        hashed.update(b"\0")
    return hashed.intdigest() >> 1


_SHORT = 1500  # bytes
_WHITE = bytes(range(9, 14)) + b" "
_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(AliasRow)
_visits = msgspec.msgpack.Decoder(tuple[int, Visit])


def encode_row(row: AliasRow) -> bytes:
    """The bytes of a row."""
    return _encode(row)


def decode_row(data: bytes) -> AliasRow:
    """The inverse. Raises StorageError on damage."""
    try:
        return _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"the record of an alias is damaged ({error}); {REPAIR}") from error


def pack(visit: Visit) -> bytes:
    """The visit without its body, of which the size remains, and its links, small."""
    document = visit.document and msgspec.structs.replace(visit.document, links=NONE)
    kept = msgspec.structs.replace(visit, links=NONE, body=b"", document=document, fingerprint=None)
    try:
        return zstd.compress(_encode((len(visit.body), kept)), level=1)
    except UnicodeEncodeError:  # lone surrogates, which no field of an index can hold either
        kept = msgspec.convert(_encodable(msgspec.to_builtins(kept)), Visit)
        return zstd.compress(_encode((len(visit.body), kept)), level=1)


def unpack(data: bytes) -> Visit:
    """The inverse; what was revisited or gone is no more. Raises StorageError on damage."""
    try:
        size, visit = _visits.decode(zstd.decompress(data))
    except (zstd.ZstdError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"the document of an alias is damaged ({error}); {REPAIR}") from error
    return msgspec.structs.replace(visit, body=bytes(size), revisited=True)  # so that what the index may have of it is replaced


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(each) for key, each in value.items()}
    return [_encodable(each) for each in value] if isinstance(value, list | tuple) else value
