"""What one agent of a crawl by several says of all of them, to who looks at it. Called by `larm.ops.observers`; any thread."""

from larm.building.ground import Ground
from larm.cluster.node import Node
from larm.errors import UsageError
from larm.model.url import BadUrl
from larm.ops.control.cluster import Cluster
from larm.ops.control.requests import AgentTable


def cluster_of(ground: Ground, node: Node) -> Cluster:
    """For the control socket and the figures."""
    return Cluster(
        table=lambda host: _table(ground, node, host),
        leave=node.leave,
        order=lambda asked: node.together.order(asked.what),
        elsewhere=lambda host: _elsewhere(ground, node, host),
        figures=lambda: node.together.totals,
    )


def _table(ground: Ground, node: Node, host: str) -> AgentTable:
    """What ``larm cluster status`` shows. Any thread. Raises UsageError where ``host`` is none."""
    owner = _owner(ground, node, host) if host else ""
    lines, membership = tuple(node.look()), node.agent.membership
    name, epoch = ground.settings.cluster.name, membership.view.epoch
    return AgentTable(name, node.me, epoch, membership.begun, lines, owner, node.together.totals)


def _elsewhere(ground: Ground, node: Node, host: str) -> str:
    """Of a host that another agent has, where that is, for a person; empty: it is ours. Any thread. Raises UsageError."""
    owner = _owner(ground, node, host)
    return "" if owner in ("", node.me) else node.together.place(owner)


def _owner(ground: Ground, node: Node, host: str) -> str:
    try:
        return node.owners.owner(ground.normalizer.parse(host if "://" in host else f"http://{host}/").host)
    except BadUrl as error:
        raise UsageError(f"{host[:200]}: {error}") from error
