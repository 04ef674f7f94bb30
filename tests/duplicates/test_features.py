"""The compiled features of a text are those of numpy, to the bit: they are kept from one run to the next."""

from __future__ import annotations

import random
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.duplicates import fingerprints, numpy_features

needs_it = pytest.mark.skipif(find_spec("larm.duplicates.quick_features") is None, reason="there was no C compiler")

words = st.sampled_from(["alpha", "Beta", "of", "2024", "a1b2", "x,", "  ", "\n", "Zürich", "東京都", "é", "."])
texts = st.one_of(
    st.text(st.characters(), max_size=60),
    st.lists(words, max_size=80).map(" ".join),
    st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9000), max_size=100),
)


@needs_it
@given(st.lists(texts, max_size=6), st.sampled_from([1, 16, 1 << 12]))
def test_both_say_the_same(found: list[str], slots: int) -> None:
    quick = import_module("larm.duplicates.quick_features")
    one, other = quick.Memory(slots), numpy_features.Memory(slots)
    for each in (found, found[::-1]):  # the second time much is known
        assert quick.measured(each, one) == numpy_features.measured(each, other)


@needs_it
def test_both_say_the_same_of_long_texts() -> None:
    """Of which the room is given back; the last of their words count."""
    quick = import_module("larm.duplicates.quick_features")
    chance = random.Random(1)
    long = " ".join(f"w{chance.randrange(100_000)}" for _ in range(200_000))
    one, other = quick.Memory(1 << 12), numpy_features.Memory(1 << 12)
    for found in ([long, "short"], ["and other " * 40], [long + " end of it"]):
        assert quick.measured(found, one) == numpy_features.measured(found, other)
    [(count, *_)] = quick.measured([long], one)
    assert 199_990 < count <= 200_000


@needs_it
def test_it_is_used_and_is_what_its_source_says() -> None:
    quick = import_module("larm.duplicates.quick_features")
    assert fingerprints._measured is quick.measured
    source = Path(__file__).parents[2] / "larm" / "duplicates" / "quick_features.pyx"
    if Path(fingerprints.__file__).parent == source.parent:  # built in place, so that has to be done again after a change
        assert Path(quick.__file__ or "").stat().st_mtime >= source.stat().st_mtime, "pip install -e ."


def test_numpy_counts_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "_features", numpy_features)
    monkeypatch.setattr(fingerprints, "_measured", numpy_features.measured)
    [found] = fingerprints.fingerprints(["the same words again " * 20], fingerprints.new_memory())
    assert found.features == 78
