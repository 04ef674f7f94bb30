"""Which fetchers have nothing to do, and who wakes them."""

from __future__ import annotations

from larm.fetch.pool import FetcherPool
from larm.kit.threads.workers import Workers
from larm.testing.fakes import FakeFetcher


class Counting(FakeFetcher):
    """Counts its wake-ups."""

    wakes = 0

    def wake(self) -> None:
        self.wakes += 1
        super().wake()


def pool(number: int = 3) -> tuple[FetcherPool, list[Counting]]:
    fetchers = [Counting() for _ in range(number)]
    return FetcherPool(fetchers), fetchers


def wakes(fetchers: list[Counting]) -> list[int]:
    return [each.wakes for each in fetchers]


def test_nobody_is_woken_before_somebody_waits() -> None:
    made, fetchers = pool()
    made.wake_one()
    assert wakes(fetchers) == [0, 0, 0]


def test_only_the_watch_is_woken_and_may_lease() -> None:
    made, fetchers = pool()
    assert [made.may_lease(number) for number in range(3)] == [True] * 3
    made.hunger(2)
    made.hunger(0)
    assert [made.may_lease(number) for number in range(3)] == [False, False, True]
    made.wake_one()
    made.back(2)
    made.wake_one()  # it reads pages, and will see when it is done
    assert wakes(fetchers) == [0, 0, 2]


def test_who_has_all_that_it_can_drive_hands_the_watch_on() -> None:
    made, fetchers = pool()
    made.hunger(2)
    made.hunger(0)
    made.fed(2)
    assert wakes(fetchers) == [1, 0, 0]
    assert [made.may_lease(number) for number in range(3)] == [True] * 3
    assert not made._hungry
    assert made.hunger(1)
    assert [made.may_lease(number) for number in range(3)] == [False, True, False]


def test_one_of_the_hungry_watches_the_time_until_it_is_fed() -> None:
    made, fetchers = pool()
    assert [made.hunger(1), made.hunger(0), made.hunger(1)] == [True, False, True]
    made.wake_one()
    assert wakes(fetchers) == [0, 1, 0]  # the watch first: it may wait for too long
    made.fed(1)
    assert wakes(fetchers) == [1, 1, 0]  # which makes this one the watch
    assert [made.hunger(0), made.hunger(1)] == [True, False]


def test_a_fed_fetcher_is_left_alone() -> None:
    made, fetchers = pool()
    made.hunger(0)
    made.fed(0)
    made.fed(1)
    made.wake_one()
    assert wakes(fetchers) == [0, 0, 0]


def test_all_are_woken_at_the_end() -> None:
    made, fetchers = pool()
    made.hunger(1)
    made.wake_all()
    assert wakes(fetchers) == [1, 1, 1]
    assert len(made) == 3


def test_a_wake_up_between_the_mark_and_the_wait_is_not_lost() -> None:
    """It says that it is hungry, is woken, and only then waits: the wait ends at once."""
    made, (fetcher,) = pool(1)
    made.hunger(0)
    made.wake_one()
    workers = Workers(lambda name, error: None)
    workers.start("larm-fetch-0", lambda: fetcher.wait(60))
    assert workers.join(10) == []
