"""Runs of white space."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from larm.model.document import squeeze


@given(st.text(st.sampled_from("ab \n\t\xa0"), max_size=30))
def test_it_is_what_split_and_join_make_of_it(text: str) -> None:
    assert squeeze(text) == " ".join(text.split())
