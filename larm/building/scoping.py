"""The scope of a crawl, made of its settings and of what earlier runs were given. Called by the wiring, and by enquiries."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from larm.building.readers import normalizer_of
from larm.building.start_urls import read_starts, with_starts
from larm.config import Config, Seed
from larm.crawldir.state import last_header
from larm.errors import REPAIR, StorageError
from larm.filters.scope import ScopeFilter, StartScope
from larm.frontier.checkpoint import Header
from larm.model.message import BY_ROBOTS, ORDINARY, SITEMAP
from larm.model.region import Globs, Reach, Region, host_region, region_of
from larm.model.url import BadUrl, Url, URLNormalizer

Scope = ScopeFilter | StartScope
_SITEMAP = re.compile(r"sitemap|\.xml(?:\.gz)?$", re.IGNORECASE)


def scope_of(
    settings: Config, normalizer: URLNormalizer, header: Header | None, note: Callable[[str], object] = lambda _: None
) -> Scope:
    """What belongs to the crawl. Where nothing is said of a start URL, what an earlier run was told of it holds on.

    ``note`` is called with a sentence when a start URL brings another host into the scope.

    Raises ConfigError for a wrong expression, BadUrl for a start URL that `larm.config` should have refused, StorageError.
    """
    crawl = settings.crawl
    globs = Globs(crawl.include, crawl.exclude)
    sitemaps = wants_sitemaps(settings)
    if crawl.restrict_to:
        return ScopeFilter(crawl.restrict_to, globs, sitemaps=sitemaps)
    regions = {region.address: region for region in regions_of(header)}
    said = {normalizer.parse(seed.url).access: seed for seed in crawl.seeds}
    general = Reach(crawl.scope) if crawl.scope else None
    for url in map(normalizer.parse, crawl.start):
        seed = said.get(url.access, Seed(url.access))
        reach = Reach(seed.scope) if seed.scope else general
        own = Globs((*globs.include, *seed.include), (*globs.exclude, *seed.exclude))
        _put(regions, url, reach, own, normalizer)
    return StartScope(regions.values(), sitemaps=sitemaps, note=note)


def wants_sitemaps(settings: Config) -> bool:
    """Return True if sitemaps are fetched wherever they are. With a greatest depth they would bring every page near."""
    return settings.robots.sitemaps and settings.crawl.max_depth is None


def start_type(url: Url, settings: Config) -> int:
    """Return the link type of a start URL. One whose name is that of a sitemap passes an expression: it names pages in scope.

    What comes shows whether it is one (`larm.engine.landing`).
    """
    sitemap = settings.crawl.restrict_to and wants_sitemaps(settings) and _SITEMAP.search(url.path_query)
    return SITEMAP | BY_ROBOTS if sitemap else ORDINARY


def as_before(settings: Config, header: Header | None) -> Config:
    """The settings with the scope of the last run, where they have none."""
    crawl = settings.crawl
    if header is None or crawl.restrict_to or crawl.scope or crawl.seeds:
        return settings
    return msgspec.structs.replace(settings, crawl=msgspec.structs.replace(crawl, restrict_to=header.restrict_to))


def current_scope(settings: Config, directory: Path) -> tuple[Header | None, Scope]:
    """The last checkpoint, and what belongs to the crawl by it and these settings.

    Raises UsageError, ConfigError, StorageError.
    """
    header = last_header(directory)
    normalizer = normalizer_of(settings, directory, [*settings.crawl.start, *(header.start_urls if header else ())])
    starts = read_starts(settings.crawl.start, normalizer.parse, directory, "crawl.start:", settings.crawl.seeds)
    resolved = msgspec.structs.replace(settings, crawl=with_starts(settings.crawl, starts))
    return header, scope_of(as_before(resolved, header), normalizer, header)


def regions_of(header: Header | None) -> Iterable[Region]:
    """The regions that the last checkpoint knows."""
    if header is None:
        return []
    part = header.parts.get(StartScope.name)
    if part is None:
        return [host_region(host) for host in header.scope_hosts]
    try:
        return msgspec.convert(part["regions"], list[Region])
    except (msgspec.ValidationError, KeyError, TypeError) as error:
        raise StorageError(f"the scope in the crawl's state is damaged ({error}); {REPAIR}") from error


def _put(regions: dict[str, Region], url: Url, reach: Reach | None, globs: Globs, normalizer: URLNormalizer) -> None:
    """The region of a start URL; with it those of what it redirected to, if something else was said of it before."""
    if reach is None and globs == Globs() and url.access in regions:
        return
    reach = reach or Reach.HOST
    if reach is not Reach.HOST or globs != Globs():
        regions.pop(host_region(url.host).address, None)
    derived = [each for each in regions.values() if each.start == url.access and each.address != url.access]
    regions[url.access] = region_of(url.access, url, reach, globs)
    for each in derived:
        try:
            regions[each.address] = region_of(url.access, normalizer.parse(each.address), reach, globs)
        except BadUrl:
            continue
