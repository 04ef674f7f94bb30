"""The storages of a run, each behind its queue.

Called by `larm.building.wiring` on the main thread.
"""

from larm.building.ground import Ground
from larm.building.named_parts import StorageParts, storages
from larm.crawldir.state import GRAPH, PAGES, QUEUES
from larm.store.lines import StorageLines
from larm.store.overflow import Overflow
from larm.store.pages.page_book import PageBook
from larm.store.pipeline import QUEUE, StorageLine

_OVERFLOW = 256_000_000
"""Bytes on the disk where a storage makes no room for seconds. A checkpoint waits for them, so more would make a crash dear."""


def storage_lines(ground: Ground) -> StorageLines:
    """Those of ``storage.chain``, and the page book. Raises ConfigError, StorageError."""
    folder = ground.directory / QUEUES
    positions = ground.header.storages if ground.header else {}
    several = bool(ground.settings.cluster.name)
    parts = StorageParts(ground.shared.counters.add, seal=ground.sealing.found, clock=ground.shared.clock, agents=several)
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
    if noted is None:
        return False
    from larm.store.graph import is_complete  # a crawl may have no graph

    return not is_complete(ground.directory, noted)
