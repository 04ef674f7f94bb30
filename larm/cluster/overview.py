"""Overview: the agents of a cluster, and the figures of all of them together, from what etcd has. Pure; any thread.

The last line is the sum of the rows above it.
"""

from collections.abc import Callable, Mapping

from larm.cluster.card import Card
from larm.cluster.keys import SeenAgent, View
from larm.cluster.page_sample import overlap
from larm.engine.figures.snapshot import AgentLine, ClusterFigures


def agent_lines(
    view: View,
    agents: Mapping[str, SeenAgent],
    cards: Mapping[str, Card],
    silent: Callable[[str], float],
    *,
    lease: float,
    wall: float = 0.0,
    over: bool = False,
    me: str = "",
    waits: Mapping[str, int] | None = None,
) -> list[AgentLine]:
    """Return all agents of which anything is known.

    ``silent``: seconds, by name; ``wall``: seconds since 1970, now; ``over``: the run has ended; ``me``: an agent that runs;
    ``waits``: URLs for each, here.
    """
    found = []
    for name in sorted({*view.members, *agents, *cards, *(waits or {})}):
        card, member, seen = cards.get(name, Card()), view.members.get(name), agents.get(name)
        since = silent(name) if seen is not None else -1.0
        state = _state(inside=member is not None, seen=seen, quiet=since >= lease, card=card)
        state = "stopped" if over and state == "silent" else "waiting" if name == me and state == "gone" else state
        figures = card.figures
        found.append(
            AgentLine(
                name=name,
                address=seen.state.address if seen is not None else card.address,
                weight=member.weight if member is not None else 0.0,
                state=state,
                silent=since,
                waits=(waits or {}).get(name, 0),
                pages=figures.pages,
                queued=0 if state == "gone" else figures.waiting,
                serve=card.serve,
                directory=card.directory,
                work=dict(figures.work),
                age=max(0.0, wall - card.taken) if card.taken and seen is not None and not seen.state.stopped else -1.0,
            )
        )
    return found


def _state(*, inside: bool, seen: SeenAgent | None, quiet: bool, card: Card) -> str:
    if seen is not None and seen.state.stopped:
        return "stopped"
    if inside:
        return "silent" if seen is None or quiet else "paused" if card.figures.paused else "working"
    if seen is None:
        return "gone"
    return "leaving" if seen.state.leaving else "waiting"


def totals(lines: list[AgentLine], cards: Mapping[str, Card], holds: str = "") -> ClusterFigures:
    """Return the figures of the agents in these rows together. ``holds``: why this agent sends no requests."""
    figures = [cards[line.name].figures for line in lines if line.name in cards]
    known = sum(cards[line.name].figures.known for line in lines if line.name in cards and line.state != "gone")
    pages, waiting = sum(line.pages for line in lines), sum(line.queued for line in lines)
    return ClusterFigures(
        agents=sum(line.weight > 0 for line in lines),
        working=sum(line.state in {"working", "paused"} for line in lines),
        paused=sum(line.state == "paused" for line in lines),
        pages=pages,
        waiting=waiting,
        coverage=round(max(0.0, 1 - waiting / known), 4) if known else 0.0,
        overlap=round(overlap(each.sample for each in figures), 4),
        sent_per_page=round(sum(each.sent for each in figures) / pages, 4) if pages else 0.0,
        recovered=sum(each.recovered for each in figures),
        holds=holds,
    )
