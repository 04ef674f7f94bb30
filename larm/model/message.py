"""URLMessage: one URL on its way through the river.

Immutable. Born when a link is found (or a start URL is given), it passes the filters, waits in its host's queue, is leased to
a fetcher and ends in an outcome. A retry or a redirect is a new message.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from larm.model.url import Url

START = "<start>"
"""The referrer of start URLs (LARM-89)."""

ORDINARY, FRAME, REDIRECT = 0, 1, 2
"""Link types (LARM-90)."""


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


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[URLMessage])


def encode_messages(messages: Sequence[URLMessage]) -> bytes:
    """A block of messages as msgpack, for queues on disk."""
    return _encoder.encode(messages)


def decode_messages(block: bytes) -> list[URLMessage]:
    """The inverse of `encode_messages`; raises msgspec.DecodeError or ValidationError on a damaged block."""
    return _decoder.decode(block)
