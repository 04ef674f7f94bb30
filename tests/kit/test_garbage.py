"""How often Python looks for garbage."""

from __future__ import annotations

import gc

from larm.kit.garbage import collect_rarely


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
