"""squash, unsquash: what comes back, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.kit.squash import squash, unsquash


@given(st.binary(max_size=2_000))
def test_back_and_forth(data: bytes) -> None:
    assert unsquash(squash(data), 2_000) == data


@pytest.mark.parametrize("data", [b"", b"no zstd", squash(bytes(1_000))[:-2], squash(bytes(1_000_000))])
def test_what_is_none_or_too_large(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"compressed|bytes"):
        unsquash(data, 1_000)
