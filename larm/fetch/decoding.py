"""decode: what the Content-Encoding of a body says was done to it is undone, within a bound. Pure; any thread.

libcurl could do that, too. It hands out a gzip that was cut short without a word, refuses one of several members, and which
encodings it knows depends on how it was built. What can be read is read, as browsers do; what was wrong with it is told.
"""

import re
import sys
import zlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import brotli

from larm.kit.squash import zstd

_MOST_LAYERS = 5  # of encodings; nobody needs more than two
_SLICE, _LITTLE = 1 << 16, 1 << 8  # bytes that are read at a time: at most, and of a part behind another
_NOTHING = frozenset(("", "identity", "none", "7bit", "8bit", "binary"))
_CHARSET = re.compile(r"utf-?\d|iso[-_]?\d|windows-\d|cp\d|us-ascii$|ascii$|latin-?\d|koi8|euc-|shift[-_]jis|big5|gb[k\d]")
"""Sent as a content encoding by servers that are set up wrong; browsers take the body as it is."""
_OTHERS = frozenset(("aes128gcm", "bzip2", "compress", "dcb", "dcz", "exi", "lzma", "sdch", "x-bzip2", "x-compress", "xz"))
"""Encodings that there are, which larm does not ask for."""
_NO_TEXT = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HEAD = 1_000  # bytes that tell text from what is packed
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_OPTIONS = {int(zstd.DecompressionParameter.window_log_max): 23}  # 8 MB, the most that a server may ask for (RFC 9659)


class CantDecode(ValueError):  # noqa: N818
    """Nothing of the body can be read; ``str()`` says why."""


class _TooShort(CantDecode):
    """It ends before anything can be read."""


class Decoded(NamedTuple):
    """A body."""

    body: bytes
    truncated: bool = False
    """It is longer, or should be."""
    flaw: str = ""
    """What is wrong with it, though it could be read; one line."""


def decode(codings: str, raw: bytes, limit: int, *, cut: bool = False) -> Decoded:
    """``raw`` as it was before ``codings``, the value of a Content-Encoding header; at most ``limit`` bytes of it.

    ``cut``: we have stopped reading, so it is no flaw that the end is missing. Raises CantDecode.

    A body of no bytes is one of no bytes, whatever it says of itself. What nobody knows, or is said of a text that is none
    the less there to be read, does nothing, as in browsers.
    """
    names = [name for part in codings.lower().split(",") if not _does_nothing(name := part.partition(";")[0].strip())]
    if len(names) > _MOST_LAYERS:
        raise CantDecode(f"{len(names)} content encodings, one over the other")
    found = Decoded(raw, cut)
    for name in reversed(names):
        if found.body:
            inner = _undone(name, found.body, limit)
            flaw = found.flaw if found.truncated else found.flaw or inner.flaw
            found = Decoded(inner.body, found.truncated or inner.truncated, flaw)
    if len(found.body) > limit:
        return Decoded(found.body[:limit], truncated=True, flaw=found.flaw)
    return found


def _undone(name: str, data: bytes, limit: int) -> Decoded:
    """One layer."""
    undo = _DECODERS.get(name)
    if undo is None:
        if name in _OTHERS and _NO_TEXT.search(data, 0, _HEAD):
            raise CantDecode(f"content encoding {name!r}, which was not asked for")
        return Decoded(data, flaw=f"unknown content encoding {name[:40]!r}")
    try:
        return undo(data, limit)
    except _TooShort:
        raise
    except CantDecode:
        if _NO_TEXT.search(data, 0, _HEAD):
            raise
        return Decoded(data, flaw=f"no {name}, though it is said to be")


def _does_nothing(name: str) -> bool:
    """Whether it says only that the body is as it is, or what should stand elsewhere: an encoding of text, or one of mails."""
    return name in _NOTHING or _CHARSET.match(name) is not None


def _gzip(data: bytes, limit: int) -> Decoded:
    """All members (RFC 1952 2.2)."""
    try:
        return _parts(data, limit, _GZIP)
    except zlib.error as error:
        return _unchecked(data[_gzip_header(data) :], limit, "gzip", error)


def _zstd(data: bytes, limit: int) -> Decoded:
    """All frames (RFC 8878 3)."""
    try:
        return _parts(data, limit, _ZSTD)
    except zstd.ZstdError as error:
        raise CantDecode(f"broken zstd: {error}") from error


