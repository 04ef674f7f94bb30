"""What config.yaml names of a crawl: filters, storages and processors, built in or of the user's own (LARM-47).

Called by `larm.building.wiring` at the start, and by ``larm check``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from larm import config
from larm.building.own_fields import check_fields
from larm.building.own_parts import own_part, scorers
from larm.building.site_access import site_accesses
from larm.config import Config
from larm.crawldir.marker import is_log_of_larm
from larm.crawldir.state import ALIASES, GRAPH, QUEUES, resolver_of
from larm.errors import ConfigError, Mistakes
from larm.fetch.terms import user_agent
from larm.filters.known_paths import KnownPathsFilter
from larm.filters.length import LengthFilter
from larm.filters.order import full_order
from larm.filters.scope import ScopeFilter
from larm.frontier.traps.desk import TrapDesk
from larm.frontier.traps.limits import TrapRules, trap_rules
from larm.kit.clock import SystemClock
from larm.kit.disk.seal import NO_SEAL, Seal
from larm.model.domain import site_of
from larm.seams import Clock, CrawlOrder, Filter, Processor, Storage
from larm.store.log import LogStorage
from larm.store.pages.page_book import PageBook
from larm.version import VERSION

if TYPE_CHECKING:
    from larm.index.duplicates.aliases import Aliases
    from larm.store.index import IndexStorage


class StorageParts(msgspec.Struct, frozen=True):
    """Whom built-in storages tell something."""

    counted: Callable[[str, int], None]
    about: Sequence[tuple[str, str]] = ()
    """The crawl, for archives."""
    seal: Seal = NO_SEAL
    """Files that need not be looked at."""
    clock: Clock = SystemClock()
    agents: bool = False
    """Several do the crawl."""


_NONE = StorageParts(lambda _name, _n: None)
_BUILT_IN_FILTERS = ("length", "known_paths", "files", "scope", "visited", "traps", "robots")
_STORAGES: dict[str, Callable[[config.StorageSettings, Path, StorageParts], Storage]] = {
    "log": lambda settings, directory, parts: LogStorage(directory, settings.log, parts.clock, marked=parts.agents),
    "index": lambda settings, directory, parts: _index(settings.index, directory, parts),
    "graph": lambda _settings, directory, parts: _graph(directory, parts),
    "warc": lambda settings, directory, parts: _warc(settings.warc, directory, parts),
}

BUILT_IN_STORAGES = frozenset(_STORAGES)

_DEFAULTS = Config()

LEAST_MEMORY = 100_000_000
"""Bytes of address space; Python with PDFium takes 60 MB of it."""

_TEXTLESS = frozenset({"log", "graph", "warc"})
"""Storages that have no use for the text of pages."""


def own_filters(settings: Config) -> dict[str, Filter]:
    """Those of the user's, by their names in ``filters.order``. Raises ConfigError."""
    order, arguments = settings.filters.order, settings.own
    found = {
        name: own_part(name, "filters.order", Filter, _BUILT_IN_FILTERS, arguments)
        for name in order
        if name not in _BUILT_IN_FILTERS
    }
    for name, part in found.items():
        log = part.log_name
        if not log or log != Path(log).name or not log.isprintable() or is_log_of_larm(log):
            raise ConfigError(f"filters.order: {name}: log_name {log!r} is a log of larm's or no file name; choose another")
    return found


def filters(settings: Config, there: Mapping[str, Filter | None]) -> Sequence[Filter]:
    """Return the chain, in its order (`larm.filters.order`). ``there``: its filters, by name, but for those made here."""
    made = {name: part for name, part in there.items() if part is not None}
    made["length"] = LengthFilter(settings.filters.length.max)
    made["known_paths"] = KnownPathsFilter(settings.filters.known_paths)
    return [made[name] for name in full_order(settings.filters.order, made)]


def storages(settings: Config, directory: Path, parts: StorageParts = _NONE) -> Sequence[Storage]:
    """The storages, in their order. Raises ConfigError."""
    parts = msgspec.structs.replace(parts, about=about_crawl(settings))
    return [
        _STORAGES[name](settings.storage, directory, parts)
        if name in _STORAGES
        else own_part(name, "storage.chain", Storage, _STORAGES, settings.own)
        for name in settings.storage.chain
    ]


def _index(settings: config.IndexSettings, directory: Path, parts: StorageParts) -> IndexStorage:
    from larm.store.index import IndexStorage  # with tantivy, which a crawl without index does not need

    def aliases() -> Aliases:
        from larm.index.duplicates.aliases import Aliases  # on the thread that needs it

        return Aliases(directory / QUEUES / ALIASES, parts.counted, merge=settings.merge_duplicates)

    return IndexStorage(directory, settings, aliases=aliases, seal=parts.seal)


def _graph(directory: Path, parts: StorageParts) -> Storage:
    from larm.store.graph import GraphStorage  # as above

    return GraphStorage(directory, parts.clock, parts.seal)


def _warc(settings: config.WarcSettings, directory: Path, parts: StorageParts) -> Storage:
    try:
        from larm.store.archive.storage import WarcStorage  # for who has an archive written
    except ImportError as error:
        raise ConfigError(f"storage.chain: 'warc' needs FastWARC: pip install 'larm[warc]' ({error})") from error
    return WarcStorage(directory, directory / QUEUES, settings, SystemClock(), parts.about, parts.counted)


