"""The features of a text: held against the plainest way to count them, as they are kept from one run to the next."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.index.duplicates import features as plain
from larm.index.duplicates import fingerprints
from larm.index.duplicates.features import Memory, measured

words = st.sampled_from(["alpha", "Beta", "of", "2024", "20245", "a1b2", "x9 " * 40, "x,", " ", "\n", "Zürich", "東京", "é"])
texts = st.one_of(
    st.text(st.characters(), max_size=60),
    st.lists(words, max_size=80).map(" ".join),
    st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9000), max_size=100),
)


def features(text: str) -> Iterator[bytes]:
    """16 bytes from each beginning of a word on, as far as there are so many; the end of the text is one of them."""
    data = text.encode("utf-8", "surrogatepass").lower()  # of ASCII alone
    kept = bytes(each if each >= 0x80 or chr(each).isalnum() else 32 for each in data)
    joined = b" " + b" ".join(kept.split(b" ")).replace(b"\0", b" ")
    while b"  " in joined:
        joined = joined.replace(b"  ", b" ")
    joined += b"\0"
    for at in range(1, len(joined) - 15):
        if (joined[at - 1] == 32 and joined[at] != 32) or joined[at] >= 0xE0:
            yield joined[at : at + 16]


@given(texts)
def test_how_many_there_are(text: str) -> None:
    count, _, sketch, pieces = measured(text, False)
    assert count == len(list(features(text)))
    assert (sketch == bytes(128)) == (count == 0)
    looked, news = Memory(1 << 12).news(pieces)
    assert news <= looked == len(pieces) // 8 <= count


@given(texts)
def test_the_second_time_nothing_is_new(text: str) -> None:
    memory = Memory(1 << 22)
    _, _, _, pieces = measured(text, False)
    memory.news(pieces)
    assert memory.news(pieces)[1] == 0


needs_it = pytest.mark.skipif(not fingerprints.COMPILED, reason="installed without a C compiler")


_IN_PLACE = Path(__file__).parents[3] / "larm" / "index" / "duplicates"


@needs_it
@pytest.mark.skipif(Path(plain.__file__).parent != _IN_PLACE, reason="installed, so it was made of these sources")
def test_it_is_what_its_sources_say() -> None:
    """Where it is built in place, that has to be done again after a change: ``pip install -e .``."""
    (built,) = _IN_PLACE.glob("compiled.*.so")
    assert built.stat().st_mtime >= (_IN_PLACE / "compiled.pyx").stat().st_mtime, "pip install -e ."


@needs_it
@given(texts, st.booleans())
def test_compiled_and_in_python_they_are_the_same(text: str, links: bool) -> None:
    assert fingerprints.measured(text, links) == measured(text, links)


@needs_it
@given(st.lists(st.lists(st.integers(0, (1 << 64) - 1), max_size=80)))
def test_compiled_and_in_python_memories_are_the_same(batches: list[list[int]]) -> None:
    """They fill up: what is new depends on all that was read before."""
    ours, plains = fingerprints.new_memory(1 << 8), Memory(1 << 8)
    for batch in batches:
        pieces = array("Q", batch).tobytes()
        assert ours.news(pieces) == plains.news(pieces)


@needs_it
def test_a_text_that_is_longer_than_those_before() -> None:
    for times in (1, 100, 1_000, 40_000, 3):
        text = " ".join(f"word{number % 977} x{number:x} \u6771\u4eac {'-' * (number % 5)}" for number in range(times))
        assert fingerprints.measured(text, False) == measured(text, False)


def test_a_page_of_words() -> None:
    assert fingerprints.text_fingerprint("the same words again " * 20).features == 78
