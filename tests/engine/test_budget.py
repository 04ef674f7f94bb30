"""--max-pages is exact."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.engine.allowance import PageBudget
from larm.kit.threads.workers import Workers


def reserve(budget: PageBudget, wanted: int) -> int:
    """As if there were always something to lease."""
    return len(budget.spend(wanted, lambda granted: [None] * granted))


def test_without_a_limit_everything_is_granted() -> None:
    budget = PageBudget(None, 5)
    assert reserve(budget, 1_000_000) == 1_000_000
    budget.settle(1_000_000, 1_000_000)
    assert not budget.exhausted
    assert not budget.limited


def test_what_is_in_the_air_is_reserved() -> None:
    budget = PageBudget(10, 0)
    assert budget.limited
    assert reserve(budget, 8) == 8
    assert budget.open
    assert reserve(budget, 8) == 2
    assert budget.open is False, "no request may be sent"
    assert reserve(budget, 1) == 0
    assert not budget.exhausted, "they may all come back without a page"


def test_what_is_not_leased_is_not_reserved() -> None:
    budget = PageBudget(10, 0)
    seen: list[bool] = []
    assert budget.spend(20, lambda granted: [granted]) == [10]
    assert budget.spend(20, lambda granted: [seen.append(budget.open)] * 0) == []
    assert (seen, reserve(budget, 20)) == ([True], 9)


def test_requests_without_a_page_give_their_reservation_back() -> None:
    budget = PageBudget(10, 0)
    reserve(budget, 10)
    budget.settle(4, 1)
    assert reserve(budget, 10) == 3
    budget.settle(3, 0)
    budget.settle(6, 6)
    assert reserve(budget, 10) == 3
    budget.settle(3, 3)
    assert budget.exhausted
    assert reserve(budget, 1) == 0


@pytest.mark.parametrize("spent", [10, 11])
def test_pages_of_earlier_runs_count(spent: int) -> None:
    assert PageBudget(10, spent).exhausted
    assert reserve(PageBudget(10, spent), 5) == 0
    assert reserve(PageBudget(10, 9), 5) == 1


@given(st.integers(1, 50), st.lists(st.tuples(st.integers(1, 20), st.integers(0, 20)), max_size=60))
def test_never_a_page_too_many(limit: int, steps: list[tuple[int, int]]) -> None:
    budget = PageBudget(limit, 0)
    pages, air = 0, []
    for wanted, brought in steps:
        air.append(reserve(budget, wanted))
        assert 0 <= air[-1] <= wanted
        if brought % 3 == 0:
            ended = air.pop(0)
            budget.settle(ended, min(brought, ended))
            pages += min(brought, ended)
        assert pages + sum(air) <= limit
    assert budget.exhausted is (pages == limit)


def test_many_threads_take_no_more_than_there_are() -> None:
    budget = PageBudget(1_000, 0)
    taken: list[int] = []

    def fetch() -> None:
        while not budget.exhausted:
            granted = reserve(budget, 7)
            pages = granted // 2 if granted > 1 else granted
            taken.append(pages)
            budget.settle(granted, pages)

    died: list[BaseException] = []
    workers = Workers(_into(died))
    for number in range(4):
        workers.start(f"fetch-{number}", fetch)
    assert workers.join(20) == []
    assert (sum(taken), died) == (1_000, [])


def _into(died: list[BaseException]) -> Callable[[str, BaseException], None]:
    return lambda name, error: died.append(error)


def test_a_limit_that_changes_on_the_way() -> None:
    """What is in the air counts, also what was sent when there was no limit."""
    budget = PageBudget(None, 3)
    assert reserve(budget, 4) == 4
    budget.change(10)
    assert reserve(budget, 9) == 3, "3 are stored, 4 are in the air"
    budget.settle(7, 7)
    assert budget.exhausted
    budget.change(12)
    assert not budget.exhausted
    assert reserve(budget, 9) == 2
    budget.change(5)
    assert budget.exhausted, "more than that are stored"
    assert not budget.open
    assert reserve(budget, 1) == 0
    budget.change(None)
    assert reserve(budget, 9) == 9
