"""What is asked of a directory after a crawl, or beside it: `larm why`, `larm reindex`. Built of the crawl's own parts.

Called by the command line, on the main thread.
"""

from __future__ import annotations

from pathlib import Path

from larm.building.marker import permit
from larm.building.named_parts import FilterParts, filters
from larm.building.readers import Processors, memory_budget, normalizer_of
from larm.building.start_folders import file_rules
from larm.building.state import ALIASES, PAGES, QUEUES, Undo, close_all, open_state
from larm.config import Config
from larm.duplicates.lookup import Kin, Leads, kin_of
from larm.enquiries.explain import explain
from larm.enquiries.reindex import Reindexed, reindex
from larm.errors import UsageError
from larm.filters.scope import ScopeFilter, StartHostsFilter
from larm.frontier.hosts import HostBook
from larm.frontier.queues import HostQueues
from larm.frontier.robots.desk import RobotsDesk
from larm.frontier.traps.desk import TrapDesk
from larm.kit.clock import SystemClock
from larm.kit.counters import Counters
from larm.kit.disk.block_store import DATABASE
from larm.kit.disk.files import is_there
from larm.kit.disk.lock import DirectoryLock
from larm.kit.threads.tally import Tally
from larm.model.credentials import without_credentials
from larm.model.cuts import sentence_of
from larm.model.url import BadUrl
from larm.recrawl.revisit import cuts_of
from larm.seams import Filter
from larm.storage.reader import StoreLog

_ALL_PAGES = "the next larm crawl gives it one with storage.index.duplicates.merge: false"
_ALL_RESULTS = "search.grouped: false shows both"


def reindex_pages(settings: Config, directory: Path) -> Reindexed:
    """A new index for `larm reindex`, of the pages up to the last checkpoint. Raises UsageError, ConfigError, StorageError."""
    undo: Undo = []
    try:
        permit(directory)
        undo.append(DirectoryLock(directory).close)
        header = open_state(settings, directory, undo).header if (directory / QUEUES).is_dir() else None
        noted = header.storages if header else {}
        position, generation = noted.get("log", {}).get("store"), noted.get("index", {}).get("generation")
        normalizer = normalizer_of(settings, directory, header.start_urls if header else settings.crawl.start)
        process = Processors(settings, normalizer, Counters(), SystemClock(), text=True, memory=memory_budget(settings))
        undo.append(process.close)
        log = StoreLog(directory, position)
        indexed, aliases = None, noted.get("index", {}).get("aliases")
        if aliases and (directory / QUEUES / ALIASES).exists():
            indexed = Leads(directory / QUEUES / ALIASES, aliases["generation"])
            undo.append(indexed.close)
        return reindex(
            directory, log, settings.storage.index, process, normalizer.parse, generation=generation, indexed=indexed
        )
    finally:
        close_all(undo)


def _cuts(directory: Path, key: int) -> list[tuple[str, str]]:
    """Why not all of a page was read."""
    path = directory / QUEUES / PAGES
    found = cuts_of(path, key) if is_there(path) else {}
    return [("cut", said) for name in found if (said := sentence_of(name))]


def explain_url(settings: Config, directory: Path, text: str) -> list[tuple[str, str]]:
    """(topic, sentence) rows for `larm why`. Raises UsageError for what is no URL, or no crawl; StorageError."""
    try:
        url = normalizer_of(settings, directory, [text]).parse(text)
    except BadUrl as error:
        raise UsageError(f"{without_credentials(text)}: {error}") from error
    if not is_there(directory / QUEUES / DATABASE):
        raise UsageError(f"no crawl in {directory}; --dir names another directory")
    undo: Undo = []
    clock = SystemClock()
    try:
        state = open_state(settings, directory, undo, read_only=True)
        state.seen.assume(state.fresh)  # a crawl may be running, and about to write it
        book = HostBook(state.store, settings.frontier, clock)
        tally = Tally(lambda: None)
        desk = RobotsDesk(book, HostQueues(book, settings.frontier, clock, tally, lambda: None), settings.robots, clock, tally)
        scope: Filter = StartHostsFilter(state.header.scope_hosts if state.header else ())
        restrict_to = settings.crawl.restrict_to or (state.header.restrict_to if state.header else "")
        if restrict_to:
            scope = ScopeFilter(restrict_to)
        folders = file_rules(settings.files, directory, state.header.start_urls if state.header else ())
        traps = TrapDesk(book, settings.filters.traps, tally)
        parts = FilterParts(scope, state.seen, desk, traps, folders)
        rows = explain(url, filters(settings, parts), book, settings, directory)
        rows += _cuts(directory, url.fingerprint)
        kin = kin_of(directory / QUEUES / ALIASES, url.fingerprint)
        return rows if kin is None else [*rows, ("index", _about(kin))]
    finally:
        close_all(undo)


def _about(kin: Kin) -> str:
    if kin.indexed:
        return f"one search result with another page, {_ALL_RESULTS}: {kin.why} {kin.first}"
    return f"no page of its own, {_ALL_PAGES}: {kin.why} {kin.first}"
