"""Seeds and their form on the wire (YACY-15, 16)."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.peers.yacy.hashes import ALPHABET, key_part
from larm.peers.yacy.seed import LARGEST, BadSeedError, PeerType, Seed, check, read_seed, signed
from tests.peers.yacy.keys import FakeKey, fake_verify

KEY = FakeKey(1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SEEDS = st.builds(
    Seed,
    hash=st.text(ALPHABET, min_size=12, max_size=12),
    name=TEXT,
    ip=TEXT,
    port=st.integers(0, 65_535),
    type=st.sampled_from(PeerType),
    takes=st.booleans(),
    crawls=st.booleans(),
    links=st.integers(0, 10**12),
    tags=st.lists(st.text(ALPHABET, min_size=1, max_size=10), max_size=4).map(tuple),
    born=st.integers(0, 10**12),
    stamp=st.integers(0, 10**12),
    network=TEXT,
    key=TEXT,
)


def own(**fields: object) -> Seed:
    return signed(Seed(hash="AB" + key_part(KEY.key), **{"name": "me", "stamp": 5, **fields}), KEY)  # type: ignore[arg-type]


@given(SEEDS)
def test_seed_is_the_same_after_the_wire(seed: Seed) -> None:
    made = signed(seed, KEY)
    assert read_seed(made.wire) == made
    assert "\n" not in made.wire


def test_seed_proves_itself() -> None:
    check(read_seed(own().wire), fake_verify)


def test_seed_with_fields_of_a_later_version_proves_itself() -> None:
    text = own().wire.partition(" ")[2].removesuffix("}") + ',"mood":"good"}'
    later = read_seed(f"{KEY.sign('yacy seed', text.encode())} {text}")
    check(later, fake_verify)
    assert "mood" in later.wire, "others get it unchanged"


@pytest.mark.parametrize(
    "forged",
    [
        {"name": "another"},
        {"hash": "AAAAAAAAAAAA"},
        {"hash": "zz" + key_part(KEY.key)},
        {"stamp": 6},
        {"wire": ""},
        {"key": FakeKey(2).key},
    ],
)
def test_forged_seed_is_refused_in_memory_and_on_the_wire(forged: dict[str, object]) -> None:
    seed = msgspec.structs.replace(own(), **forged)
    with pytest.raises(BadSeedError):
        check(seed, fake_verify)
    signature = own().wire.partition(" ")[0]
    text = msgspec.json.encode(msgspec.structs.replace(seed, wire="")).decode()
    if "wire" not in forged:
        with pytest.raises(BadSeedError):
            check(read_seed(f"{signature} {text}"), fake_verify)


HASH = '"hash":"AAAAAAAAAAAA"'


@pytest.mark.parametrize(
    "wire",
    [
        "", "x", "x ", "x {}", 'x {"hash":"short"}', f"x {{{HASH}", f'x {{{HASH},"port":"x"}}', f'x {{{HASH},"port":70000}}',
        f'x {{{HASH},"type":"king"}}', f'x {{{HASH},"port":-1}}', f'x {{{HASH},"links":{"9" * 30}}}',
        f'x {{{HASH},"wire":"x"}}',
        f'x {{{HASH},"pin":"/etc/passwd"}}', f"x {{{HASH}\n}}", f'x {{{HASH},"name":"{"a" * LARGEST}"}}', "x " + "[" * 9_000,
    ],
)  # fmt: skip
def test_malformed_seed_is_refused(wire: str) -> None:
    with pytest.raises(BadSeedError):
        read_seed(wire)


@given(st.text())
def test_any_text_is_a_seed_or_refused(text: str) -> None:
    for form in ("", "x ", f"x {{{HASH},"):
        try:
            read_seed(form + text)
        except BadSeedError:
            continue
