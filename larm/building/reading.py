"""Who reads pages beside the threads that fetch them. Called by `larm.building.wiring` on the main thread."""

from __future__ import annotations

from larm.building.ground import Ground
from larm.building.mission import Mission
from larm.building.readers import terms_of
from larm.kit.processes.helper_process import HelperProcess
from larm.kit.processes.memory_budget import MemoryBudget
from larm.processing.triage import SLOW, Triage, Work
from larm.reading.ahead import CHILD, new_reader, readers_of
from larm.reading.heavy import PATIENCE, HeavyReader
from larm.reading.lane import ReliefLane
from larm.reading.page_reader import PageReader
from larm.reading.slow_lane import SlowLane
from larm.river.parts import Frontier, Reading


def reading_of(
    ground: Ground, mission: Mission, frontier: Frontier, memory: MemoryBudget, ahead: HelperProcess | None
) -> Reading:
    """``ahead``: the first process that reads pages, if it is there already. Raises ConfigError."""
    settings, queues = ground.settings, frontier.queues
    counted = ground.shared.counters.add
    triage = Triage(settings.processing, settings.fetch.page_size)
    terms = terms_of(settings, ground.directory, mission.start_urls)
    first = [] if ahead is None else [ahead]
    others = [new_reader(settings.processing) for _ in range(readers_of(settings.processing) - len(first))]
    readers = [PageReader(terms, counted, process) for process in (*first, *others)]
    large = PageReader(terms, counted, HelperProcess(CHILD, memory.most), PATIENCE)  # started when there is a large page
    heavy = HeavyReader(large, triage.memory, memory)
    for close in (*(reader.close for reader in readers), heavy.close):
        ground.closed(close)
    return Reading(
        work=triage.work,
        slow=SlowLane(lambda fetched: triage.work(fetched) in SLOW, settings.storage.queue),
        heavy=heavy,
        relief=ReliefLane(
            ground.shared.clock, queues.answered, queues.enough, lambda fetched: triage.work(fetched) is Work.LIGHT
        ),
        readers=readers,
    )
