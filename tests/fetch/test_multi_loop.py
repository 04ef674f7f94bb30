"""What only the loop itself can show: its end."""

from __future__ import annotations

import selectors

import pycurl

from larm.fetch.multi_loop import MultiLoop
from larm.kit.clock import SystemClock


def test_a_busy_resolver_is_left_behind() -> None:
    """libcurl's handle stays until the process ends; all else is closed."""
    loop = MultiLoop(SystemClock(), 4)
    loop.close(leave_resolver=True)
    loop.close()
    loop.wake()


def test_wake_is_reported_by_one_turn() -> None:
    loop = MultiLoop(SystemClock(), 4)
    loop.wake()
    assert loop.turn(10.0) == ([], True)
    assert loop.turn(0.0) == ([], False)
    loop.close()


def test_libcurl_and_selectors_have_the_same_numbers_for_events() -> None:
    read, write = selectors.EVENT_READ, selectors.EVENT_WRITE
    assert (read, write, read | write) == (pycurl.POLL_IN, pycurl.POLL_OUT, pycurl.POLL_INOUT)
    assert (read, write) == (pycurl.CSELECT_IN, pycurl.CSELECT_OUT)
    assert not (pycurl.POLL_NONE | pycurl.POLL_REMOVE) & pycurl.POLL_INOUT
