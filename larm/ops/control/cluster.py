"""What one agent of several answers for all of them, and what it does not do for others. On the control thread only."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from larm.engine.figures.snapshot import ClusterFigures
from larm.engine.orders import AnyOrder, Block, Done, Pause, Reopen, Resume, Set, Unblock
from larm.errors import UsageError
from larm.ops.control.requests import Agents, AgentTable, All, Leave


class Cluster(NamedTuple):
    """What an agent says of a crawl that several do."""

    table: Callable[[str], AgentTable]
    """With the host that is asked for."""
    leave: Callable[[], object]
    order: Callable[[All], str]
    """Have all agents do it; what is to be said of it."""
    elsewhere: Callable[[str], str]
    """Of a host that another agent has, where that is; empty: it is ours."""
    figures: Callable[[], ClusterFigures | None]

    def answer(self, request: Agents | All | Leave) -> AgentTable | Done:
        """At once. Raises UsageError."""
        match request:
            case Agents(host):
                return self.table(host)
            case All():
                return Done(self.order(request))
            case Leave():
                self.leave()
                return Done("it hands its hosts over to the other agents, then it ends")

    def check(self, order: AnyOrder) -> None:
        """Raises UsageError for what is not this agent's to do alone."""
        match order:
            case Set(key="crawl.max_pages"):
                raise UsageError(
                    "crawl.max_pages is that of all agents: end them ('larm cluster stop'), and start each with another"
                )
            case Block(host) | Unblock(host) | Reopen(_, host) if host and (place := self.elsewhere(host)):
                raise UsageError(f"{host} belongs to the agent {place}: ask that one")


def of_one_agent(order: AnyOrder, done: Done) -> Done:
    """What is said of an order that only one of several agents has carried out."""
    match order:
        case Pause():
            more = "; the other agents go on, but for 'larm cluster pause'"
        case Resume():
            more = "; of other agents, those that are paused stay so, but for 'larm cluster resume'"
        case Set():
            more = " for the hosts of this agent"
        case _:
            more = ""
    return msgspec.structs.replace(done, says=done.says + more)
