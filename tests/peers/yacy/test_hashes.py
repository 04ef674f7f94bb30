"""Hashes, their places on the ring (YACY-1 to 6), and the hash that a peer chooses (YACY-24)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.peers.yacy.hashes import (
    ALPHABET,
    RING,
    belongs,
    distance,
    gaps,
    hash_at,
    hash_of,
    is_hash,
    order,
    own_hash,
    packed,
    place_in_gap,
    position_of,
    unpacked,
    word_hash,
)

HASHES = st.text(ALPHABET, min_size=12, max_size=12)
PLACES = st.integers(0, RING - 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("example", "Gnmk1g3mcY6O"),
        ("Example", "ClJzBZf7T_oB"),
        ("free", "qi1uT1eOsM-r"),
        ("their", "Dma-FLhr0wv0"),
        ("censor", "idUqt4LZ2p9d"),
        ("yacy", "pIBmMGNtuISD"),
        ("python", "I-7rQ0e90mv8"),
        ("", "1B2M2Y8AsgTp"),
    ],
)
def test_hash_of_a_text(text: str, expected: str) -> None:
    assert hash_of(text) == expected


def test_words_are_hashed_in_lower_case() -> None:
    assert word_hash("Example") == "Gnmk1g3mcY6O"


def test_a_word_never_gets_a_private_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.peers.yacy.hashes.hash_of", lambda _: "______abcdef")
    assert word_hash("any") == "____abcdefAA"


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("AAAAAAAAAAAA", 7),
        ("AAAAAAAAAB__", 15),
        ("aAAAAAAAAAAA", 3746994889972252679),
        ("0AAAAAAAAAAA", 7493989779944505351),
        ("_AAAAAAAAAAA", 9079256848778919943),
        ("____________", 9223372036854775807),
        ("Gnmk1g3mcY6O", 953868578215639239),
    ],
)
def test_place_of_a_hash(name: str, place: int) -> None:
    assert position_of(name) == place
    assert hash_at(place) == name[:10] + "__"


@pytest.mark.parametrize(
    ("places", "name"),
    [
        (range(8), "AAAAAAAAAA__"),
        (range(8, 16), "AAAAAAAAAB__"),
        ([1 << 62], "gAAAAAAAAA__"),
        ([RING - 1], "____________"),
    ],
)
def test_hash_at_a_place(places: list[int], name: str) -> None:
    assert {hash_at(place) for place in places} == {name}


@pytest.mark.parametrize(
    ("start", "end", "steps"),
    [
        ("AAAAAAAAAA__", "AAAAAAAAAB__", 8),
        ("____________", "AAAAAAAAAAAA", 8),
        ("BAAAAAAAAAAA", "AAAAAAAAAAAA", 9079256848778919936),
    ],
)
def test_distance_is_clockwise(start: str, end: str, steps: int) -> None:
    assert distance(position_of(start), position_of(end)) == steps


@given(PLACES)
def test_back_from_a_hash_is_the_place_but_for_three_bits(place: int) -> None:
    assert position_of(hash_at(place)) == place | 7


@given(HASHES, HASHES)
def test_order_is_by_value(one: str, other: str) -> None:
    assert (packed(one) < packed(other)) == (order(one) < order(other))
    if position_of(one) != position_of(other):
        assert (position_of(one) < position_of(other)) == (order(one) < order(other))


@given(HASHES)
def test_packing_loses_nothing(name: str) -> None:
    assert is_hash(name)
    assert unpacked(packed(name)) == name
    assert len(packed(name)) == 9


@given(PLACES, PLACES)
def test_there_and_back_is_once_around(one: int, other: int) -> None:
    assert distance(one, other) + distance(other, one) == (0 if one == other else RING)
    assert (one + distance(one, other)) % RING == other


@given(st.text())
def test_any_text_has_a_hash(text: str) -> None:
    assert is_hash(hash_of(text))
    assert is_hash(word_hash(text))
    assert not word_hash(text).startswith("_____")


KNOWN = ["AAAAAAAAAAAA", "QAAAAAAAAAAA", "gAAAAAAAAAAA"]


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
