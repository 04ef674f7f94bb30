"""The storages of a run, each behind its queue; and what ``storage.log.keep`` takes out of the logs before it begins.

Called by `larm.building.wiring` on the main thread.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from larm.building.ground import Ground
from larm.building.named_parts import StorageParts, storages
from larm.config import Config, Keep
from larm.crawldir.state import GRAPH, LOGS, PAGES, QUEUES, State
from larm.kit.disk.files import is_there
from larm.seams import Clock
from larm.store.graph import is_complete
from larm.store.lines import StorageLines
from larm.store.log import LogStorage
from larm.store.overflow import Overflow
from larm.store.pages.page_book import PageBook
from larm.store.pages.page_rows import page_rows
from larm.store.pipeline import QUEUE, StorageLine

_OVERFLOW = 256_000_000
"""Bytes on the disk where a storage makes no room for seconds. A checkpoint waits for them, so more would make a crash dear."""


def storage_lines(ground: Ground) -> StorageLines:
    """Those of ``storage.chain``, and the page book. Raises ConfigError, StorageError."""
    folder = ground.directory / QUEUES
    positions = ground.header.storages if ground.header else {}
    parts = StorageParts(ground.shared.counters.add, seal=ground.sealing.found, clock=ground.shared.clock)
    chain = storages(ground.settings, ground.directory, parts)
    return StorageLines(
        StorageLine(
            storage,
            QUEUE,
            positions.get(storage.name),
            Overflow(folder / f"visits-{storage.name}"),
            _OVERFLOW,
        )
        for storage in (*chain, PageBook(folder / PAGES, ground.shared.clock))
    )


def half_made(ground: Ground) -> bool:
    """The last run was ended before it had done all that runs do at their end."""
    header = ground.header
    noted = header.storages.get(GRAPH) if header and GRAPH in ground.settings.storage.chain else None
    return not is_complete(ground.directory, noted)


def with_retention(settings: Config, directory: Path, state: State, clock: Clock) -> tuple[State, list[str]]:
    """The state of a crawl that goes on, without what is not to be kept, and what a person should know of that.

    Raises StorageError.
    """
    log = settings.storage.log
    position = state.header.storages.get(LogStorage.name) if state.header else None
    if state.header is None or not position or log.keep == Keep():
        return state, []
    from larm.store.retention import DAY, retain  # for who wants it

    book = directory / QUEUES / PAGES
    gone = {hash(row.normalised) for _, row in page_rows(book) if not row.stored} if is_there(book) else set()
    header = state.header

    def save(noted: Mapping[str, Any]) -> None:
        nonlocal header
        header = msgspec.structs.replace(header, storages=header.storages | {LogStorage.name: dict(noted)})
        state.file.amend(header, state.fresh, {})

    found = retain(directory / LOGS, position, log, gone, int(clock.wall() // DAY), save=save)
    state = msgspec.structs.replace(state, header=header)
    if found is None:
        return state, []
    notes = []
    if found.versions:
        versions = "1 old version of a page was" if found.versions == 1 else f"{found.versions:,} old versions of pages were"
        notes.append(f"{versions} taken out of the logs, {found.size:,} bytes (storage.log.keep)")
    if found.over:
        notes.append(
            f"the pages as they are now take {found.over:,} bytes more than storage.log.keep.size; they are kept all the same"
        )
    return state, notes
