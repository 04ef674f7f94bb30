"""How often Python looks for garbage, and what goes back to the system."""

from __future__ import annotations

import gc

from larm.kit.garbage import collect_rarely, give_back


def test_it_still_looks() -> None:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    try:
        collect_rarely()
        assert gc.isenabled()
        assert gc.get_threshold()[0] > 700
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def test_free_memory_can_be_given_back() -> None:
    kept = [bytes(100_000) for _ in range(100)]
    del kept[::2]
    give_back()
    assert kept[0] == bytes(100_000)
