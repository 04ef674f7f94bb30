"""Votes of several at once: none is lost."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

from larm.peers.yacy.trust import DenyList, Trust, Vote

ONE, TWO, THREE = (letter * 43 for letter in "abc")


class Gate:
    """A lock at which the first waits until the second is there, too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrived = 0
        self._both = threading.Event()

    def __enter__(self) -> None:
        self._arrived += 1
        if self._arrived == 2:
            self._both.set()
        self._both.wait(30)
        self._lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lock.release()


def test_of_two_votes_at_once_both_count() -> None:
    trust = Trust(None)
    trust._lock = Gate()  # type: ignore[assignment]
    with ThreadPoolExecutor() as threads:
        for key in (ONE, TWO):
            threads.submit(trust.vote, key, Vote.DENIED)
    assert trust.denied == {ONE, TWO}


def test_who_is_not_followed_any_more_is_not_heard() -> None:
    trust = Trust(None)
    trust.follow(ONE, follow=True)
    trust.follow(ONE, follow=False)
    trust.heard(ONE, DenyList((THREE,)))
    assert (trust.opinions.followed, trust.denied) == ({}, frozenset())
