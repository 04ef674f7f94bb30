from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from larm.index.duplicates.fingerprints import LEAST, bands_of, measured, new_memory, text_fingerprint
from larm.index.duplicates.likeness import distance, likeness
from larm.model.novelty import Fingerprint

WORDS = [
    f"{a}{b}{c}" for a in ("ka", "lo", "mi", "tu", "re") for b in ("n", "rst", "l", "mp") for c in ("a", "esto", "ing", "up")
]
LETTERS = str.maketrans("0123456789", "abcdefghij")
"""Words with digits are all the same where it is asked what is new."""


def text(seed: int, words: int = 400) -> str:
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) + str(chance.randrange(30)) for _ in range(words))


def of(*texts: str) -> list[Fingerprint]:
    return [text_fingerprint(each) for each in texts]


def news(texts: Sequence[str], memory: Any = None, *, links: bool = False) -> list[tuple[int, int]]:
    """Of each text, one after the other: pieces that are looked at, and those that are new."""
    memory = memory or new_memory()
    return [memory.news(measured(each, links)[3]) for each in texts]


def test_the_same_words_in_other_clothes() -> None:
    one, other = of("Hello, World! " * 30, "<hello>\n\tworld\n" * 30)
    assert one.sketch == other.sketch
    assert one.simhash == other.simhash


@pytest.mark.parametrize(("kept", "low", "high"), [(1.0, 1.0, 1.0), (0.95, 0.7, 1.0), (0.5, 0.1, 0.55), (0.0, 0.0, 0.12)])
def test_likeness_is_the_share_of_text_that_two_pages_have_in_common(kept: float, low: float, high: float) -> None:
    chance = random.Random(5)
    for seed in range(20):
        words, others = text(seed, 1000).split(), text(seed + 1000, 1000).split()
        parts = len(words) // 20  # runs of 20 words are exchanged
        mixed = [word for at in range(parts) for word in (words if chance.random() < kept else others)[at * 20 : at * 20 + 20]]
        one, other = of(" ".join(words), " ".join(mixed))
        assert low <= likeness(one.sketch, other.sketch) <= high


def test_the_order_of_paragraphs_counts_little() -> None:
    parts = [text(seed, 40) for seed in range(20)]
    one, other = of(". ".join(parts), ". ".join(reversed(parts)))
    assert likeness(one.sketch, other.sketch) > 0.8
    assert distance(one.simhash, other.simhash) < 12


def test_scripts_without_spaces() -> None:
    chance = random.Random(1)
    one, other = ("".join(chr(chance.randrange(0x4E00, 0x9000)) for _ in range(500)) for _ in range(2))
    prints = of(one, one[:250] + "。" + one[250:], other)
    assert prints[0].features > 480
    assert likeness(prints[0].sketch, prints[1].sketch) > 0.9
    assert likeness(prints[0].sketch, prints[2].sketch) < 0.1


def test_short_and_empty_texts_are_like_nothing() -> None:
    for made in of("", "   ", "Not found", "\x00", "one two three four five six seven"):
        assert bands_of(made) == ()
        assert made.features < LEAST
    assert likeness(bytes(128), bytes(128)) == 0


def test_only_what_was_not_seen_is_news() -> None:
    memory = new_memory(1 << 16)
    one, two, three = (text(seed).translate(LETTERS) for seed in (1, 2, 3))
    pages = [one, two, one, one[:1000] + two[:1000], three]
    shares = [new / looked for looked, new in news(pages, memory)]
    assert [round(share, 1) for share in shares] == [1.0, 1.0, 0.0, 0.0, 1.0]
    again = news(pages, memory)
    assert sum(new for _, new in again) <= 3  # of 500: the table is small, and one may have taken the place of another


def test_numbers_are_no_news() -> None:
    days = [
        f"Events on day {day} of May {year}: there are none. Next day: {day + 1}"
        for year in (2031, 2032)
        for day in range(10, 28)
    ]
    (looked, new), *others = news(days)
    assert new == looked > 0
    assert {new for _, new in others} == {0}


def test_words_with_digits_are_no_news() -> None:
    """Session ids and the like; only their lengths count."""
    chance = random.Random(1)
    pages = [f"Welcome, visitor {chance.randbytes(4).hex()}9, to the shop of {number:04}a things" for number in range(20)]
    (looked, new), *others = news(pages)
    assert new == looked > 0
    assert {new for _, new in others} == {0}


def test_identifiers_are_news_where_they_are_most_of_the_text() -> None:
    """Lists of parts, hashes, addresses; of dates, times and small numbers there is always one more."""
    chance = random.Random(1)
    lists = [" ".join(chance.randbytes(4).hex() for _ in range(80)) for _ in range(3)]
    numbers = [" ".join(str(chance.randrange(10_000, 1_000_000)) for _ in range(80)) for _ in range(3)]
    for texts in (lists, numbers):
        assert [new > 0 for _, new in news([*texts, *texts])] == [True] * 3 + [False] * 3
    assert [new > 0 for _, new in news(lists, links=True)] == [True, False, False]
    grids = [" ".join(f"{year}-{month:02}-{day:02}" for day in range(1, 29)) for year in (2031, 2032) for month in range(1, 13)]
    assert [new > 0 for _, new in news(grids)] == [True] + [False] * 23


def test_the_memory_is_bounded() -> None:
    memory = new_memory(1 << 8)
    news([text(seed).translate(LETTERS) for seed in range(20)], memory)
    assert news([text(0, 60).translate(LETTERS)], memory)[0][1] > 0
    assert memory.size == 2 << 8
