"""The order of the filter chain, as names. Pure; called by `larm.building.named_parts` on the main thread.

With the default ``filters.order`` and all filters present, the chain is::

    forgotten > known_paths > files > scope > length > owner > away > sessions > visited > copies > mail > robots > traps

Users order ``known_paths``, ``files``, ``scope``, ``length``, ``visited``, ``robots``, ``traps`` and filters of their own. The
others have fixed places relative to these.
"""

from collections.abc import Collection, Sequence

OPTIONAL = frozenset({"files", "robots"})
"""Filters of ``filters.order`` that a run may leave out: no start URL is a file; robots.txt is not obeyed."""


def full_order(configured: Sequence[str], present: Collection[str]) -> list[str]:
    """Return the names of all filters of a chain.

    ``present``: names of filters outside ``configured``, and of `OPTIONAL` ones that take part.
    """
    order = [name for name in configured if name in present or name not in OPTIONAL]
    if robots_first(order):
        order.remove("scope")
        order.insert(order.index("robots"), "scope")

    def insert(name: str, neighbours: Collection[str], behind: int = 0) -> None:
        if name in present:
            place = next((place + behind for place, other in enumerate(order) if other in neighbours), len(order))
            order.insert(place, name)

    insert("owner", {"visited", "robots", "traps"})  # these filters know only hosts of this agent
    insert("away", {"visited"})  # URLs of a host on its way to another agent do not count as visited
    insert("sessions", {"visited"})  # the same page with and without a session counts as one
    insert("copies", {"visited"}, behind=1)
    if "robots" in order and "visited" in order[: order.index("robots")]:
        insert("mail", {"robots"})  # only new URLs wait for the record of a paged-out host
    return ["forgotten", *order] if "forgotten" in present else order


def robots_first(order: Sequence[str]) -> bool:
    """Return True if hosts out of scope would be asked for their robots.txt."""
    return [name for name in order if name in ("robots", "scope")] == ["robots", "scope"]
