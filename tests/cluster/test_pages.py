"""Pages: --max-pages of all agents, exactly, however they take and give back."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from larm.cluster.applicant import Mine
from larm.cluster.pages import Pages
from larm.engine.allowance import PageBudget
from tests.cluster.test_session import Agent, Cluster


class Crawler:
    """An agent whose requests end when the test says so."""

    def __init__(self, agent: Agent, limit: int) -> None:
        self.agent, self.limit = agent, limit
        self.budget, self.pages = PageBudget(limit, 0), Pages()
        self.pages.take(self.budget)
        self.in_flight = 0
        self.work = True

    def fetch(self, count: int) -> None:
        self.in_flight += len(self.budget.spend(count, lambda granted: [0] * granted))

    def end(self, count: int, *, page: bool) -> int:
        count = min(count, self.in_flight)
        self.in_flight -= count
        self.budget.settle(count, count if page else 0)
        return count if page else 0

    def round(self, now: float) -> None:
        wants, keep = self.pages.wanted(now, work=self.work)
        self.agent.mine = Mine(limit=self.limit, wants=wants, keep=keep)
        self.agent.round()
        self.pages.granted(self.agent.session.granted)


STEP = st.tuples(
    st.integers(0, 1), st.sampled_from(["fetch", "page", "fail", "round", "round", "rest", "work", "lost"]), st.integers(1, 9)
)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.lists(STEP, max_size=60))
def test_all_agents_together_fetch_the_limit_and_not_one_page_more(limit: int, steps: list[tuple[int, str, int]]) -> None:
    cluster = Cluster()
    some = [Crawler(agent, limit) for agent in cluster.start("a", "b")]
    fetched = 0

    def check() -> None:
        assert fetched + sum(each.in_flight for each in some) <= limit

    def turn(who: Crawler) -> None:
        cluster.now += 0.5
        who.round(cluster.now)

    for number, what, count in steps:
        who = some[number]
        match what:
            case "fetch":
                who.fetch(count)
            case "page" | "fail":
                fetched += who.end(count, page=what == "page")
            case "round":
                turn(who)
            case "rest" | "work":
                who.work = what == "work"
            case "lost":
                who.agent.wire.answers = ["lost answer"]
        check()
    for _ in range(40):
        for who in some:
            who.work = True
            turn(who)
            who.fetch(limit)
            check()
            fetched += who.end(limit, page=True)
    assert fetched == limit, "what was given back is fetched by others"
    assert all(who.pages.exhausted and who.agent.session.short for who in some)


def test_agent_asks_for_more_before_the_last_page_is_fetched() -> None:
    """A grant takes a round or two, and it fetches ten pages a second meanwhile."""
    cluster = Cluster()
    who = Crawler(cluster.start("a", "b")[0], 1_000)
    cluster.now += 1.0
    who.round(cluster.now)
    wanted = []
    for _ in range(30):
        who.fetch(10)
        who.end(10, page=True)
        cluster.now += 1.0
        wanted.append(who.pages.wanted(cluster.now, work=True)[0])
    first = wanted.index(True)
    granted = who.agent.session.granted
    assert granted - 10 * (first + 1) in range(1, 31)


def test_crawl_without_a_limit_takes_no_pages() -> None:
    pages, budget = Pages(), PageBudget(None, 0)
    pages.take(budget)
    assert pages.wanted(1.0, work=True) == (False, None)
    assert not pages.granted(5)
    assert budget.open
    assert not pages.exhausted


def test_nothing_is_fetched_before_etcd_has_granted_it() -> None:
    """Also of an agent that was started again: what it may fetch is in etcd."""
    pages, budget = Pages(), PageBudget(100, 30)
    pages.take(budget)
    assert not budget.open
    assert pages.granted(40)
    assert len(budget.spend(100, lambda granted: [0] * granted)) == 10
