"""What people are told of what a host holds back. Pure; the lock of the `HostBook` is held."""

from larm.frontier.host import Host
from larm.frontier.traps.records import PatternRecord, State
from larm.model.left import HostLeft, PatternLeft

TOLD = 20
"""Hosts of which people are told what is left, those with the most; and patterns of each."""
_STATES = {
    State.OPEN: "does not change the text",
    State.CLOSED: "went on without anything new; whether it is a trap is not decided yet: what it holds back is asked for when"
    " its host has nothing else to do, or by a later run",
    State.TRAP: "is a trap: it went on and on without anything new ('larm crawl --parked' fetches what it holds back)",
    State.SAME: "does not change the text ('larm crawl --parked' fetches what it holds back)",
}


def why_held(found: PatternRecord) -> str:
    """Why its addresses are."""
    return f"pattern {found.text} {_STATES[found.state]}"


def left_at(host: Host) -> HostLeft:
    """What a host holds back."""
    traps = host.traps
    if traps is None:
        return HostLeft(host.key)
    report = traps.report()
    patterns = [PatternLeft(text, state, held) for text, state, held in report[:TOLD]]
    return HostLeft(host.key, traps.held, traps.over, tuple(patterns), tuple(sorted(traps.parameters.empty)))
