"""Who reads pages beside the threads that fetch them. Called by `larm.building.wiring` on the main thread."""

from typing import Final

from larm.building.ground import Ground
from larm.building.mission import Mission
from larm.building.readers import terms_of
from larm.engine.reading_pool import Mouth, ReadingPool
from larm.fetch.pool import FetcherPool
from larm.frontier.queues import HostQueues
from larm.kit.processes.helper_process import HelperProcess
from larm.kit.processes.memory_budget import MemoryBudget
from larm.parse.reading.ahead import CHILD, document_threads, new_reader, readers_of
from larm.parse.reading.page_reader import PageReader
from larm.parse.triage import Triage
from larm.store.pipeline import QUEUE

_PATIENCE: Final = 4.0
"""Times the seconds that a page may take elsewhere, for large ones. A stop does not wait for it, and there is nobody behind it
in a hurry."""


def reading_of(
    ground: Ground,
    mission: Mission,
    queues: HostQueues,
    fetchers: FetcherPool,
    mouth: Mouth,
    *,
    memory: MemoryBudget,
    ahead: HelperProcess | None,
) -> ReadingPool:
    """``ahead``: the first process that reads pages, if it is there already. Raises ConfigError."""
    settings, counted = ground.settings, ground.shared.counters.add
    terms = terms_of(settings, ground.directory, mission.start_urls)
    first = [] if ahead is None else [ahead]
    others = [new_reader(settings.processing) for _ in range(readers_of(settings.processing) - len(first))]
    pool = ReadingPool(
        triage=Triage(settings.processing, settings.fetch.page_size, memory.limit),
        mouth=mouth,
        queues=queues,
        fetchers=fetchers,
        clock=ground.shared.clock,
        pages=[PageReader(terms, counted, process) for process in (*first, *others)],
        large=PageReader(terms, counted, HelperProcess(CHILD, memory.most), _PATIENCE * settings.processing.effort),
        memory=memory,
        documents=document_threads(settings.processing),
        limit_bytes=QUEUE,
    )
    ground.closed(pool.close)
    return pool
