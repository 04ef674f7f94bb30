"""Which fetchers have nothing to do, and who wakes them."""

from __future__ import annotations

from larm.fetching.pool import FetcherPool
from larm.kit.workers import Workers
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


def test_only_the_hungry_are_woken_and_once() -> None:
    made, fetchers = pool()
    made.hungry[0] = made.hungry[2] = True
    made.wake_hungry()
    made.wake_hungry()
    assert [each.wakes for each in fetchers] == [1, 0, 1]
    assert made.hungry == [False, False, False]


def test_all_are_woken_at_the_end() -> None:
    made, fetchers = pool()
    made.hungry[1] = True
    made.wake_all()
    assert [each.wakes for each in fetchers] == [1, 1, 1]
    assert len(made) == 3


def test_a_mark_between_the_look_and_the_wait_is_not_lost() -> None:
    """It marks itself hungry, is woken, and only then waits: the wait ends at once."""
    made, (fetcher,) = pool(1)
    made.hungry[0] = True
    made.wake_hungry()
    workers = Workers(lambda name, error: None)
    workers.start("larm-fetch-0", lambda: fetcher.wait(60))
    assert workers.join(10) == []
