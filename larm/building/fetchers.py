"""The fetchers: of the web, of folders beside it, or of archives. Called by `larm.building.wiring` on the main thread."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from larm.building.ground import Ground
from larm.building.mission import Mission
from larm.building.readers import air_of
from larm.building.site_access import site_accesses
from larm.config import Config
from larm.fetch.addresses import AddressRule
from larm.fetch.air import Air
from larm.fetch.curl_fetcher import CurlFetcher
from larm.fetch.fence import Fence
from larm.fetch.host_cookies import HostCookies
from larm.fetch.look_ups import LookUps
from larm.fetch.pool import FetcherPool
from larm.fetch.terms import FetchTerms, user_agent
from larm.kit.processes.memory_budget import MemoryBudget
from larm.model.file_rules import FileRules
from larm.model.sites import SiteTable
from larm.model.url import Url
from larm.seams import Fetcher
from larm.version import VERSION

if TYPE_CHECKING:
    from larm.store.archive.catalogue import Catalogue


def address_rule(ground: Ground, mission: Mission) -> AddressRule:
    """Which addresses may be asked."""
    given, header = {*ground.settings.crawl.private_networks}, ground.header
    starts = [] if "no-starts" in given else [url for url in mission.start_urls if not url.startswith("file:")]
    return AddressRule(
        {urlsplit(url).hostname or "" for url in starts},
        "all" in given,
        networks=sorted(given - {"all", "no-starts"}),
        met=header.met if header else None,
    )


def host_cookies(settings: Config) -> HostCookies:
    """Cookies of hosts of which the configuration says nothing about cookies."""
    sites = SiteTable(settings.sites)

    def allows(url: Url) -> bool:
        site = sites.of_url(url)
        return site is None or (site.keep_cookies is None and not site.cookies)

    return HostCookies(allows)


def fetcher_pool(
    ground: Ground,
    addresses: AddressRule,
    folders: FileRules | None,
    catalogue: Catalogue | None,
    memory: MemoryBudget,
    *,
    cookies: HostCookies,
    fence: Fence | None,
    exchanges: bool,
) -> FetcherPool:
    """``catalogue``: of the archives, where the crawl is of such; ``exchanges``: some storage asks for them.

    ``fence``: of an agent of a cluster.
    """
    if catalogue is not None:
        return _archive_pool(ground, catalogue)
    settings, clock = ground.settings, ground.shared.clock
    agent = user_agent(settings.agent, VERSION)
    sites = site_accesses(settings, ground.directory)
    fetch, retries, air = settings.fetch, settings.frontier.retries, Air(air_of(memory))
    names = LookUps(clock, fetch.ip)
    ground.closed(names.close)
    crowd = ground.shared.addresses
    terms = FetchTerms(fetch, settings.robots, agent, addresses, crowd, air, names, sites, cookies, retries, fence)
    fetchers: list[Fetcher] = []
    for _ in range(fetch.threads):
        web = CurlFetcher(terms, clock, exchanges=exchanges)
        fetchers.append(web if folders is None else _with_files(web, ground, folders))
        ground.closed(fetchers[-1].close)
    pool = FetcherPool(fetchers, names)
    terms.air.on_room = pool.wake_all
    return pool


def _archive_pool(ground: Ground, catalogue: Catalogue) -> FetcherPool:
    from larm.store.archive.fetcher import ArchiveFetcher

    settings = ground.settings.fetch
    fetchers = [ArchiveFetcher(settings, catalogue, ground.shared.clock) for _ in range(settings.threads)]
    for fetcher in fetchers:
        ground.closed(fetcher.close)
    return FetcherPool(fetchers)


def _with_files(web: Fetcher, ground: Ground, folders: FileRules) -> Fetcher:
    from larm.fetch.file_fetcher import (
        FileFetcher,  # with tables of all file types, for the few who read folders
        Router,
    )

    return Router(web, FileFetcher(ground.settings.fetch, folders, ground.shared.clock))
