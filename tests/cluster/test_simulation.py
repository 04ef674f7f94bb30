"""Many agents, whatever may happen to them: what the design promises holds. See ``simulation.py``."""

from __future__ import annotations

import itertools

import pytest

from larm.cluster.membership import Rules
from tests.cluster.simulation import World

RULES = Rules(lease=3.0, adopt_after=12.0, minority="fence")


def begun(seed: int, agents: int, hosts: int, rules: Rules, **how: int) -> World:
    world = World(seed, agents, hosts, rules, **how)
    for name in world.names:
        world.start(name)
    return world


def test_nothing_happens() -> None:
    world = begun(1, 5, 100, Rules(lease=3.0, adopt_after=12.0, agents=5))
    assert world.run(200)
    assert set(world.fetched) == world.all_pages()
    assert set(world.fetched.values()) == {1}
    assert len({world.ring(world.running[world.names[0]].membership().view.members).owner(host) for host in world.hosts}) == 5


def trouble(world: World, until: float, *, kinds: str, every: float) -> None:
    """Something happens every few seconds; afterwards all is well again, but for those that are gone for good."""
    chance = world.chance
    newcomers = itertools.count()
    at_first = len(world.names)

    def happen() -> None:
        if world.now > until:
            world.cut.clear()
            for name in world.names:
                world.start(name)
            return
        world.at(world.now + chance.uniform(0.2, 2) * every, happen)
        kind, name, other = chance.choice(kinds), chance.choice(world.names), chance.choice(world.names)
        lasts = chance.choice([chance.uniform(0.3, 6), chance.uniform(6, 60)])
        match kind:
            case "k":  # kill -9 and return
                world.kill(name)
                world.at(world.now + lasts, lambda: world.start(name))
            case "s":
                world.asleep[name] = world.now + lasts
            case "c":  # one direction, or an agent altogether
                pairs = {(name, other)} if chance.random() < 0.5 else {(name, any_) for any_ in world.names}
                pairs |= {(b, a) for a, b in pairs} if chance.random() < 0.7 else set()
                world.cut |= pairs
                world.at(world.now + lasts, lambda: world.cut.difference_update(pairs))
            case "g" if name in members(world) and len(members(world)) > 3 and not world.lost_for_good:  # with its disk
                world.kill(name)
                world.lost_for_good.add(name)
            case "j" if len(world.running) < 2 * at_first:
                world.names.append(f"late-{next(newcomers):02}")
                world.start(world.names[-1])
            case "l" if name in world.running and len(world.running) > max(4, 0.5 * at_first):
                world.running[name].membership().leaving = True

    world.at(2.0, happen)


KINDS = ["k", "s", "c", "kg", "jl", "kscgjl"]
"""Kills and returns, suspensions, cuts, agents gone for good, those that join and leave; together."""


@pytest.mark.parametrize("kinds", KINDS)
def test_trouble(kinds: str) -> None:
    through_trouble(1, kinds)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("seed", range(100, 110))
def test_more_trouble(seed: int, kinds: str) -> None:
    through_trouble(seed, kinds)


def test_twenty_agents() -> None:
    """With 1,000 hosts; each ask in a hundred is checked against all other agents."""
    through_much_trouble(20, 1_000, every=2.0)


@pytest.mark.slow
@pytest.mark.timeout(1_000)
def test_thirty_agents() -> None:
    """With 10,000 hosts."""
    through_much_trouble(30, 10_000, every=2.0)


@pytest.mark.slow
@pytest.mark.timeout(6_000)
def test_a_hundred_agents() -> None:
    """With 100,000 hosts: four minutes of CPU."""
    through_much_trouble(100, 100_000, every=1.0)


@pytest.mark.parametrize("least", [50, pytest.param(1_000, marks=[pytest.mark.slow, pytest.mark.timeout(1_000)])])
def test_joins_and_leaves_by_the_thousand(least: int) -> None:
    """6 agents; each tenth of a second somebody comes or wishes to leave, until so many have."""
    world = begun(1, 6, 6, RULES, pages=4 * least, pace=1)
    trouble(world, 10_000.0, kinds="jl", every=0.1)
    assert world.run(10_000), told(world)
    assert set(world.fetched) == world.all_pages()
    assert set(world.fetched.values()) == {1}, "who joins or leaves as planned costs no page twice"
    assert len(world.names) - 6 + len(world.left) > least


def through_much_trouble(agents: int, hosts: int, every: float) -> None:
    world = begun(1, agents, hosts, RULES, pages=2, pace=20, checks=100)
    trouble(world, 60.0, kinds="kscgjl", every=every)
    assert world.run(1_200), told(world)
    assert set(world.fetched) == world.all_pages()
    check_overlap(world, "kscgjl")


def through_trouble(seed: int, kinds: str) -> None:
    world = begun(seed, 5, 60, RULES, pages=8, pace=2)
    trouble(world, 120.0, kinds=kinds, every=8.0)
    assert world.run(900), told(world)
    assert set(world.fetched) == world.all_pages()
    check_overlap(world, kinds)
    if kinds == "jl":
        assert set(world.fetched.values()) == {1}, "who joins or leaves as planned costs no page twice"


def check_overlap(world: World, kinds: str) -> None:
    """No page is fetched more often than what has happened allows; of those who leave amid deaths all together are counted."""
    if "l" in kinds and "k" in kinds:
        assert sum(times - 1 for times in world.fetched.values()) <= world.again.total()
    else:
        assert world.beyond() == {}


def members(world: World) -> set[str]:
    """In the newest view."""
    newest = max((process.membership().view for process in world.running.values()), key=lambda view: view.epoch)
    return set(newest.members)


def told(world: World) -> str:
    lines = [f"seed {world.seed}: no end after {world.now:.0f} s"]
    for name, process in world.running.items():
        membership = process.membership()
        lines.append(
            f"{name}: epoch {membership.view.epoch} of {len(membership.view.members)}, {len(membership.views)} views, "
            f"inside {membership.inside}, fenced {membership.fenced(world.now)}, released {membership.released},"
            f" over {membership.over}, waits {process.agent.courier.waits_for()},"
            f" ready {len(process.ready)}, {process.agent.quiet('')},"
            f" gone {process.agent._gone}"
        )
    return "\n".join(lines)
