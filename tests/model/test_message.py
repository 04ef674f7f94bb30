"""URLMessage on the disk."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.model.message import (
    URLMessage,
    decode_messages,
    encode_messages,
    pack_messages,
    unpack_messages,
)
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
    assert unpack_messages(pack_messages(messages)) == unpack_messages(encode_messages(messages)) == messages


def test_a_normal_url_is_written_once() -> None:
    address = "http://example.org/" + "a" * 100
    assert len(encode_messages([URLMessage(Url(address, address, "example.org", 1))])) < 2 * len(address)


def test_damaged_block() -> None:
    block = encode_messages([URLMessage(Url("http://a/", "http://a/", "a", 1))])
    with pytest.raises(msgspec.MsgspecError):
        decode_messages(block[:-1])


def test_messages_of_a_host_are_packed_on_our_own_disk() -> None:
    addresses = [f"http://example.org/some/folder/page-{number}.html" for number in range(20)]
    messages = [
        URLMessage(Url(each, each, "example.org", n * 7_919_191_919_191), addresses[0]) for n, each in enumerate(addresses)
    ]
    packed = pack_messages(messages)
    assert 2 * len(packed) < len(encode_messages(messages))
    for damaged in (packed[:-5], packed[:20] + b"???" + packed[23:], b"\x78"):
        with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
            unpack_messages(damaged)
