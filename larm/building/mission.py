"""Mission: what a run is to do, given what earlier runs of the directory did, and what a person should know of it.

Called by `larm.building.wiring` on the main thread.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from larm.building.scoping import Scope, start_type
from larm.config import Config
from larm.engine.probe import pages_of
from larm.filters.order import robots_first
from larm.filters.scope import ScopeFilter, StartScope
from larm.filters.visited import VisitedFilter
from larm.frontier.checkpoint import Header
from larm.kit.counted import counted
from larm.model import cuts
from larm.model.file_url import FILES
from larm.model.message import URLMessage
from larm.model.url import Url, URLNormalizer
from larm.seams import Filter


class Mission(msgspec.Struct, frozen=True):
    """What this run is to do, given what earlier ones did."""

    urls: Sequence[Url]
    """The start URLs."""
    starts: Sequence[URLMessage]
    """Those that no earlier run was given."""
    hosts: set[str]
    """Of the start URLs of all runs, and where these redirected to."""
    again: bool
    """The crawl is finished: it is revisited."""
    start_urls: Sequence[str] = ()
    """The access forms of those of all runs."""
    half_made: bool = False
    """The crawl is finished, but its last run was ended before link graph and texts of links were: this one completes them."""
    parked: bool = False
    """This run also fetches what earlier ones held back as it looked like a trap."""
    archives: bool = False
    """The crawl is of archives: their addresses are the start URLs."""


def mission_of(
    settings: Config,
    normalizer: URLNormalizer,
    header: Header | None,
    *,
    half_made: bool = False,
    parked: bool = False,
) -> Mission:
    """Of this run. ``header``: that of the last checkpoint; ``half_made``: what runs do at their end is not complete.

    Raises BadUrl, which `larm.config` should have refused.
    """
    urls = list(dict.fromkeys(map(normalizer.parse, settings.crawl.start)))
    accesses = sorted({url.access for url in urls} | set(header.start_urls if header else ()))
    most = settings.crawl.max_depth or 0
    used = {normalizer.parse(seed.url).access: most - seed.depth for seed in settings.crawl.seeds if seed.depth is not None}
    starts = [URLMessage(url, link_type=start_type(url, settings), depth=used.get(url.access, 0)) for url in urls]
    if header is None:
        return Mission(urls, starts, {url.host for url in urls}, again=False, start_urls=accesses, parked=parked)
    starts = [start for start in starts if start.url.access not in header.start_urls]
    hosts = {url.host for url in urls} | set(header.scope_hosts)
    nothing_left = header.finished and not starts and not parked
    again = nothing_left and not half_made
    return Mission(urls, starts, hosts, again, accesses, half_made=nothing_left and half_made, parked=parked)


def scope_sentence(settings: Config, scope: Scope, *, remembered: bool = False) -> str:
    """What belongs to the crawl, for a person; ``remembered``: as it was said to an earlier run."""
    if ScopeFilter.name not in settings.filters.order:
        return "scope: everything, as the filter scope is not in filters.order; better with --max-pages"
    if isinstance(scope, ScopeFilter):
        return f"scope: {scope}"
    if not all(region.whole for region in scope.regions.values()):
        parts = sorted({str(region) for region in scope.regions.values()})
        undo = ", as an earlier run was told; -s crawl.scope=host takes the whole hosts again" if remembered else ""
        return f"scope: {_some(parts, '; ')}{undo}"
    hosts = sorted("the start folders" if host == FILES else host for host in scope.hosts)
    return f"scope: the hosts of the start URLs ({_some(hosts)}); --below, --domain or -restrictto REGEX set another, '.*' none"


def _some(names: Sequence[str], between: str = ", ") -> str:
    return between.join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def notes_of(settings: Config, header: Header | None, mission: Mission, scope: Filter) -> list[str]:
    """What a person should know before it starts."""
    notes = []
    if header is not None:
        pages = pages_of(header.counters)
        state = "is finished and is now revisited" if mission.again else "is continued"
        if mission.half_made:
            state = "is finished; its link graph and the texts of links are now completed, and the next run revisits it"
        notes.append(f"the crawl of this directory, {counted(pages, 'page')} so far, {state}; --fresh starts over")
    typed = isinstance(scope, ScopeFilter) and ScopeFilter.name in settings.filters.order
    if isinstance(scope, ScopeFilter | StartScope) and not typed:
        crawl = settings.crawl
        remembered = header is not None and not (crawl.scope or crawl.include or crawl.exclude or crawl.seeds)
        notes.append(scope_sentence(settings, scope, remembered=remembered))
    if not settings.agent.contact and mission.hosts != {FILES} and header is None:  # once
        notes.append("no contact: set agent.contact to a URL or mail address, so that owners of sites can reach you")
    obeys = settings.robots.obey and "robots" in settings.filters.order
    if not obeys and mission.hosts != {FILES}:
        notes.append("robots.txt is not obeyed")
    if VisitedFilter.name not in settings.filters.order:
        notes.append("the filter visited is not in filters.order: pages are fetched as often as they are linked to")
    if robots_first(settings.filters.order):
        notes.append("the filter scope is asked before robots, or hosts outside of it would be asked for their robots.txt")
    return notes


class StoragesApart(msgspec.Struct, frozen=True):
    """The storages of the crawl, as far as they are not in this run, or were not in an earlier one."""

    absent: Mapping[str, Mapping[str, Any]]
    """Positions of those that this run leaves out: they go on from there when they come back."""
    late: Sequence[str]
    """Those of this run that have not been given all pages."""

    def missed(self, *, again: bool) -> list[str]:
        """For the next checkpoints; a revisit that begins now gives all pages to those that are there."""
        return [*self.absent, *(() if again else self.late)]

    def notes(self, *, again: bool) -> list[str]:
        """What a person should know."""
        when = "all pages are fetched whole for it" if again else "the next revisit fetches all pages whole for it"
        return [f"the storage {name} was not in all runs of this crawl; {when}" for name in self.late]


def storages_apart(header: Header | None, chain: Sequence[str]) -> StoragesApart:
    """``chain``: the storages of this run."""
    if header is None:
        return StoragesApart({}, ())
    absent = {name: position for name, position in header.storages.items() if name not in chain}
    return StoragesApart(absent, [name for name in chain if name not in header.storages or name in header.missed])


def limits_of(settings: Config) -> dict[str, int]:
    """How much is read of a page, by the names of `larm.model.cuts`: larger numbers read more."""
    documents = settings.processing.documents
    text = {cuts.TEXT: int(settings.storage.index.text_size)} if "index" in settings.storage.chain else {}
    return text | {
        cuts.PAGE: int(settings.fetch.page_size),
        cuts.FILE: max(int(settings.fetch.page_size), int(settings.fetch.document_size)),
        cuts.DOCUMENTS: int(1000 * documents.timeout) + int(documents.memory),
        cuts.PROCESSES: documents.processes,
        cuts.LINKS: settings.processing.links,
        cuts.EFFORT: settings.processing.effort,
        cuts.PROCESSOR: 1,  # more than when it was noted, as 0
    }
