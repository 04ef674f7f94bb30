"""Novelty and Fingerprint: what was found out about the text of one page. Values.

Made by `larm.index.duplicates`; `larm.frontier.traps.desk` takes novelty in, which tells what addresses are worth asking for.
"""

from typing import NamedTuple

import msgspec

from larm.model.session_links import SessionLinks
from larm.model.url import Url


class Fingerprint(NamedTuple):
    """One text."""

    features: int
    simhash: int
    sketch: bytes
    """0 where a drawer is empty."""
    bands: tuple[int, ...]
    """63 bits each; none where the text is too short."""
    news: tuple[int, int]
    """Features that were looked at for the memory of texts, and how many it did not know. Words with digits are all one."""


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