def about_crawl(settings: Config) -> list[tuple[str, str]]:
    """Return who crawls, and how, as the fields of warcinfo records; of the settings those that differ from the defaults."""
    plain = {
        name: _changed(getattr(settings, name), getattr(_DEFAULTS, name))
        for name in settings.__struct_fields__
        if name not in _NOT_TOLD
    }
    obeys = settings.robots.obey and "robots" in settings.filters.order
    fields = [
        ("software", f"larm/{VERSION}"),
        ("format", "WARC File Format 1.1"),
        ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
        ("robots", "obey" if obeys else "ignore"),
        ("http-header-user-agent", user_agent(settings.agent, VERSION)),
        ("operator", settings.agent.contact),
        ("larm-settings", msgspec.json.encode({key: value for key, value in plain.items() if value}, enc_hook=str).decode()),
    ]
    return [(name, value) for name, value in fields if value]


_NOT_TOLD = {"sites", "files", "own", "serve", "peers", "network", "cluster"}
"""Sections that stay out of archives, which others get: they have secrets, folders of this machine, and other people's keys."""


def _changed(section: msgspec.Struct, default: msgspec.Struct) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in section.__struct_fields__:
        value, usual = getattr(section, name), getattr(default, name)
        if value == usual or name == "own":  # objects of a program's
            continue
        found[name] = _changed(value, usual) if isinstance(value, msgspec.Struct) else value
    return found


def crawl_order(settings: Config, directory: Path, starts: int, clock: Clock) -> CrawlOrder | None:
    """``frontier.order``; None: breadth-first. ``starts``: how many start URLs there are. Raises StorageError."""
    frontier, folder = settings.frontier, directory / QUEUES

    def site(host: str) -> str:
        return site_of(host, frontier.domains)

    # imported where they are wanted, which is seldom
    if frontier.order in ("opic", "opic-domains"):
        from larm.frontier import opic
        from larm.kit.disk.number_table import NumberTable

        shares = site if frontier.order == "opic-domains" else None
        return opic.OpicOrder(NumberTable(folder / "opic.table", opic.ROWS), starts, shares)
    if frontier.order == "host-budget":
        from larm.frontier import host_budget
        from larm.kit.disk.number_table import NumberTable

        return host_budget.HostBudgetOrder(NumberTable(folder / "domains.table", host_budget.ROWS, 3), site)
    if frontier.order == "pagerank":
        from larm.frontier.page_rank import PageRankOrder
        from larm.graph.reader import open_graph

        return PageRankOrder(lambda: open_graph(directory / GRAPH), clock)
    return None


def processors_of_the_users(settings: Config) -> dict[str, Processor]:
    """By MIME type. Raises ConfigError."""
    by_mime = settings.processing.by_mime
    return {mime: own_part(name, f"processing.by_mime.{mime}", Processor, {}, {}) for mime, name in by_mime.items()}


def stores_text(settings: Config) -> bool:
    """Return True if some storage has a use for the text of pages."""
    return any(name not in _TEXTLESS for name in settings.storage.chain)


def traps_are_told(settings: Config) -> bool:
    """Whether it is looked at what pages say, to find hosts that never end."""
    return trap_rules_of(settings).repetition


def trap_rules_of(settings: Config) -> TrapRules:
    """Return the rules that hold: nothing is held back where the filter is not in the chain."""
    return trap_rules(settings.filters.traps, used=TrapDesk.name in settings.filters.order)


def check(settings: Config, directory: Path, *, tried: bool = False) -> None:
    """Check what the types of a configuration do not show; ``tried``: also by trying its expression.

    Raises ConfigError with a line for each mistake.
    """
    mistakes = Mistakes()
    if settings.crawl.restrict_to:
        with mistakes.noted():
            ScopeFilter(settings.crawl.restrict_to, tried=tried)
    with mistakes.noted():
        resolver_of(settings, directory)
    for key, value, otherwise in (
        ("monitor.tick", settings.monitor.tick, "0 s, or larm would do nothing but save"),
        ("robots.ttl", settings.robots.ttl, "0 s, or larm would do nothing but ask for robots.txt"),
        ("fetch.timeout", settings.fetch.timeout, "0 s, or no page would come in time"),
        ("processing.documents.timeout", settings.processing.documents.timeout, "0 s, or no document would be read"),
    ):
        if not value:
            mistakes.lines.append(f"{key}: expected more than {otherwise}")
    for key, size in (
        ("processing.documents.memory", settings.processing.documents.memory),
        ("limits.memory", settings.limits.memory or LEAST_MEMORY),
    ):
        if size < LEAST_MEMORY:
            mistakes.lines.append(f"{key}: expected at least {LEAST_MEMORY // 1_000_000}MB, or nothing could be read")
    if settings.frontier.order == "pagerank" and "graph" not in settings.storage.chain:
        mistakes.lines.append("frontier.order: pagerank needs the storage 'graph' in storage.chain, and no --no-index")
    if settings.cluster.name and not settings.storage.log.links:
        mistakes.lines.append(
            "storage.log.links: a cluster needs links.log; of an agent that dies, the others find the URLs there"
        )
    with mistakes.noted():
        own = own_filters(settings)
        _once("filters.order", [own[name].name if name in own else name for name in settings.filters.order])
    with mistakes.noted():
        _once("storage.chain", [*(storage.name for storage in storages(settings, directory)), PageBook.name])
    for part in (
        lambda: site_accesses(settings, directory),
        lambda: processors_of_the_users(settings),
        lambda: scorers(settings.search),
        lambda: check_fields(settings),
    ):
        with mistakes.noted():
            part()
    mistakes.refuse()


def _once(key: str, names: Sequence[str]) -> None:
    """Counters, logs and checkpoints go by these names. Raises ConfigError."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ConfigError(f"{key}: {name!r} is there twice, or is the name of another part")
