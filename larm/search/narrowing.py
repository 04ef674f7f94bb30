"""What a search is narrowed down to, as conditions of its tree. Pure; called by the searcher."""

from larm.index.tree import All, Dates, Meta, Node, Not, join
from larm.model.facets import DAYS, Narrowed

_DAY = 86_400


def narrowed(tree: Node | None, to: Narrowed, now: float, *, web: bool = False) -> Node | None:
    """The tree with its conditions; ``now`` in seconds since 1970. ``web``: no files."""
    values = ("host", to.site), ("mime", to.type), ("lang", to.language)
    conditions: list[Node] = [Meta(name, value.strip().lower()) for name, value in values if value.strip()]
    if web:
        conditions.append(Not(Meta("host", "")))  # files have none
    if to.age:
        conditions.append(Dates(low=int(now) - DAYS[to.age] * _DAY))
    if tree is None or not conditions:
        return tree
    return join((*(tree.items if isinstance(tree, All) else (tree,)), *conditions))
