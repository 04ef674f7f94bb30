"""Who is responsible for a place (YACY-25 to 27)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from larm.peers.yacy.hashes import ALPHABET, RING, distance, hash_at, position_of
from larm.peers.yacy.membership import Membership
from larm.peers.yacy.ring import PARTITIONS, Ring, partition_of, place_in, places_of
from larm.peers.yacy.seed import PeerType, Seed

PEERS = [
    "AAAAAAAAAAA1", "CqqqqqqqqqqA", "HzzzzzzzzzzB", "Mnnnnnnnnnnn", "Rrrrrrrrrrrr", "Y00000000000",
    "dddddddddddd", "jjjjjjjjjjjj", "ppppppppppp2", "vvvvvvvvvvvv", "1aaaaaaaaaaa", "8bbbbbbbbbbb",
]  # fmt: skip
FREE = "qi1uT1eOsM-r"
HASHES = st.text(ALPHABET, min_size=12, max_size=12)
PLACES = st.integers(0, RING - 1)


@pytest.mark.parametrize(
    ("partition", "place", "name"),
    [
        (0, 366681800690849895, "Ci1uT1eOsM__"),
        (1, None, "Gi1uT1eOsM__"),
        (5, 3248985562207967335, "Wi1uT1eOsM__"),
        (10, 6131289323725084775, "qi1uT1eOsM__"),
        (14, 8437132332938778727, "6i1uT1eOsM__"),
        (15, 9013593085242202215, "-i1uT1eOsM__"),
    ],
)
def test_places_of_a_word(partition: int, place: int | None, name: str) -> None:
    found = place_in(position_of(FREE), partition)
    assert places_of(FREE)[partition] == found
    assert place in {None, found}
    assert hash_at(found) == name


def test_partition_of_an_address() -> None:
    assert partition_of("4sWm4WFXg39Q") == 14
    assert place_in(position_of(FREE), 14) == 8437132332938778727


@pytest.mark.parametrize(
    ("partition", "peers", "expected"),
    [
        (0, PEERS, "CqqqqqqqqqqA HzzzzzzzzzzB Mnnnnnnnnnnn"),
        (5, PEERS, "Y00000000000 dddddddddddd jjjjjjjjjjjj"),
        (15, PEERS, "AAAAAAAAAAA1 CqqqqqqqqqqA HzzzzzzzzzzB"),
        (15, PEERS[1:], "CqqqqqqqqqqA HzzzzzzzzzzB Mnnnnnnnnnnn"),
    ],
)
def test_owners_follow_the_place(partition: int, peers: list[str], expected: str) -> None:
    found = Ring(peers).owners(places_of(FREE)[partition], 3)
    assert found == expected.split()


def test_both_tests_come_before_counting() -> None:
    membership, now = Membership("AAAAAAAAAAAA", "test", Random(1), young=1_000.0), 1_700_000_000.0
    for number, name in enumerate(PEERS):
        index, born = name != "CqqqqqqqqqqA", now - 2_000 * (name != "HzzzzzzzzzzB")
        seed = Seed(hash=name, ip=f"192.0.2.{number}", port=8090, type=PeerType.SENIOR, takes=index)
        membership.heard(replace(seed, born=int(born), stamp=int(now), network="test"), now)
    found = membership.ring(now, Seed(hash="AAAAAAAAAAAA")).owners(places_of(FREE)[0], 3)
    assert found == ["Mnnnnnnnnnnn", "Rrrrrrrrrrrr", "Y00000000000"]


def test_a_small_network_has_as_many_owners_as_peers() -> None:
    assert Ring(PEERS[:2]).owners(0, 3) == PEERS[:2]
    assert Ring([]).owners(0, 3) == []
    assert Ring([]).owners_between(0, 5, 3) == []


@given(st.lists(HASHES, min_size=1, max_size=30), PLACES, st.integers(1, 4))
def test_owners_are_the_nearest(peers: list[str], place: int, number: int) -> None:
    found = Ring(peers).owners(place, number)
    steps = sorted(distance(place, position_of(each)) for each in set(peers))
    assert [distance(place, position_of(each)) for each in found] == steps[:number]


@given(st.lists(HASHES, min_size=1, max_size=30), PLACES, st.lists(st.integers(0, RING // 16), min_size=1), st.integers(1, 4))
def test_owners_of_an_arc_are_those_of_its_places(peers: list[str], first: int, steps: list[int], number: int) -> None:
    ring = Ring(peers)
    last = (first + max(steps)) % RING
    between = ring.owners_between(first, last, number)
    assert len(set(between)) == len(between)
    for step in steps:
        assert set(ring.owners((first + step) % RING, number)) <= set(between)
    ends = {*ring.owners(first, number), *ring.owners(last, number)}
    inner = {each for each in ring.hashes if distance(first, position_of(each)) <= distance(first, last)}
    assert set(between) <= ends | inner


@given(HASHES, HASHES)
def test_a_word_has_its_reference_where_it_is_searched(word: str, url: str) -> None:
    partition = partition_of(url)
    assert 0 <= partition < PARTITIONS
    assert place_in(position_of(word), partition) in places_of(word)
    assert partition_of(hash_at(place_in(position_of(word), partition))) == partition


@given(st.lists(HASHES, max_size=30), st.lists(HASHES, min_size=2, max_size=30), st.integers(2, 40))
def test_stretch_by_stretch_a_ring_learns_what_it_lacks(others: list[str], known: list[str], number: int) -> None:
    asking, asked = Ring(known), Ring([*others, *known[::2]])
    place, found = position_of(known[0]), set[str]()
    for _ in known:
        stretch = asking.stretch(place, number)
        place = position_of(stretch[-1])
        found |= {*asked.lacking(stretch)}
    assert found == {*asked.hashes} - {*known}


def test_nobody_lies_between_the_ends_of_nothing() -> None:
    assert Ring([]).stretch(0, 5) == []
    assert Ring(PEERS).lacking([]) == Ring(PEERS).lacking(PEERS[:1]) == []
    assert Ring(PEERS).lacking([PEERS[1], PEERS[3]]) == [PEERS[2]]
    assert Ring(PEERS).lacking([PEERS[11], PEERS[1]]) == [PEERS[0]]


@given(st.lists(HASHES, max_size=20), st.dictionaries(HASHES, st.booleans(), max_size=20), st.data())
def test_a_ring_that_changes_is_one_made_anew(peers: list[str], changes: dict[str, bool], data: st.DataObject) -> None:
    if peers:
        changes |= data.draw(st.dictionaries(st.sampled_from(peers), st.booleans()))
    before = Ring(peers)
    after = before.changed(changes)
    assert after.hashes == Ring([each for each in peers if changes.get(each, True)] + [e for e in changes if changes[e]]).hashes
    assert before.hashes == Ring(peers).hashes


def test_who_becomes_old_enough_is_on_the_ring() -> None:
    membership, now = Membership("AAAAAAAAAAAA", "test", Random(1), young=1_000.0), 1_700_000_000.0
    own = Seed(hash="AAAAAAAAAAAA", type=PeerType.SENIOR, takes=True, born=int(now) - 500)
    seed = Seed(hash=PEERS[1], ip="192.0.2.1", port=8090, type=PeerType.SENIOR, takes=True, born=int(now), network="test")
    membership.heard(seed, now)
    for later, expected in ((0, []), (500, ["AAAAAAAAAAAA"]), (999, ["AAAAAAAAAAAA"]), (1_000, ["AAAAAAAAAAAA", PEERS[1]])):
        assert membership.ring(now + later, own).hashes == expected
    membership.failed(PEERS[1], now + 1_000)
    assert membership.ring(now + 1_001, own).hashes == ["AAAAAAAAAAAA"]
    assert membership.ring(now + 1_001, own, missed=True).hashes == ["AAAAAAAAAAAA", PEERS[1]]
    assert membership.ring(now + 1_601, own, missed=True).hashes == ["AAAAAAAAAAAA"]
