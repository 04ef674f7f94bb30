"""Which peers a search asks (YACY-44, 45)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.peers.yacy.hashes import ALPHABET, word_hash
from larm.peers.yacy.ring import PARTITIONS, Ring, places_of
from larm.peers.yacy.seed import PeerType, Seed
from larm.peers.yacy.targets import bearable, few_owners, others_to_ask, owners_to_ask

DAY = 86_400
NOW = 100 * DAY


@pytest.mark.parametrize(("waiting", "expected"), [(0, 3), (1, 2), (11, 1), (51, 1), (99, 1)])
def test_less_is_asked_under_load(waiting: int, expected: int) -> None:
    assert bearable(3, waiting) == expected


def peers(number: int) -> list[str]:
    random = Random(number)
    return ["".join(random.choices(ALPHABET, k=12)) for _ in range(number)]


@given(
    st.integers(1, 400), st.lists(st.sampled_from(["one", "two", "three", "four"]), min_size=1, unique=True), st.integers(1, 3)
)
def test_every_place_of_every_word_is_asked(number: int, words: list[str], redundancy: int) -> None:
    ring, hashes = Ring(peers(number)), [word_hash(word) for word in words]
    asked = owners_to_ask(ring, hashes, redundancy, Random(1))
    assert len(asked) <= (1 + 16 * redundancy) * len(words)
    for word in hashes:
        for partition, place in enumerate(places_of(word)):
            assert any(partition in asked.get(owner, ()) for owner in ring.owners(place, redundancy))


@given(st.integers(1, 400), st.integers(1, 60))
def test_few_owners_own_each_position_of_the_words(number: int, words: int) -> None:
    ring, hashes = Ring(peers(number)), [word_hash(f"word{n}") for n in range(words)]
    few = few_owners(ring, hashes, 3, Random(1))
    assert all(few & {*ring.owners(place, 3)} for word in hashes for place in places_of(word))
    assert len(few) <= min(number, words * PARTITIONS)


def test_all_owners_of_one_word_fit_into_the_limit() -> None:
    ring, word = Ring(peers(2_000)), word_hash("free")
    asked = owners_to_ask(ring, [word], 3, Random(1))
    assert len(asked) == PARTITIONS * 3
    assert {owner for place in places_of(word) for owner in ring.owners(place, 3)} == set(asked)


def seed(number: int, **fields: object) -> Seed:
    return Seed(hash=peers(100)[number], type=PeerType.SENIOR, **{"born": 0, **fields})  # type: ignore[arg-type]


def test_others_who_may_know_something() -> None:
    plain = [seed(n) for n in range(20)]
    tagged, young = seed(20, tags=("cats",)), seed(22, born=NOW - 2 * DAY)
    large, owner = seed(23, links=2_000_000), seed(24, links=2_000_000)
    hidden = Seed(hash=peers(100)[25], type=PeerType.JUNIOR, tags=("cats",))
    everyone = [*plain, young, tagged, large, owner, hidden]
    found = others_to_ask(everyone, {owner.hash}, {"cats"}, now=NOW, redundancy=3, random=Random(1))
    assert found[:2] == [tagged, large]
    assert found[2:] == [young]


def test_there_is_a_limit_of_others() -> None:
    assert len(others_to_ask([seed(n, born=NOW) for n in range(90)], (), (), now=NOW, redundancy=2, random=Random(1))) == 16
