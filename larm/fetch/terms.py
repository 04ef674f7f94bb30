"""FetchTerms: on what terms requests are sent. One for a crawl; its fetchers, and their transfers, share it.

SiteAccess: what differs for a site of which config.yaml says something (``sites``). Constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from larm.config import AgentSettings, FetchSettings, RobotsSettings
from larm.fetch.addresses import AddressRule
from larm.fetch.air import Air
from larm.fetch.fence import Fence
from larm.fetch.host_cookies import HostCookies
from larm.fetch.look_ups import LookUps
from larm.model.sites import SiteTable
from larm.seams import AddressGate

if TYPE_CHECKING:
    from larm.fetch.cookies import CookieJar


class SiteAccess(msgspec.Struct, frozen=True):
    """What differs from all other requests. It has secrets: never logged."""

    user_agent: str = ""
    headers: tuple[bytes, ...] = ()
    """Whole lines, without their ends."""
    auth: bytes = b""
    """``name:password``, for basic authentication."""
    proxy: str = ""
    cookies: CookieJar | None = None
    keeps_cookies: bool = False
    """Cookies that answers set are sent again."""
    certificate: bytes = b""
    """In PEM, for servers that want to know who asks; empty: there is none."""
    key: bytes = b""
    """Of the certificate, in PEM."""

    def __repr__(self) -> str:
        return "<SiteAccess>"

    @property
    def opens(self) -> bool:
        """True if a server may answer these requests as it answers nobody else's; cookies aside, which differ by address."""
        special = any(not line.lower().startswith(b"accept") for line in self.headers)
        return bool(self.auth or self.certificate or special or self.user_agent)

    @property
    def secret_headers(self) -> frozenset[bytes]:
        """Names, in lower case, of headers that no archive may have."""
        return frozenset([line.partition(b":")[0].lower() for line in self.headers])


NOTHING = SiteAccess()
"""Of all other sites."""


def user_agent(agent: AgentSettings, version: str) -> str:
    """``larm/0.1 (+https://example.org/about-our-crawler)``; without a contact ``larm/0.1``.

    ``version`` is shortened to its first two numbers: a patch release is not another crawler.
    """
    product = f"{agent.name}/{'.'.join(version.split('.')[:2])}"
    return f"{product} (+{agent.contact})" if agent.contact else product


class FetchTerms(NamedTuple):
    """Constant after construction."""

    settings: FetchSettings
    robots: RobotsSettings
    """For requests for robots.txt."""
    user_agent: str
    addresses: AddressRule
    """Asked before each connection."""
    crowd: AddressGate
    """As well: an address that several hosts have is not asked too often."""
    air: Air
    """Bytes of bodies that may be under way, for all fetchers together."""
    names: LookUps
    """Where hosts are."""
    sites: SiteTable[SiteAccess] = SiteTable({})
    """What differs for some sites."""
    cookies: HostCookies = HostCookies()
    retries: int | None = None
    """Of a URL; when they are used up, what came of a page that breaks off counts. None: it never does."""
    fence: Fence | None = None
    """Of an agent of a cluster."""