class _Format(NamedTuple):
    """What may consist of parts, each complete in itself."""

    name: str
    magic: bytes
    begin: Callable[[], Any]
    failure: type[Exception]
    most: int = sys.maxsize
    """Parts that are read, or one for each 200 bytes of the limit: a larger one reads more. A part of gzip takes 1.4 us, so
    that 20 MB of parts that hold nothing take 1.4 s; one of zstd 10."""


_GZIP = _Format("gzip", _GZIP_MAGIC, lambda: zlib.decompressobj(31), zlib.error)
_ZSTD = _Format("zstd", b"\x28\xb5\x2f\xfd", lambda: zstd.ZstdDecompressor(options=_ZSTD_OPTIONS), zstd.ZstdError, 100_000)


def _parts(data: bytes, limit: int, form: _Format) -> Decoded:
    """Parts that begin with its magic, one behind the other; what follows that is none is ignored.

    Raises its failure where the first one is broken. Read a slice at a time, as what is behind the end of a part is copied; a
    body may be millions of parts that hold nothing.
    """
    pieces: list[bytes] = []
    whole, size, room, at = 0, _SLICE, limit + 1, 0
    while True:
        part = form.begin()
        while not part.eof and at < len(data):
            piece = data[at : at + size]
            at += len(piece)
            try:
                pieces.append(part.decompress(piece, room))
            except form.failure:
                if not whole:
                    raise
                return Decoded(b"".join(pieces), flaw=f"a later part of the {form.name} is broken")
            size = min(2 * size, _SLICE)
            room -= len(pieces[-1])
            if room <= 0:
                return Decoded(b"".join(pieces), truncated=True)
        if not part.eof:
            return _short(b"".join(pieces), form.name)
        whole, size = whole + 1, _LITTLE
        at -= len(part.unused_data)
        if not data.startswith(form.magic, at):
            return Decoded(b"".join(pieces))
        if whole >= max(form.most, limit // 200):
            return Decoded(b"".join(pieces), truncated=True)


def _deflate(data: bytes, limit: int) -> Decoded:
    """With the header that it should have (RFC 9110 8.4.1.2), or without, as some servers send it."""
    stream = zlib.decompressobj(15)
    try:
        body = stream.decompress(data, limit + 1)
    except zlib.error as error:
        if "header" not in str(error):
            return _unchecked(data[2:], limit, "deflate", error)
        bare = zlib.decompressobj(-15)
        body = _inflated(bare, data, limit)
        if not bare.eof and len(body) <= limit:  # bytes by chance look like deflate for a while
            raise CantDecode(str(error)) from error
        return Decoded(body)
    return Decoded(body) if stream.eof or len(body) > limit else _short(body, "deflate")


def _unchecked(data: bytes, limit: int, name: str, error: zlib.error) -> Decoded:
    """A deflate stream without what is around it, where no more than its check sum is wrong."""
    if "check" not in str(error) or "header" in str(error):
        raise CantDecode(str(error)) from error
    return Decoded(_inflated(zlib.decompressobj(-15), data, limit), flaw=f"the check sum of the {name} is wrong")


def _inflated(stream: Any, data: bytes, limit: int) -> bytes:
    try:
        return bytes(stream.decompress(data, limit + 1))
    except zlib.error as error:
        raise CantDecode(str(error)) from error


def _gzip_header(data: bytes) -> int:
    """Its length (RFC 1952 2.3); that of the whole data where it does not end."""
    if len(data) < 10 or not data.startswith(_GZIP_MAGIC) or data[2] != 8:
        return len(data)
    flags, at = data[3], 10
    if flags & 4:
        at += 2 + int.from_bytes(data[10:12], "little")
    for flag in (8, 16):
        if flags & flag:
            at = data.find(b"\0", at) + 1 or len(data)
    return at + (2 if flags & 2 else 0)


def _brotli(data: bytes, limit: int) -> Decoded:
    stream: Any = brotli.Decompressor()
    try:
        body = bytes(stream.process(data, output_buffer_limit=limit + 1))
    except brotli.error as error:
        raise CantDecode("broken brotli") from error
    return Decoded(body) if stream.is_finished() or len(body) > limit else _short(body, "brotli")


def _short(body: bytes, name: str) -> Decoded:
    if not body:
        raise _TooShort(f"the {name} ends before anything can be read")
    return Decoded(body, truncated=True, flaw=f"the {name} ends too early")


_DECODERS: Final[dict[str, Callable[[bytes, int], Decoded]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
