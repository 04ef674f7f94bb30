"""FetchTerms: on what terms requests are sent. One for a crawl; its fetchers, and their transfers, share it."""

from __future__ import annotations

from typing import NamedTuple

from larm.config import Fetch, Robots
from larm.fetching.addresses import AddressRule
from larm.fetching.air import Air
from larm.fetching.site_access import SiteAccess
from larm.model.sites import SiteTable
from larm.seams import AddressGate


class FetchTerms(NamedTuple):
    """Constant after construction."""

    settings: Fetch
    robots: Robots
    """For requests for robots.txt."""
    user_agent: str
    addresses: AddressRule
    """Asked before each connection."""
    crowd: AddressGate
    """As well: an address that several hosts have is not asked too often."""
    air: Air
    """Bytes of bodies that may be under way, for all fetchers together."""
    sites: SiteTable[SiteAccess] = SiteTable({})
    """What differs for some sites."""
    retries: int | None = None
    """Of a URL; when they are used up, what came of a page that breaks off counts. None: it never does."""
