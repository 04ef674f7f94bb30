"""Fingerprint, PageText and Novelty: what was found out about the text of one page. Values.

Made by `larm.index.duplicates`; `larm.frontier.traps.desk` takes novelty in, which tells what addresses are worth asking for.
"""

from typing import NamedTuple

import msgspec

from larm.model.session_links import SessionLinks
from larm.model.url import Url


class Fingerprint(NamedTuple):
    """One text."""

    features: int
    """Their number."""
    simhash: int
    sketch: bytes
    """0 where a drawer is empty."""


class PageText(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What has to be known of a page's text to judge what is new of it: made where the page is read.

    Pieces, words and names are numbers for `larm.index.duplicates.features.Memory`: 8 bytes each.
    """

    fingerprint: Fingerprint
    """Of its main text."""
    simhash: int
    """Of what it is like: of its main text or, if that is short, of the first text with features."""
    pieces: tuple[bytes, ...]
    """Of its main text; if that is short, before it of its lines, and of the other text."""
    words: bytes
    """Of its title, but for those in its address ..."""
    echoed: bytes
    """... and those."""
    name: bytes
    """Of its title and its first heading, but for what is in its address; empty if nothing is left."""
    same: bytes
    """Of its host, title and main text together; empty without a main text."""
    spoken: frozenset[str]
    """See `Novelty.spoken`."""
    outside: int
    """Characters outside its links."""


class Novelty(msgspec.Struct, frozen=True, gc=False):
    """One page that was read."""

    url: Url
    referrer: str
    """Access URL of the page with the first link to it."""
    stale: bool
    """It says nothing that other pages had not said before."""
    simhash: int = 0
    """Of its text; 0: it has none."""
    spoken: frozenset[str] = frozenset()
    """Parameters of its address whose value stands in the text, as the year of a calendar does: they change it."""
    named: bool = False
    """No other page has its title, numbers included, of which what is in its address does not count."""
    barren: bool = False
    """It asks not to be indexed, or is a login form, and leads to nothing that was not seen before."""
    copy: bool = False
    """A page of its host with the same title has the same main text."""
    sessions: tuple[SessionLinks, ...] = ()
    """Parameters of its links that look like a session."""
