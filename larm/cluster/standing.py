"""Standing: how a cluster stands, as one of its agents sees it. Any thread."""

from collections.abc import Mapping

from larm.cluster.agent import Agent
from larm.cluster.card import Card
from larm.cluster.contact import NEVER
from larm.cluster.terms import Rule
from larm.engine.figures.snapshot import AgentLine


def standing(agent: Agent, rule: Rule, addresses: Mapping[str, str], cards: Mapping[str, Card], now: float) -> list[AgentLine]:
    """All agents that it knows of, with the last that each said of itself."""
    with agent.lock:
        membership, contact = agent.membership, agent.membership.contact
        waits = agent.courier.waits_for()
        found = []
        for name in sorted({*membership.view.members, *contact.beats, *waits}):
            silent = 0.0 if name == membership.me else contact.silent(name, now)
            beat = contact.beats.get(name)
            inside = name in membership.view.members
            state = "working" if silent < rule.rules.lease else "silent"
            if not inside:
                state = "waiting" if beat is not None and beat.wish == "join" and state == "working" else "given up"
                if beat is not None and not beat.wish and beat.epoch and name not in beat.view.members:
                    state = "left"  # as one that was given up would know it and wish to come back, or not know it
            weight = membership.view.members.get(name, beat.weight if beat is not None else 0.0)
            address = rule.address if name == membership.me else addresses.get(name, "")
            card = cards.get(name, Card(address))
            silence = -1.0 if silent == NEVER else silent
            state = "paused" if card.figures.paused and state == "working" else state
            said = card.figures.pages, card.figures.waiting, card.serve, card.directory
            found.append(AgentLine(name, address, weight, state, silence, waits.get(name, 0), *said))
        return found
