"""Built: the parts of a crawl that those who look at it are given. Made by the wiring on the main thread, before it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from larm.building.ground import Ground
    from larm.cluster.node import Node
    from larm.engine.checkpointer import Checkpointer
    from larm.engine.parts import Frontier, Observers
    from larm.engine.recent import Recent
    from larm.engine.steering import Steering
    from larm.fetch.look_ups import LookUps
    from larm.store.lines import StorageLines


class Built(NamedTuple):
    """All of a crawl but its threads."""

    ground: Ground
    frontier: Frontier
    lines: StorageLines
    checkpointer: Checkpointer
    steering: Steering
    recent: Recent
    names: LookUps | None
    """Where fetchers have hosts looked up."""
    node: Node | None
    """Of a crawl by several agents."""


Observe = Callable[[Built], "Observers"]
"""Who looks at it; raises StorageError."""
