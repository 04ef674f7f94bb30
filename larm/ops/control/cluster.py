"""What one agent of several says of all of them, and what it does not do for others.

Made by `larm.ops.observers` of a crawl that several do; on the control thread, and `figures` on any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from larm.engine.figures.snapshot import ClusterFigures
from larm.engine.limits import Limits
from larm.engine.orders import AnyOrder, Block, Done, Pause, Reopen, Resume, Set, Unblock
from larm.errors import UsageError, refusing
from larm.kit.commands import command
from larm.model.url import BadUrl
from larm.ops.control.requests import Agents, AgentTable, All, Leave

if TYPE_CHECKING:
    from larm.building.ground import Ground
    from larm.cluster.node import Node  # for crawls that have a cluster


class Cluster:
    """Constant after construction."""

    def __init__(self, ground: Ground, node: Node) -> None:
        self._ground = ground
        self._node = node

    def figures(self) -> ClusterFigures | None:
        """Return the figures of all agents."""
        return self._node.together.totals

    def answer(self, request: Agents | All | Leave) -> AgentTable | Done:
        """At once. Raises UsageError."""
        match request:
            case Agents(host):
                return self._table(host)
            case All("set", key, value):
                return Done(self._node.together.change(key, value))
            case All(what):
                return Done(self._node.together.order(what))
            case Leave():
                self._node.leave()
                return Done("it hands its hosts over to the other agents, then it ends")

    def check(self, order: AnyOrder) -> None:
        """Raises UsageError for what is not this agent's to do alone."""
        match order:
            case Set(key, value):
                Limits(self._ground.settings).check_in_cluster(key, value)
            case Block(host) | Unblock(host) | Reopen(_, host) if host and (place := self._elsewhere(host)):
                raise UsageError(f"{host} belongs to the agent {place}: ask that one")

    def _table(self, host: str) -> AgentTable:
        node, state = self._node, self._node.agent.state
        owner = self._owner(host) if host else ""
        name, epoch = self._ground.settings.cluster.name, state.view.epoch
        lines = tuple(node.together.lines())
        return AgentTable(
            cluster=name,
            me=node.me,
            epoch=epoch,
            begun=node.agent.begun,
            agents=lines,
            owner=owner,
            totals=node.together.sums(list(lines)),
            changes=node.agent.session.command.changes,
        )

    def _elsewhere(self, host: str) -> str:
        """Return where the agent is that has this host; empty: it is ours."""
        owner = self._owner(host)
        return "" if owner in ("", self._node.me) else self._node.together.place(owner)

    def _owner(self, host: str) -> str:
        with refusing(host[:200], BadUrl):
            return self._node.owners.owner(self._ground.normalizer.parse(host if "://" in host else f"http://{host}/").host)


def of_one_agent(order: AnyOrder, done: Done) -> Done:
    """What is said of an order that only one of several agents has carried out."""
    match order:
        case Pause():
            more = "; the other agents go on, but for 'larm cluster pause'"
        case Resume():
            more = "; of other agents, those that are paused stay so, but for 'larm cluster resume'"
        case Set(key, value):
            more = f" for the hosts of this agent; for all agents: {command('cluster', 'set', f'{key}={value}')}"
        case _:
            more = ""
    return msgspec.structs.replace(done, says=done.says + more)
