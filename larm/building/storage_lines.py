"""The storages of a run, each behind its queue. Called by `larm.building.wiring` on the main thread."""

from __future__ import annotations

from collections.abc import Sequence

from larm.building.ground import Ground
from larm.building.named_parts import StorageParts, storages
from larm.building.state import GRAPH, PAGES, QUEUES
from larm.recrawl.page_book import PageBook
from larm.storage.graph import is_complete
from larm.storage.overflow import Overflow
from larm.storage.pipeline import StorageLine


def storage_lines(ground: Ground) -> Sequence[StorageLine]:
    """Those of ``storage.chain``, and the page book. Raises ConfigError, StorageError."""
    folder, settings = ground.directory / QUEUES, ground.settings.storage
    positions = ground.header.storages if ground.header else {}
    parts = StorageParts(ground.shared.counters.add, seal=ground.sealing.found, clock=ground.shared.clock)
    chain = storages(ground.settings, ground.directory, parts)
    return [
        StorageLine(
            storage,
            settings.queue,
            positions.get(storage.name),
            Overflow(folder / f"visits-{storage.name}") if settings.overflow else None,
            settings.overflow,
        )
        for storage in (*chain, PageBook(folder / PAGES))
    ]


def half_made(ground: Ground) -> bool:
    """The last run was ended before it had done all that runs do at their end."""
    header = ground.header
    noted = header.storages.get(GRAPH) if header and GRAPH in ground.settings.storage.chain else None
    return not is_complete(ground.directory, noted)
