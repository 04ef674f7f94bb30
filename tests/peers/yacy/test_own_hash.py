"""A peer's own hash (YACY-24)."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from larm.peers.yacy.hashes import ALPHABET, RING, belongs, gaps, hash_at, is_hash, own_hash, place_in_gap, position_of

KNOWN = ["AAAAAAAAAAAA", "QAAAAAAAAAAA", "gAAAAAAAAAAA"]
HASHES = st.text(ALPHABET, min_size=12, max_size=12)


def test_gaps_go_around_the_ring_and_equal_ones_all_count() -> None:
    found = gaps(KNOWN)
    assert [length for _, length in found] == [1 << 62, 1 << 61, 1 << 61]
    assert hash_at(found[0][0]).startswith("g")
    assert {hash_at(start)[0] for start, _ in found[1:]} == {"A", "Q"}


def test_places_in_a_gap() -> None:
    widest = gaps(KNOWN)[0]
    assert hash_at(place_in_gap(widest, 0.0)).startswith("kA")
    assert hash_at(place_in_gap(widest, 1.0)).startswith("8A")


@given(st.sets(HASHES, min_size=3, max_size=40), st.floats(0, 1, exclude_max=True))
def test_gaps_are_the_whole_ring(known: set[str], share: float) -> None:
    found = gaps(known)
    assert sum(length for _, length in found) == RING
    assert [length for _, length in found] == sorted((length for _, length in found), reverse=True)
    start, length = found[0]
    assert length // 8 <= (place_in_gap(found[0], share) - start) % RING <= length * 7 // 8


@given(st.sets(HASHES, max_size=10), st.text(ALPHABET, min_size=43, max_size=43), st.integers())
def test_it_belongs_to_its_key(known: set[str], key: str, seed: int) -> None:
    found = own_hash(known, key, Random(seed))
    assert is_hash(found)
    assert belongs(found, key)
    assert not belongs(found, "x" + key)
    assert not belongs("AA", key)


def test_new_peers_fill_the_gaps() -> None:
    random, known = Random(7), list(KNOWN)
    for number in range(200):
        known.append(own_hash(known, str(number), random))
    widest = gaps(known)[0][1]
    chance = sorted(random.randrange(RING) for _ in known)
    alone = max((b - a) % RING for a, b in zip(chance, [*chance[1:], chance[0]], strict=True))
    assert widest < alone, "places taken at random leave wider gaps"
    assert min(position_of(each) for each in known) >= 0
