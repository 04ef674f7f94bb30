"""The revisit of a crawl that has ended once: what of its page book is asked for again.

Called by `larm.building.wiring` on the main thread.
"""

from larm.building.ground import Ground
from larm.building.mission import Mission, limits_of
from larm.crawldir.state import PAGES, QUEUES
from larm.engine.parts import Frontier
from larm.engine.recrawl.revisit import Demand, Recrawl
from larm.model.message import URLMessage


def recrawl_of(ground: Ground, mission: Mission, frontier: Frontier, notes: list[str], *, whole: bool) -> Recrawl | None:
    """None: the crawl is still in its first cycle. ``whole``: none may be answered by "not modified"."""
    ground.suspects.begin(cycle_of(ground, mission))
    if not cycle_of(ground, mission):
        return None
    settings = ground.settings.recrawl
    demand = Demand(settings.most_gone, settings.share, settings.give_up, settings.current, limits_of(ground.settings), whole)
    return Recrawl(
        ground.directory / QUEUES / PAGES,
        _asked_again(mission, frontier),
        demand,
        notes.append,
        ground.normalizer.parse,
        wall=ground.shared.clock.wall,
        is_given_up=frontier.book.is_given_up,
        state=None if mission.again or ground.header is None else ground.header.parts.get(Recrawl.name, {}),
    )


def _asked_again(mission: Mission, frontier: Frontier) -> list[URLMessage]:
    """The start URLs of a revisit that begins, without those that may wait at their hosts still."""
    waits = frontier.book.waits
    return [URLMessage(url) for url in mission.urls if not waits(url.host)] if mission.again else []


def cycle_of(ground: Ground, mission: Mission) -> int:
    """How many times the crawl has begun anew to ask for its pages."""
    return (ground.header.cycle if ground.header else 0) + mission.again
