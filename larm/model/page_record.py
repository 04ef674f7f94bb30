"""PageRecord: what an index and a link graph have of one page. Frozen values; what ``larm serve`` shows and sends."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class PageRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A page as it was indexed."""

    url: str
    title: str
    text: str
    """The main text; no more of it than the page allows to be shown."""
    whole: bool = True
    """That is all of it."""
    description: str = ""
    mime: str = ""
    language: str = ""
    modified: int = 0
    """Seconds since 1970; 0: not known. So is `fetched`."""
    fetched: int = 0
    size: int = 0
    """Bytes."""
    cuts: tuple[str, ...] = ()
    """What was not read of it: names of settings, or ``reader`` (`larm.model.cuts`)."""
    fields: Mapping[str, tuple[str, ...]] = {}
    """What users have said is to be known of it."""


class PageLink(msgspec.Struct, frozen=True):
    """A link of a page."""

    url: str
    """Empty where the other page was not fetched."""
    text: str


class PageLinks(msgspec.Struct, frozen=True):
    """Links to and from a page."""

    to: tuple[str, ...] = ()
    """Pages that link to it, the most important first."""
    of: tuple[PageLink, ...] = ()
    """Its own, in their order."""
