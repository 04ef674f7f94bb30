"""Novelty: what was found out about the text of one page, which tells what addresses are worth asking for.

Made by `larm.duplicates.novelty` where a page was read; taken in by `larm.frontier.traps.desk`.
"""

from __future__ import annotations

import msgspec

from larm.model.url import Url


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
