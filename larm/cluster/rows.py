"""Rows of URLs as bytes: in parcels, in journals, and in queues on the disk. Pure; any thread."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from larm.cluster.courier import Row
from larm.model.file_url import FILES
from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.model.url import Url


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


def check_rows(rows: Sequence[Row], parse: Callable[[str], Url], key: Callable[[str], str]) -> None:
    """Of another agent. ``parse`` and ``key``: see `larm.cluster.terms.Doors`. Raises ValueError."""
    check_addresses([row.item for row in rows], parse)
    for row in rows:
        if row.host != key(row.item.url.host) or row.hops < 0:
            raise ValueError(f"not the host of {row.item.url.access[:200]}: {row.host[:200]}")


def check_addresses(messages: Iterable[URLMessage], parse: Callable[[str], Url]) -> None:
    """A host that another name stands for, or the fingerprint of another address, would keep pages from being fetched.

    Raises ValueError; also for files, and for numbers that no crawl counts up to.
    """
    for message in messages:
        url = message.url
        if url.host == FILES or not url.is_one:
            raise ValueError(f"no address of a page on the web: {url.access[:200]}")
        if parse(url.access) != url:
            raise ValueError(f"host and fingerprint are not those of {url.access[:200]}")
        if not min(message.depth, message.redirects, message.tries) >= 0:
            raise ValueError(f"depth, redirects and tries of {url.access[:200]} are none")
