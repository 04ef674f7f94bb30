"""What may be fetched in all: when the run ends for it, and when somebody may get a lease again."""

from __future__ import annotations

from larm.engine.allowance import BYTES_SPENT, PAGES_SPENT, Allowance, ByteLimit, PageBudget


class Rig:
    def __init__(self, pages: int | None, received: int | None = None) -> None:
        self.ends: list[str] = []
        self.free = 0
        self.budget = PageBudget(pages, 0)
        self.all = Allowance(self.budget, ByteLimit(received, 0, self.ends.append), self.ends.append, self._wake)

    def _wake(self) -> None:
        self.free += 1

    def lease(self, count: int) -> int:
        return len(self.budget.spend(count, lambda granted: [0] * granted))


def test_the_run_ends_with_its_last_page() -> None:
    rig = Rig(2)
    assert rig.lease(5) == 2
    rig.all.settle(1, 1)
    assert (rig.ends, rig.free) == ([], 1)
    rig.all.settle(1, 1)
    assert (rig.ends, rig.free) == ([PAGES_SPENT], 1)


def test_an_answer_that_is_no_page_frees_a_lease_and_ends_nothing() -> None:
    rig = Rig(1)
    assert (rig.lease(5), rig.lease(5)) == (1, 0)
    rig.all.settle(1, 0)
    assert (rig.ends, rig.free, rig.lease(5)) == ([], 1, 1)


def test_without_a_limit_nobody_is_woken() -> None:
    rig = Rig(None)
    assert rig.lease(5) == 5
    rig.all.settle(5, 5)
    assert (rig.ends, rig.free) == ([], 0)


def test_a_lower_limit_ends_the_run_and_a_higher_one_lets_it_go_on() -> None:
    rig = Rig(3)
    rig.lease(3)
    rig.all.settle(3, 2)
    rig.all.change(9)
    assert (rig.ends, rig.lease(9)) == ([], 7)
    rig.all.change(2)
    assert rig.ends == [PAGES_SPENT]


def test_a_run_that_may_fetch_nothing_is_over_when_it_is_looked_at() -> None:
    rig = Rig(0)
    assert rig.ends == []
    rig.all.look()
    assert rig.ends == [PAGES_SPENT]


def test_bytes_end_it_too() -> None:
    rig = Rig(None, 100)
    rig.all.received.add(99)
    assert rig.ends == []
    rig.all.received.add(1)
    assert rig.ends == [BYTES_SPENT]
