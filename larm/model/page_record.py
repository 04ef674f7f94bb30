"""PageRecord: what an index and a link graph have of one page. Frozen values; what ``larm serve`` shows and sends."""

from collections.abc import Mapping
from typing import Any

import msgspec


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a page, wherever it is shown."""

    url: str
    title: str
    mime: str = ""
    language: str = ""
    """ISO 639-1; empty where it is not known."""
    modified: int = 0
    """When it was changed, in seconds since 1970; 0: not known. So is `fetched`."""
    fetched: int = 0
    size: int = 0
    """Bytes."""
    cuts: tuple[str, ...] = ()
    """What was not read of it: names of settings, or ``reader`` (`larm.model.cuts`)."""
    failing: int = 0
    """Since when revisits have not reached it, in seconds since 1970; 0: they have."""
    fields: Mapping[str, tuple[str, ...]] = {}
    """What users have said is to be known of it."""

    @property
    def facts(self) -> dict[str, Any]:
        """These alone, by name, for another value that has them."""
        return {name: getattr(self, name) for name in PageFacts.__struct_fields__}


class PageRecord(PageFacts, frozen=True, kw_only=True):
    """A page as it was indexed."""

    text: str
    """The main text; no more of it than the page allows to be shown."""
    whole: bool = True
    """That is all of it."""
    description: str = ""


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
