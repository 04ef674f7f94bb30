"""One --max-pages of several agents: never one too many, and in the end all that there are."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from larm.cluster.card import Pages
from larm.cluster.quota import Quota
from larm.engine.allowance import PageBudget


class One:
    """An agent: so many pages it could fetch, and the last that the others heard of it."""

    def __init__(self, name: str, work: int) -> None:
        self.quota = Quota(name)
        self.budget = PageBudget(1, 0)
        self.budget.share()
        self.work = work
        self.quota.spend(0)


def fetch(one: One, chance: random.Random) -> None:
    wanted = min(one.work, chance.randrange(20))
    got = len(one.budget.spend(wanted, lambda count: [None] * min(count, wanted)))
    one.budget.settle(got, got)
    one.work -= got


def look(one: One, limit: int, first: bool, agents: list[One]) -> None:
    one.quota.spend(one.budget.spent)
    if first:
        one.quota.hand_out(limit, [each.quota.me for each in agents if each.work and each.quota.most - each.budget.spent < 3])
    if not one.work:
        one.quota.give_back(one.budget.give_up(1.0))
    elif agents[0].quota.short:
        one.quota.give_back(one.budget.give_up(0.5))
    one.budget.change(one.quota.most)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 300), min_size=1, max_size=5), st.integers(1, 400))
def test_never_one_too_many_and_all_in_the_end(seed: int, work: list[int], limit: int) -> None:
    """Cards come late, out of turn, or never; all that can be fetched within the limit is."""
    chance = random.Random(seed)
    agents = [One(f"agent-{number}", some) for number, some in enumerate(work)]
    for turn in range(3_000):
        one = chance.choice(agents)
        match chance.randrange(3):
            case 0:
                fetch(one, chance)
            case 1:
                look(one, limit, first=one is agents[0], agents=agents)
            case _:
                chance.choice(agents).quota.learn(dict(one.quota.known))
        spent = sum(each.budget.spent for each in agents)
        assert spent <= limit
        if spent == min(limit, sum(work)):
            return
        if turn > 1_500:
            for other in agents:
                agents[0].quota.learn(dict(other.quota.known))
                other.quota.learn(dict(agents[0].quota.known))
    raise AssertionError(f"only {spent} of {limit}, of {sum(work)} that there are")


def test_what_others_say_of_us_does_not_bring_pages_back() -> None:
    quota = Quota("one")
    quota.spend(7)
    quota.learn({"one": Pages(3, 20, 10)})
    assert (quota.known["one"], quota.most) == (Pages(7, 20, 10), 10)


def test_who_comes_next_goes_on_with_what_he_knows() -> None:
    first, second = Quota("one"), Quota("two")
    first.hand_out(100, ["one", "two"])
    second.learn(dict(first.known))
    second.hand_out(100, ["two"], alone=True)
    assert second.known["one"].granted + second.known["two"].granted == 100
