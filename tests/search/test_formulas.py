"""The vectors of the formulas, computed by hand or with another program."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.search.formulas import (
    Spot,
    asked_of_each,
    closeness,
    divergence,
    doc_rank,
    doc_rank_by_arrival,
    entry_score,
    fused,
    group_rank,
    normalised_frequency,
    proximity,
    share,
    spans,
)


def about(value: float) -> object:
    return pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("after", "rank"), [(249_999, 5.397938), (150_000, 5.176091), (99_999, 4.999996), (0, 0.0)])
def test_doc_rank(after: int, rank: float) -> None:
    assert doc_rank(after) == about(rank)


def test_doc_rank_by_arrival() -> None:
    assert [doc_rank_by_arrival(index, 0, 1) for index in (0, 99)] == [10, 8]


@pytest.mark.parametrize(
    ("frequency", "occurrences", "relevance"), [(1, 100, 3.336283), (3, 100, 4.997247), (1, 10_000, 1.0), (10, 1, 12.079883)]
)
def test_divergence(frequency: float, occurrences: int, relevance: float) -> None:
    assert divergence(frequency, occurrences, 10_000) == about(relevance)
    assert divergence(0, occurrences, 10_000) == divergence(frequency, 0, 10_000) == divergence(1, 1, 0) == 0


@pytest.mark.parametrize(("length", "normal"), [(100, 4.754888), (200, 3.0), (800, 0.965784), (0, 0.0)])
def test_normalised_frequency(length: int, normal: float) -> None:
    assert normalised_frequency(3, 200, length) == about(normal)


def test_relevance_of_two_words() -> None:
    words = [(3, 50), (1, 400)]
    assert sum(divergence(normalised_frequency(f, 200, 100), n, 10_000) for f, n in words) == about(9.226765)


@pytest.mark.parametrize(
    ("places", "length", "raw", "normal"),
    [
        ({"a": [1, 10, 30], "b": [2, 12, 50]}, 61, 1.044695, 0.034823),
        ({"a": [5], "b": [6]}, 100, 0.5, 0.010101),
        ({"a": [1, 5, 9], "b": [3, 7]}, 20, 1.333333, 0.140351),
        ({"a": [1, 5]}, 20, 0.0, 0.0),
    ],
)
def test_proximity(places: dict[str, list[int]], length: int, raw: float, normal: float) -> None:
    found = spans(places, {"a": 1, "b": 1})
    assert closeness(found) == about(raw)
    assert proximity(found, 2, length) == about(normal)


def test_spans_of_a_repeated_word() -> None:
    found = spans({"a": [1, 4, 9], "b": [5]}, {"a": 2, "b": 1})
    assert found == [Spot(1, 5), Spot(4, 9)]
    assert closeness(found) == about(0.366667)


@settings(max_examples=200)
@given(st.lists(st.sampled_from("abx"), max_size=30), st.integers(1, 2))
def test_spans_are_the_smallest_stretches(text: list[str], times: int) -> None:
    """All stretches with the words are found by trying, and those that hold another one are dropped."""
    needed = {"a": times, "b": 1}
    places = {word: [at for at, each in enumerate(text) if each == word] for word in "ab"}
    every = [
        Spot(first, last)
        for first in range(len(text))
        for last in range(first, len(text))
        if all(text[first : last + 1].count(word) >= count for word, count in needed.items())
    ]
    smallest = [a for a in every if not any(b != a and a.first <= b.first and b.last <= a.last for b in every)]
    assert spans(places, needed) == smallest


def test_share() -> None:
    assert share({"stanford"}, ["www", "stanford", "edu"]) == about(1 / 3)
    assert share({"a"}, []) == 0


def test_entries_of_a_partition() -> None:
    """A page in the first place and a link to it in the third."""
    assert entry_score(0, 10) + entry_score(2, 10) == 18


@pytest.mark.parametrize(("servers", "each"), [(4, 80), (3, 107), (1, 200)])
def test_what_each_server_is_asked_for(servers: int, each: int) -> None:
    assert asked_of_each(200, servers) == each


def test_fusion_and_groups() -> None:
    assert fused([0, 0, 0]) == about(10.169492)
    assert group_rank([1.0, 3.0, 2.0]) == 3.0
    assert group_rank([]) == 0.0
