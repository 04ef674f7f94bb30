"""Seen: a fetch that has ended, as people are told of it. A value."""

import msgspec


class Seen(msgspec.Struct, frozen=True, gc=False):
    """A fetch that has ended."""

    at: float
    """Seconds since 1970."""
    url: str
    status: int
    """0: there was no answer."""
    seconds: float
    received: int
    """Body bytes on the wire."""
    mime: str = ""
    title: str = ""
    error: str = ""
    """What went wrong; empty: nothing."""
