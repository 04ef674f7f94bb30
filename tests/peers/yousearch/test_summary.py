from __future__ import annotations

import random
import zlib

import msgspec
import pytest

from larm.config import PeersSettings
from larm.peers.yousearch.summaries import BitTable
from larm.peers.yousearch.summary import (
    FILTERS,
    LENGTH,
    Summary,
    marked,
    name_of,
    partition,
    positions,
    summary_of,
    to_wire,
    unpacked,
)
from tests.peers.yousearch.groups import has


def test_sizes_are_those_of_the_formula() -> None:
    """YOUS-1: so many peers a line to the registrar has room for, of which a tenth changes in a period, beside the overhead."""
    of_one = LENGTH * FILTERS
    assert of_one == 8 * 24 * 1_024
    for megabits, peers in ((44.736, 286_310), (1.54, 9_856)):
        assert int(megabits * 2**20 * PeersSettings().period * 10 / of_one) == peers
    assert PeersSettings().cache == 300


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("pdf", (17265, 30138, 16785)),
        ("youserv", (48254, 9425, 50282)),
        ("bloom", (16717, 18914, 36495)),
        ("printer", (43317, 36684, 57383)),
        ("hello", (23873, 16426, 48203)),
        ("Hello", (23873, 16426, 48203)),
    ],
)
def test_positions_are_three_numbers_of_the_md5(term: str, expected: tuple[int, ...]) -> None:
    assert positions(term) == expected


@pytest.mark.parametrize(
    ("terms", "fill", "accidents"),
    [(1_000, 0.0151, 3e-6), (5_000, 0.0735, 4e-4), (20_000, 0.2630, 0.0182)],
)
def test_vectors_are_as_full_as_the_formula_says(terms: int, fill: float, accidents: float) -> None:
    summary = summary_of((f"w{n}" for n in range(terms)), ())
    assert [len(vectors) for vectors in summary.partitions] == [3]
    for vector in summary.partitions[0]:
        assert len(vector) == 8_192
        assert sum(byte.bit_count() for byte in vector) / 65_536 == pytest.approx(fill, rel=0.03)
    found = sum(has(summary, f"absent{n}") for n in range(20_000))
    assert found / 20_000 == pytest.approx(accidents, rel=0.2, abs=2e-4)


def test_one_summary_of_very_many_words_is_as_full_as_the_formula_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.peers.yousearch.summary._MOST_IN_ONE", 72_000)
    for terms, fill in ((50_000, 0.5337), (72_000, 0.6667)):
        summary = summary_of((f"w{n}" for n in range(terms)), ())
        assert sum(byte.bit_count() for byte in summary.partitions[0][0]) / 65_536 == pytest.approx(fill, rel=0.01)


def test_many_words_are_parted_and_all_are_there() -> None:
    words = [f"w{n}" for n in range(25_000)]
    summary = summary_of(words, ())
    assert len(summary.partitions) == 2
    assert all(has(summary, word) for word in words)
    assert sum(has(summary, f"absent{n}") for n in range(5_000)) / 5_000 < 0.025
    assert {partition(word, 2) for word in words} == {0, 1}


def test_stems_are_marked_by_their_language() -> None:
    summary = summary_of(["crawlers", "häuser", "c2", "ab"], ["en", "de", "xx"])
    assert summary.languages == ("de", "en")
    assert has(summary, "crawlers")
    assert has(summary, marked("en", "crawler"))
    assert has(summary, marked("de", "haus"))
    assert not has(summary, "crawler")
    assert not has(summary, marked("en", "c2")), "it has no forms"


def test_a_summary_goes_over_the_wire_whole_or_as_changes() -> None:
    first = summary_of([f"w{n}" for n in range(15_000)], ["en"])
    second = summary_of([f"w{n}" for n in range(30, 15_050)], ["en"])
    whole, changed = to_wire(first), to_wire(second, first)
    assert unpacked(whole) == first.partitions
    assert (whole.changes, changed.changes) == (False, True)
    assert len(changed.data) < 1_000 < len(whole.data) < 24_576
    differing = unpacked(msgspec.json.decode(msgspec.json.encode(changed), type=type(changed)))
    assert differing is not None
    for before, after, bits in zip(first.partitions[0], second.partitions[0], differing[0], strict=True):
        assert int.from_bytes(before) ^ int.from_bytes(bits) == int.from_bytes(after)
    assert name_of(first) == name_of(summary_of([f"w{n}" for n in range(15_000)], ["en"])) != name_of(second)


def test_what_is_no_summary_is_refused() -> None:
    good = to_wire(summary_of(["a"], ()))
    bomb = zlib.compress(bytes(20_000_000), 1)
    for wrong in ({"data": b"x"}, {"data": zlib.compress(b"short")}, {"data": bomb}, {"partitions": 0}, {"partitions": 10_000}):
        assert unpacked(msgspec.structs.replace(good, **wrong)) is None


def test_a_table_has_what_its_summaries_have() -> None:
    """Slots come and go, rows grow: at each moment a look-up gives those that have the word."""
    chance = random.Random(7)
    table = BitTable()
    empty = [bytes(LENGTH // 8)] * FILTERS
    words = [f"w{n}" for n in range(60)]
    there: dict[int, Summary] = {}
    for _ in range(120):
        if there and chance.random() < 0.3:
            slot = chance.choice(list(there))
            del there[slot]
            table.remove(slot)
        else:
            slot = table.add() if chance.random() < 0.8 or not there else chance.choice(list(there))
            there[slot] = summary_of(chance.sample(words, 8), ())
            (vectors,) = there[slot].partitions
            if chance.random() < 0.5:  # as changes
                table.put(slot, empty)
                table.put(slot, vectors, changes=True)
            else:
                table.put(slot, vectors)
        for word in chance.sample(words, 3):
            expected = sum(1 << slot for slot, summary in there.items() if has(summary, word))
            assert table.having(word) == expected
