"""Told: what was found out about the text of one page, for who wants to know which addresses are worth their while.

Made by `larm.duplicates.aliases` on the writer thread of the index storage; read by `larm.frontier.trap_desk`.
"""

from __future__ import annotations

import msgspec

from larm.model.url import Url


class Told(msgspec.Struct, frozen=True):
    """One page that was stored."""

    url: Url
    referrer: str
    """Access URL of the page with the first link to it."""
    stale: bool
    """It says nothing that other pages had not said before."""
    first: str
    """Access URL of the page that it is an alias of; empty if it leads."""
