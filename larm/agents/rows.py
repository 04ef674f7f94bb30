"""Rows of URLs as bytes: in parcels, in journals, and in queues on the disk. Pure; any thread."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from larm.agents.courier import Row
from larm.model.file_url import FILES
from larm.model.message import decode_messages, encode_messages


class _Block(msgspec.Struct, array_like=True):
    hosts: list[str]
    hops: list[int]
    messages: bytes


class Wire(msgspec.Struct, frozen=True, array_like=True):
    """A parcel as it is sent, and as it stands in the receiver's journal."""

    sender: str
    boot: int
    seq: int
    low: int
    rows: bytes


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Block)


def encode_rows(rows: Sequence[Row]) -> bytes:
    """All of a message: its referrer, kind of link, redirects, tries, depth."""
    return _encoder.encode(
        _Block([row.host for row in rows], [row.hops for row in rows], encode_messages([row.item for row in rows]))
    )


def decode_rows(block: bytes) -> list[Row]:
    """The inverse; raises msgspec.MsgspecError or ValueError for anything else."""
    found = _decoder.decode(block)
    messages = decode_messages(found.messages)
    return [Row(host, message, hops) for host, message, hops in zip(found.hosts, messages, found.hops, strict=True)]


def check_rows(rows: Sequence[Row]) -> None:
    """Of another agent. Raises ValueError for a URL whose host and path can't be told, and for files."""
    for row in rows:
        url = row.item.url
        if url.host == FILES or not url.is_one:
            raise ValueError(f"no address of a page on the web: {url.access[:200]}")
