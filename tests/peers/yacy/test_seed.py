"""Seeds and their form on the wire (YACY-15 to 17)."""

from __future__ import annotations

import base64
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.peers.yacy.hashes import ALPHABET, key_part
from larm.peers.yacy.seed import (
    LARGEST,
    BadSeedError,
    Flags,
    PeerType,
    Seed,
    as_text,
    check,
    read_flags,
    read_seed,
    signed,
    write_flags,
    write_seed,
)
from tests.peers.yacy.keys import FakeKey, fake_verify

PLAIN = "{Hash=AAAAAAAAAAAA,Name=peer1,PeerType=senior,IP=192.0.2.1,Port=8090}"
WIRE = "b|e0hhc2g9QUFBQUFBQUFBQUFBLE5hbWU9cGVlcjEsUGVlclR5cGU9c2VuaW9yLElQPTE5Mi4wLjIuMSxQb3J0PTgwOTB9"
PEER = Seed(hash="AAAAAAAAAAAA", name="peer1", type=PeerType.SENIOR, ip="192.0.2.1", port=8090)
TEXT = st.text(max_size=30)
SEEDS = st.builds(
    Seed,
    hash=st.text(ALPHABET, min_size=12, max_size=12),
    name=TEXT,
    ip=TEXT,
    port=st.integers(0, 65_535),
    type=st.sampled_from(PeerType),
    flags=st.builds(Flags, *[st.booleans()] * 5),
    links=st.integers(0, 10**12),
    tags=st.lists(st.text(min_size=1, max_size=10), max_size=4).map(tuple),
    born=st.integers(0, 10**12),
    stamp=st.integers(0, 10**12),
    network=TEXT,
    key=TEXT,
    signature=TEXT,
)


def test_vector() -> None:
    assert as_text(PEER) == PLAIN
    assert write_seed(PEER) == WIRE
    assert read_seed(WIRE) == read_seed("p|" + PLAIN) == PEER


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (Flags(), "    "),
        (Flags(remote_crawl=True, remote_index=True), "&   "),
        (Flags(direct=True, remote_crawl=True, remote_index=True, root=True), "/   "),
        (Flags(ssl=True), "0   "),
    ],
)
def test_flags(flags: Flags, text: str) -> None:
    assert write_flags(flags) == text
    assert read_flags(text) == flags


@pytest.mark.parametrize("text", ["", "&", "\x00\x01\x02\x03", "ZZZZ"])
def test_flags_that_are_none_set_nothing(text: str) -> None:
    assert read_flags(text) == Flags()


@given(SEEDS)
def test_there_and_back(seed: Seed) -> None:
    try:
        wire = write_seed(seed)
    except UnicodeEncodeError:
        return  # lone surrogates
    assert read_seed(wire) == seed


def test_the_shorter_form_is_sent() -> None:
    assert write_seed(Seed(hash="AAAAAAAAAAAA", tags=("the same",) * 50)).startswith("z|")


def test_a_seed_proves_itself() -> None:
    key = FakeKey(1)
    seed = signed(Seed(hash="AB" + key_part(key.key), name="me", stamp=5), key)
    check(read_seed(write_seed(seed)), fake_verify)


@pytest.mark.parametrize(
    "forged",
    [
        {"name": "another"},
        {"hash": "AAAAAAAAAAAA"},
        {"hash": "zz" + key_part(FakeKey(1).key)},
        {"stamp": 6},
        {"signature": ""},
        {"key": FakeKey(2).key},
    ],
)
def test_a_forged_one_does_not(forged: dict[str, object]) -> None:
    key = FakeKey(1)
    seed = signed(Seed(hash="AB" + key_part(key.key), name="me", stamp=5), key)
    fields = {name: getattr(seed, name) for name in seed.__struct_fields__} | forged
    with pytest.raises(BadSeedError):
        check(Seed(**fields), fake_verify)


@pytest.mark.parametrize(
    "wire",
    [
        "", "x|", "b|", "b|????", "z|AAAA", "p|{}", "p|{Hash=short}", "p|Hash=AAAAAAAAAAAA", "p|{Hash=AAAAAAAAAAAA,Port=x}",
        "p|{Hash=AAAAAAAAAAAA,Port=70000}", "p|{Hash=AAAAAAAAAAAA,PeerType=king}", "p|{Hash=AAAAAAAAAAAA,Name=%Z}",
        "p|{Hash=AAAAAAAAAAAA,Port=-1}", "p|{Hash=AAAAAAAAAAAA,LCount=" + "9" * 30 + "}", "b|" + "A" * LARGEST,
        "z|" + base64.urlsafe_b64encode(gzip.compress(b"{" + b" " * 10_000_000, mtime=0)).decode(),
        "z|" + base64.urlsafe_b64encode(gzip.compress(PLAIN.encode(), mtime=0)[:-9]).decode(),
    ],
)  # fmt: skip
def test_what_is_no_seed_is_refused(wire: str) -> None:
    with pytest.raises(BadSeedError):
        read_seed(wire)


@given(st.text())
def test_any_text_is_a_seed_or_refused(text: str) -> None:
    for form in ("b|", "z|", "p|", "", "p|{Hash=AAAAAAAAAAAA,"):
        try:
            read_seed(form + text)
        except BadSeedError:
            continue
