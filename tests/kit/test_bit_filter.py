from __future__ import annotations

import random

from larm.kit.disk.bit_filter import BitFilter
from larm.kit.disk.fingerprint_table import END, PartFilter


def test_what_was_added_is_known_and_little_else() -> None:
    choose, bits = random.Random(1), BitFilter()
    added = [choose.getrandbits(63) for _ in range(100_000)]
    bits.add(added)
    assert bits.known(added) == added
    assert len(bits.known([choose.getrandbits(63) for _ in range(100_000)])) < 200
    assert bits.known([]) == []


def test_what_a_part_has_not_reached_may_be_there() -> None:
    choose = random.Random(1)
    there = sorted(choose.getrandbits(63) for _ in range(10_000))
    others = sorted(choose.getrandbits(63) for _ in range(10_000))
    sieve = PartFilter(len(there))
    assert sieve.possible(there) == there
    sieve.add(there[:5_000])
    sieve.filled = there[5_000]
    assert sieve.possible(there) == there
    assert 5_000 < len(sieve.possible(others)) < 5_900
    sieve.add(there[5_000:])
    sieve.filled = END
    assert sieve.possible(there) == there
    assert len(sieve.possible(others)) < 1_300
    assert sieve.has_room(2 * len(there))
    assert not sieve.has_room(5 * len(there))
