"""Who was seen last, and who for longest not, is what a sort of all would say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.peers.yacy import seen_order
from larm.peers.yacy.seen_order import SeenOrder

NAMES = [f"p{number}" for number in range(12)]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(NAMES), st.integers(0, 40)),  # seen then
        st.tuples(st.sampled_from(NAMES), st.none()),  # gone
        st.sampled_from(["youngest", "oldest"]).map(lambda end: (end, -1)),  # asked
    ),
    max_size=80,
)


@given(STEPS, st.integers(1, 4), st.frozensets(st.sampled_from(NAMES), max_size=3))
def test_both_ends_are_those_of_a_sort(steps: list[tuple[str, int | None]], number: int, unfit: frozenset[str]) -> None:
    there = dict[str, float]()
    order = SeenOrder(there, there.get)

    def fit(name: str) -> bool:
        return name not in unfit

    def check(end: str) -> None:
        ask = order.oldest if end == "oldest" else order.youngest
        expected = sorted((seen for name, seen in there.items() if fit(name)), reverse=end == "youngest")[:number]
        found = ask(number, fit)
        assert [there[name] for name in found] == expected
        assert len(set(found)) == len(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seen_order, "_KEPT", 5)
        for what, seen in steps:
            if seen is None:
                there.pop(what, None)
            elif seen < 0:
                check(what)
            else:
                there[what] = float(seen)
                order.put(what, float(seen))
        check("oldest")
        check("youngest")
