"""Overview: the row of each agent, and a last line that is their sum in each state of a cluster."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.cluster.card import Card, Figures
from larm.cluster.keys import AgentState, SeenAgent, View
from larm.cluster.overview import agent_lines, totals
from tests.support.views import view

NAMES = "abcd"
CARDS = st.builds(
    Card,
    figures=st.builds(
        Figures, pages=st.integers(0, 999), known=st.integers(0, 999), waiting=st.integers(0, 999), paused=st.booleans()
    ),
)
SEEN = st.builds(
    SeenAgent, st.builds(AgentState, st.just(1), st.just(1), stopped=st.booleans(), leaving=st.booleans()), st.just(1)
)


@given(
    st.sets(st.sampled_from(NAMES)),
    st.dictionaries(st.sampled_from(NAMES), SEEN),
    st.dictionaries(st.sampled_from(NAMES), CARDS),
    st.dictionaries(st.sampled_from(NAMES), st.floats(0, 100)),
    st.booleans(),
)
def test_last_line_is_the_sum_of_the_rows(
    members: set[str], agents: dict[str, SeenAgent], cards: dict[str, Card], silent: dict[str, float], over: bool
) -> None:
    lines = agent_lines(view(1, *members), agents, cards, lambda name: silent.get(name, 0.0), lease=20.0, over=over)
    found = totals(lines, cards)
    assert found.pages == sum(line.pages for line in lines)
    assert found.waiting == sum(line.queued for line in lines)
    assert found.agents == len(members)
    assert found.working == sum(line.state in {"working", "paused"} for line in lines)
    assert found.paused == sum(line.state == "paused" for line in lines)
    assert [line.name for line in lines] == sorted({*members, *agents, *cards})


def test_figures_of_a_running_agent_have_an_age() -> None:
    agents = {"a": SeenAgent(AgentState(1, 1), 1), "b": SeenAgent(AgentState(1, 1, stopped=True), 1)}
    cards = {name: Card(taken=1_000.0) for name in "abc"}
    lines = agent_lines(view(1, "a", "b"), agents, cards, lambda _: 0.0, lease=20.0, wall=1_012.0)
    assert [line.age for line in lines] == [12.0, -1.0, -1.0]


@pytest.mark.parametrize(
    ("member", "seen", "silent", "over", "state"),
    [
        (True, AgentState(1, 1), 1.0, False, "working"),
        (True, AgentState(1, 1), 20.0, False, "silent"),
        (True, AgentState(1, 1), 20.0, True, "stopped"),
        (True, AgentState(1, 1, stopped=True), 1.0, False, "stopped"),
        (True, None, 0.0, True, "stopped"),
        (False, AgentState(1, 1, leaving=True), 1.0, False, "leaving"),
        (False, AgentState(1, 1), 1.0, False, "waiting"),
        (False, None, 1.0, False, "gone"),
    ],
)
def test_state_of_an_agent(member: bool, seen: AgentState | None, silent: float, over: bool, state: str) -> None:
    agents = {} if seen is None else {"a": SeenAgent(seen, 1)}
    cards = {"a": Card("there", figures=Figures(pages=3, known=9, waiting=6))}
    (line,) = agent_lines(view(1, *("a" * member)), agents, cards, lambda _: silent, lease=20.0, over=over)
    assert line.state == state
    assert line.queued == (0 if state == "gone" else 6), "others have found again what waited at a lost agent"


def test_member_of_which_nothing_was_heard_has_a_row() -> None:
    (line,) = agent_lines(View(1, view(1, "a").members), {}, {}, lambda _: 0.0, lease=20.0, waits={"a": 7})
    assert (line.state, line.silent, line.waits) == ("silent", -1.0, 7)
