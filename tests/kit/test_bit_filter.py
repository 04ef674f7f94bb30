from __future__ import annotations

import random

from larm.kit.disk.bit_filter import BitFilter


def test_what_was_added_is_known_and_little_else() -> None:
    choose, bits = random.Random(1), BitFilter()
    added = [choose.getrandbits(63) for _ in range(100_000)]
    bits.add(added)
    assert bits.known(added) == added
    assert len(bits.known([choose.getrandbits(63) for _ in range(100_000)])) < 200
    assert bits.known([]) == []
