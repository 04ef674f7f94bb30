"""The ledger of a run: what its checkpoints say beside the state of its parts. Called by the wiring on the main thread."""

from collections.abc import Callable

from larm.building.frontier import standing_of
from larm.building.ground import Ground
from larm.building.mission import Mission, StoragesApart
from larm.building.recrawl import cycle_of
from larm.crawldir.marker import set_marker
from larm.engine.checkpointer import Ledger
from larm.engine.parts import Frontier
from larm.frontier.checkpoint import Following, Header
from larm.frontier.queue_row import EMPTY
from larm.version import VERSION


def ledger_of(
    ground: Ground,
    mission: Mission,
    frontier: Frontier,
    apart: StoragesApart,
    *,
    met: Callable[[], dict[str, list[str]]],
    following: Following,
) -> Ledger:
    """``met``, ``following``: see `Header`."""
    header = Header(
        incoming=EMPTY,
        counters={},
        logs={},
        storages={name: dict(position) for name, position in apart.absent.items()},
        scope_hosts=[],
        restrict_to=ground.settings.crawl.restrict_to,
        start_urls=list(mission.start_urls),
        cycle=cycle_of(ground, mission),
        missed=apart.missed(again=mission.again),
        following=following,
        parts=ground.header.parts if ground.header else {},
    )
    return Ledger(
        ground.state.file,
        header,
        met,
        standing=lambda: standing_of(ground, frontier),
        begun=lambda: set_marker(ground.directory, VERSION, saved=True),
    )
