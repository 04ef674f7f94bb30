"""scan: the records of a WARC file in their order, and what is damaged in it. Any thread.

Damage costs the record that it is in: behind it the next one is looked for, by the magic of its compression, or by its first
line.
"""

import gzip
import os
import re
import zlib
from base64 import b32encode
from collections.abc import Callable, Iterator
from hashlib import sha1
from pathlib import Path
from typing import BinaryIO, NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecord, any_type

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failures

GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_FIRST_LINE = re.compile(rb"(?:\A|(?<=\n))WARC/[01]\.\d+\r?\n")
_ALL = int(any_type)
_BLOCK = 4_000_000  # bytes that are searched at a time
_OVERLAP = 64
_PIECE = 1_000_000
_ALL_BYTES = -1
_FEW = 16  # bytes by which a length may be too small, with the line end

Damaged = Callable[[int, str], object]
"""Told of an offset in a file, and what is wrong there."""


class Block(NamedTuple):
    """What is in a record."""

    block: bytes
    """The first bytes of it, where no more were asked for."""
    size: int = -1
    """Bytes of all of it; -1: it was not read to its end."""
    sha1: bytes = b""
    """Of all of it, where ``block`` is not all."""
    payload_sha1: bytes = b""
    """The same of what is behind the header of an answer."""


class Record(NamedTuple):
    """One record: where it is, and what `Block` says."""

    offset: int
    """Where it begins in the file: the record can be read from there."""
    headers: dict[str, str]
    block: bytes
    size: int = -1
    sha1: bytes = b""
    payload_sha1: bytes = b""

    def get(self, name: str) -> str:
        """A header, by its name in lower case; empty where it is missing."""
        return self.headers.get(name, "")


def scan(path: Path, damaged: Damaged, kinds: int = _ALL, *, most: int | None = None) -> Iterator[Record]:
    """All records that are whole, of these kinds. Raises StorageError where the file can't be read at all.

    ``most``: bytes of a block that are kept; all of it is looked at all the same.
    """
    with disk_failures(path), path.open("rb") as file:
        yield from _scan(file, damaged, kinds, most)


def read_at(file: BinaryIO, offset: int, most: int) -> Record:
    """The record that begins there, which `scan` has found whole; ``most``: bytes of its block that are read.

    Raises ValueError where it is not whole, or not any more.
    """
    file.seek(offset)
    try:
        for found in ArchiveIterator(file, parse_http=False):
            block = found.reader.read(most)
            record = Record(found.stream_pos, _headers(found), block, len(block) if len(block) < most else -1)
            if why := flaw_of(record, digest=False):
                raise ValueError(why)
            return record
    except OSError as error:
        raise ValueError(str(error)) from error
    raise ValueError("no record is there")


def is_by_record(path: Path) -> bool:
    """Whether each record can be read by itself; a file that was compressed as a whole has to be unpacked first."""
    try:
        with path.open("rb") as file:
            if file.read(3) != GZIP:
                return True
            file.seek(0)
            records = iter(ArchiveIterator(file, parse_http=False))
            next(records)
            second = next(records).stream_pos  # behind all of the first, whatever its length
            file.seek(second)
            return file.read(3) == GZIP
    except (OSError, StopIteration):
        return True


