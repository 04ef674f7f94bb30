"""Squeezed: how bodies of items are written, and how those of strangers are read within bounds. Pure."""

from __future__ import annotations

import zlib
from typing import TypeVar

import msgspec

from larm.kit.decoding import decoded_msgpack

T = TypeVar("T")


def squeeze(value: msgspec.Struct) -> bytes:
    """The same for the same value."""
    return zlib.compress(msgspec.msgpack.encode(value), 6)


def read_squeezed(data: bytes, kind: type[T], most: int) -> T:
    """``most``: bytes that it may become. Raises ValueError."""
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(data, most)
        if not unpacker.eof:
            raise ValueError("it is too large, or cut off")
        return decoded_msgpack(raw, kind)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from error
