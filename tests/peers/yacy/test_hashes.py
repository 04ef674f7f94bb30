"""Hashes and their places on the ring (YACY-1 to 6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.peers.yacy.hashes import (
    ALPHABET,
    RING,
    distance,
    hash_at,
    hash_of,
    is_hash,
    order,
    packed,
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
