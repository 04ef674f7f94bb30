"""Block: the links of some hundred pages, as the journal keeps them; `BlockBuilder` makes one, page by page.

A site's pages repeat each other's links, so a block has each target and each anchor text once, and a link is two numbers:
some ten bytes. Made by the graph storage on its writer thread; read by `larm.graph.refresh` and `larm.graph.reader`.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import compress, count
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from larm.errors import REPAIR, StorageError
from larm.kit.disk.disk_failure import disk_failure
from larm.model.document import Visit
from larm.model.links import NONE, Links
from larm.model.message import REDIRECT
from larm.model.url import Url

T = TypeVar("T")

PAGE, MOVED, GONE = 0, 1, 2
"""What a row says: these are the page's links; it redirects to its one link; forget it. The last row of an address counts."""

_HEAD = struct.Struct("<4sII")
"""Magic, length of the rest, its CRC-32."""
_MAGIC = b"LGB1"  # the digit is the version of the format
_LONGEST = 1 << 31
"""Bytes; a block is a few hundred thousand."""


class Block(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Columns. Those of rows: kinds, pages, urls, counts. Those of links, row by row: targets, anchors."""

    kinds: bytes
    """A byte each."""
    pages: bytes
    """Fingerprints, uint64."""
    urls: bytes
    """Access forms, a line each."""
    counts: bytes
    """Links of each row, uint32."""
    nodes: bytes
    """Fingerprints of all targets, uint64."""
    texts: bytes
    """All anchor texts, a line each, UTF-8."""
    targets: bytes
    """Places in ``nodes``, uint32."""
    anchors: bytes
    """Places in ``texts``, uint32."""


class Rows(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A block, of which only is read what its rows are."""

    kinds: bytes
    pages: bytes


class Stored(msgspec.Struct, frozen=True):
    """A block and where it stands."""

    offset: int
    end: int
    block: Block


_decoder = msgspec.msgpack.Decoder(Block)
_row_decoder = msgspec.msgpack.Decoder(Rows)


def _numbered() -> defaultdict[Any, int]:
    """Give each new key the next number."""
    return defaultdict(count().__next__)


class BlockBuilder:
    """Collects visits. Only the writer thread. Measured: 20 us for a page of a hundred links."""

    def __init__(self) -> None:
        # only the writer thread
        self._kinds = bytearray()
        self._pages = array("Q")
        self._urls: list[str] = []
        self._counts = array("I")
        self._nodes: dict[int, int] = _numbered()
        self._texts: dict[str, int] = _numbered()
        self._targets = array("I")
        self._anchors = array("I")

    def add(self, visit: Visit) -> None:
        """Note what the visit says of the graph; nothing for start URLs and for pages that could not be had.

        Only links that are followed: rel=nofollow is no recommendation, and an image no page.
        """
        url = visit.url
        if url is None:
            return
        if visit.document is not None:
            self._row(PAGE, url, visit.links)
        elif visit.gone:
            self._row(GONE, url, NONE)
        elif visit.links and visit.links[0].link_type == REDIRECT:
            self._row(MOVED, url, visit.links)

    def _row(self, kind: int, url: Url, links: Links) -> None:
        nodes, texts = self._nodes, self._texts
        targets = links.followed()
        self._targets.fromlist([nodes[target] for target in targets])
        self._anchors.fromlist([texts[anchor] for anchor in links.anchors.split("\n")] if targets else [])
        self._kinds.append(kind)
        self._pages.append(url.fingerprint)
        self._urls.append(url.access)
        self._counts.append(len(targets))

    @property
    def size(self) -> int:
        """Bytes that the block will have, roughly."""
        return 8 * len(self._targets) + 80 * len(self._pages)

    def encode(self) -> bytes:
        """The block with its head; empty where there is nothing to say. The builder is then empty again."""
        if not self._kinds:
            return b""
        block = Block(
            bytes(self._kinds),
            _packed(self._pages),
            _lines(self._urls),
            _packed(self._counts),
            _packed(array("Q", self._nodes)),
            _lines(list(self._texts)),
            _packed(self._targets),
            _packed(self._anchors),
        )
        self.__init__()  # type: ignore[misc]
        return stored(block)


def stored(block: Block | None) -> bytes:
    """A block with its head; empty for none."""
    if block is None:
        return b""
    payload = msgspec.msgpack.encode(block)
    return _HEAD.pack(_MAGIC, len(payload), zlib.crc32(payload)) + payload


def without(block: Block, rows: Sequence[bool]) -> Block | None:
    """The block with those of its rows that are true, and what these need; None for none of them."""
    counts, pages = numbers("I", block.counts), numbers("Q", block.pages)
    links = [kept for kept, count in zip(rows, counts, strict=True) for _ in range(count)]
    nodes, targets = _renumbered(numbers("Q", block.nodes), compress(numbers("I", block.targets), links))
    texts, anchors = _renumbered(block.texts.split(b"\n"), compress(numbers("I", block.anchors), links))
    return (
        Block(
            bytes(compress(block.kinds, rows)),
            _packed(array("Q", compress(pages, rows))),
            b"\n".join(compress(block.urls.split(b"\n"), rows)),
            _packed(array("I", compress(counts, rows))),
            _packed(array("Q", nodes)),
            b"\n".join(texts),
            _packed(targets),
            _packed(anchors),
        )
        if any(rows)
        else None
    )


def _renumbered(known: Sequence[T], places: Iterable[int]) -> tuple[list[T], array[int]]:
    """Those of the known that are at the places, each once, and where each is among them."""
    found: dict[int, int] = _numbered()
    numbers = array("I", [found[place] for place in places])
    return [known[place] for place in found], numbers


def numbers(kind: str, packed: bytes) -> array[int]:
    """The inverse of `_packed`."""
    found = array(kind, packed)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def read_block(file: int, offset: int, end: int, path: Path) -> Stored:
    """The block at ``offset`` of a journal, which is valid up to ``end``; ``file`` is its descriptor. Raises StorageError."""
    try:
        head = os.pread(file, _HEAD.size, offset)
        magic, length, checksum = _HEAD.unpack(head)
        stop = offset + _HEAD.size + length
        if magic != _MAGIC or stop > end or length > _LONGEST:
            raise ValueError("no block begins there")
        payload = os.pread(file, length, offset + _HEAD.size)
        if zlib.crc32(payload) != checksum:
            raise ValueError("its checksum is wrong")
        return Stored(offset, stop, _decoder.decode(payload))
    except (OSError, ValueError, struct.error, msgspec.MsgspecError) as error:
        raise damaged(path, offset, error) from error


def last_kinds(path: Path, offset: int) -> dict[int, int]:
    """What the last row of each page says, by fingerprint, of the blocks from ``offset`` on; the last may be half written.

    For counting: checksums are not looked at. Raises StorageError.
    """
    found: dict[int, int] = {}
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return found
    except OSError as error:
        raise disk_failure(path, error) from error
    try:
        while len(head := os.pread(file, _HEAD.size, offset)) == _HEAD.size:
            magic, length, _ = _HEAD.unpack(head)
            payload = os.pread(file, length, offset + _HEAD.size) if magic == _MAGIC and length <= _LONGEST else b""
            if len(payload) < length:  # a part of it is still to be written
                break
            rows = _row_decoder.decode(payload)
            found.update(zip(memoryview(rows.pages).cast("Q"), rows.kinds, strict=False))
            offset += _HEAD.size + length
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise damaged(path, offset, error) from error
    finally:
        os.close(file)
    return found


def damaged(path: Path, offset: int, error: Exception) -> StorageError:
    """What is wrong with a block of a journal, and what to do."""
    return StorageError(f"{path}: the block at {offset:,} is damaged ({error}); {REPAIR}")


def check_journal(path: Path, end: int) -> None:
    """Read all blocks of a journal up to ``end``: 1 GB a second. Raises StorageError where one is damaged."""
    if not end:
        return
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise StorageError(f"{path}: it was removed; put it back as it was, or {REPAIR}") from error
    except OSError as error:
        raise disk_failure(path, error) from error
    try:
        offset = 0
        while offset < end:
            offset = read_block(file, offset, end, path).end
    finally:
        os.close(file)


def _packed(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _lines(texts: list[str]) -> bytes:
    """One line each: a text with a line break in it, as only processors of users make them, loses it."""
    data = "\n".join(texts)
    if data.count("\n") != len(texts) - 1:
        data = "\n".join([" ".join(text.split("\n")) for text in texts])
    return data.encode("utf-8", "replace")
