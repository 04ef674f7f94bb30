"""Lease: the right to send one request to one host, now.

Given out by the frontier, carried by a fetcher thread, given back exactly once. Nothing reaches a host without one, so
"one request at a time" is a fact of the structure and not of anybody's care.
"""

import msgspec

from larm.model.message import URLMessage


class Lease(msgspec.Struct, frozen=True, gc=False):
    """One request that may be sent now."""

    number: int
    """Unique within a run."""
    host: str
    """Key of the host record."""
    message: URLMessage
    robots: bool = False
    """The request is for robots.txt, not for a page."""
