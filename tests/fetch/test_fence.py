"""The fence of an agent: nothing is sent after it, and what is under way ends at it."""

from __future__ import annotations

import socket

import pycurl
import pytest

from larm.fetch.fence import Fence
from larm.fetch.multi_loop import MultiLoop
from larm.kit.clock import SystemClock, boot_time


def connections(server: socket.socket) -> int:
    """Take those that wait."""
    server.setblocking(False)
    count = 0
    while True:
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


@pytest.mark.parametrize("left", [-1.0, 0.3, 60.0])
def test_nothing_is_sent_after_the_fence(left: float) -> None:
    """A request that waits for its answer ends the turn at the fence, long before its time-out."""
    fence = Fence()
    fence.until = boot_time() + left
    loop = MultiLoop(SystemClock(), 4, fence=fence)
    with socket.create_server(("127.0.0.1", 0)) as server:
        handle = pycurl.Curl()
        handle.setopt(pycurl.URL, f"http://127.0.0.1:{server.getsockname()[1]}/")
        handle.setopt(pycurl.WRITEFUNCTION, len)
        loop.add(handle)
        woken, turns = False, 0
        while not woken and turns < 20:
            ended, woken = loop.turn(30.0 if left < 1 else 0.05)
            turns += 1
            assert not ended
        assert woken == (left < 1)
        loop.remove(handle)
        assert connections(server) == (left > 0)
    loop.close()


def test_a_loop_without_transfers_waits_as_if_there_were_no_fence() -> None:
    """Else an agent that has lost its place would turn without end."""
    loop = MultiLoop(SystemClock(), 4, fence=Fence())
    assert loop.turn(0.0) == ([], False)
    loop.close()
