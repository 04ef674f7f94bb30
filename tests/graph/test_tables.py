"""What a refresh counts and sorts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from larm.graph.tables import distinct


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5)))
def test_distinct_numbers_are_sorted(numbers: list[int]) -> None:
    assert distinct(np.array(numbers, np.uint64)).tolist() == sorted(set(numbers))
