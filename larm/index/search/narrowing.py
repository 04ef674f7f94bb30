"""What a search is narrowed down to, as conditions of its tree. Pure; called by the searcher."""

from larm.index.tree import All, Any, Dates, Meta, Node, join
from larm.model.facets import DAYS, Narrowed
from larm.model.restriction import READERS, OpenTo

_DAY = 86_400


def narrowed(tree: Node | None, to: Narrowed, now: float, *, open_to: OpenTo = "owner") -> Node | None:
    """Return the tree with its conditions; ``now`` in seconds since 1970. ``open_to``: the readers it is for."""
    values = ("host", to.site), ("mime", to.type), ("lang", to.language)
    conditions: list[Node] = [Meta(name, value.strip().lower()) for name, value in values if value.strip()]
    if open_to in READERS:
        conditions.append(Any(tuple(Meta("open", value) for value in READERS[open_to])))
    if to.age:
        conditions.append(Dates(low=int(now) - DAYS[to.age] * _DAY))
    if tree is None or not conditions:
        return tree
    return join((*(tree.items if isinstance(tree, All) else (tree,)), *conditions))