def is_wacz(path: Path) -> bool:
    """Whether it is a ZIP file, which no WARC file begins as. False for one that can't be read."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def unpack(path: Path, target: Path) -> str:
    """Undo that a file was compressed as a whole; what is wrong with it, if anything is. Raises StorageError."""
    with disk_failures(target), gzip.open(path) as packed, target.open("wb") as file:
        try:
            while piece := packed.read(_BLOCK):
                file.write(piece)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            return str(error)
    return ""


def _scan(file: BinaryIO, damaged: Damaged, kinds: int, most: int | None) -> Iterator[Record]:
    """The last record is held back till it is seen that another one, or the end, follows it."""
    at: int | None = 0
    counted = False  # the damage before ``at``
    packed = is_packed(file)
    while at is not None:
        held: Record | None = None
        before: int | None = None  # where the last record begins; one of no interest is not read
        try:
            file.seek(at)
            for found in ArchiveIterator(file, parse_http=False):
                if held is not None:
                    yield from _whole(held, damaged)
                before, held, counted = found.stream_pos, None, False
                if int(found.record_type) & kinds:
                    held = _record(found, most)
            if held is not None:
                yield from _whole(held, damaged)
            return
        except (OSError, ValueError) as error:
            last = held if held is not None or before is None else _read_again(file, before)
            if last is None:
                if not counted:
                    damaged(at if before is None else before, str(error))
                at, counted = at if before is None else before, False
            else:
                right = packed or last.get("warc-block-digest") or _has_line_behind(file, last)
                why = flaw_of(last) or ("" if right else "its length is wrong")
                counted = True  # that the next one is not found is the same damage
                damaged(last.offset if why else last.offset + 1, why or str(error))
                if held is not None and not why:
                    yield held
                at = last.offset
            at = next_start(file, at + 1)


def _read_again(file: BinaryIO, offset: int) -> Record | None:
    """The record that begins there; None where it is damaged itself."""
    file.seek(offset)
    try:
        return next((_record(found, _PIECE) for found in ArchiveIterator(file, parse_http=False)), None)
    except (OSError, ValueError):
        return None


def _has_line_behind(file: BinaryIO, record: Record) -> bool:
    """Return True if a few bytes of one line are between a block and the next record, or the end. warcio skips them, too."""
    file.seek(record.offset)
    while file.readline(_PIECE).strip():
        pass
    file.seek(int(record.get("content-length")), os.SEEK_CUR)
    line, following = file.readline(_FEW), b"\n"
    while following and not following.strip():
        following = file.readline(_OVERLAP)
    return line.endswith(b"\n") and (not following or _FIRST_LINE.match(following) is not None)


def is_packed(file: BinaryIO) -> bool:
    """Whether it is compressed."""
    file.seek(0)
    return file.read(4).startswith((GZIP, _ZSTD))


def _record(found: WarcRecord, most: int | None) -> Record:
    """``most``: bytes of the block that are kept; the rest is read as well, piece by piece."""
    return Record(found.stream_pos, _headers(found), *read_block(found.reader.read, most))


def _headers(found: WarcRecord) -> dict[str, str]:
    return {name.lower(): value for name, value in found.headers.items()}


def read_block(read: Callable[[int], bytes], most: int | None) -> Block:
    """All of a block is read, piece by piece; ``most``: bytes of it that are kept, or all."""
    block = read(_ALL_BYTES if most is None else most)
    while most is not None and len(block) < most and (piece := read(most - len(block))):  # some give what they just have
        block += piece
    if most is None or len(block) < most:
        return Block(block, len(block))
    size, digest, payload = len(block), sha1(block, usedforsecurity=False), sha1(usedforsecurity=False)
    payload.update(block[len(head_of(block)) :])
    while piece := read(_PIECE):
        size += len(piece)
        digest.update(piece)
        payload.update(piece)
    return Block(block, size, digest.digest(), payload.digest())


def head_of(block: bytes) -> bytes:
    """The header of an answer, with the empty line; empty where the block is none, all of it where it does not end."""
    if not block.startswith(b"HTTP/"):
        return b""
    crlf = block.find(b"\r\n\r\n")
    lf = block.find(b"\n\n", 0, crlf if crlf >= 0 else None)  # not through the whole body
    if crlf >= 0 and (lf < 0 or crlf < lf):
        return block[: crlf + 4]
    return block[: lf + 2] if lf >= 0 else block


def _whole(record: Record, damaged: Damaged) -> Iterator[Record]:
    why = flaw_of(record)
    if why:
        damaged(record.offset, why)
    else:
        yield record


def flaw_of(record: Record, *, digest: bool = True) -> str:
    """What is wrong with it by its own headers; empty: nothing. ``digest``: whether to look at that, too."""
    length = record.get("content-length")
    if not (length.isascii() and length.isdigit()):
        return "it does not say how long it is"
    if record.size not in (-1, int(length)):
        return "it ends too early"
    kind, _, said = record.get("warc-block-digest").partition(":")
    if digest and kind.lower() == "sha1" and len(said) == 32:
        found = b32encode(record.sha1 or sha1(record.block, usedforsecurity=False).digest()).decode()
        if found != said.upper():
            return "it has another digest than it says"
    return ""


def next_start(file: BinaryIO, after: int, magic: bytes | None = None) -> int | None:
    """Where the next record may begin; None: nowhere. ``magic``: what records begin with; None: as the file does."""
    file.seek(0)
    if magic is None:
        magic = next((each for each in (GZIP, _ZSTD) if file.read(4).startswith(each) or file.seek(0)), b"")
    place = after
    while True:
        file.seek(place)
        block = file.read(_BLOCK)
        if magic:
            hit = block.find(magic)
            while hit >= 0:
                if magic == _ZSTD or _is_member(file, place + hit):
                    return place + hit
                hit = block.find(magic, hit + 1)
        elif found := _FIRST_LINE.search(block):
            return place + found.start()
        if len(block) < _BLOCK:
            return None
        place += len(block) - _OVERLAP


def _is_member(file: BinaryIO, at: int) -> bool:
    """Bytes look like gzip by chance; a record begins with its version."""
    file.seek(at)
    try:
        return zlib.decompressobj(31).decompress(file.read(10_000), 5) == b"WARC/"
    except zlib.error:
        return False


def not_an_archive(path: Path) -> StorageError:
    """For a file in which there is no record at all."""
    return StorageError(f"{path}: no WARC record in it")
