"""URLMessage on the disk."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.model.url import Url

text = st.text(st.characters(codec="utf-8"), max_size=30)
small = st.integers(0, 100)


@given(
    st.lists(
        st.builds(URLMessage, st.builds(Url, text, text, text, st.integers(0, 2**63 - 1)), text, small, small, small, small)
    )
)
def test_round_trip(messages: list[URLMessage]) -> None:
    assert decode_messages(encode_messages(messages)) == messages


def test_a_normal_url_is_written_once() -> None:
    address = "http://example.org/" + "a" * 100
    assert len(encode_messages([URLMessage(Url(address, address, "example.org", 1))])) < 2 * len(address)


def test_damaged_block() -> None:
    block = encode_messages([URLMessage(Url("http://a/", "http://a/", "a", 1))])
    with pytest.raises(msgspec.MsgspecError):
        decode_messages(block[:-1])
