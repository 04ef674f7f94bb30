"""Content encodings: whole, stacked, cut short, broken, bombs."""

from __future__ import annotations

import gzip
import random
import sys
import zlib
from collections.abc import Callable
from time import thread_time

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.fetch.decoding import CantDecode, Decoded, decode

if sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

PAGE = bytes(range(256)) * 20 + b"".join(b"<p>paragraph %d" % number for number in range(2000))
LIMIT = 1_000_000


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data, wbits=-15)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
every_coding = pytest.mark.parametrize("coding", PACKERS)


@every_coding
def test_whole(coding: str) -> None:
    assert decode(coding, PACKERS[coding](PAGE), LIMIT) == Decoded(PAGE)


def test_deflate_without_its_header() -> None:
    assert decode("deflate", raw_deflate(PAGE), LIMIT) == Decoded(PAGE)


@pytest.mark.parametrize(
    "coding", ["", "identity", " Identity , none", ",", "UTF-8", "iso-8859-1", "Windows-1251", "8bit", "binary"]
)
def test_nothing_to_undo(coding: str) -> None:
    assert decode(coding, PAGE, LIMIT) == Decoded(PAGE)


@pytest.mark.parametrize(
    ("coding", "flaw"),
    [
        ("gzip", "no gzip, though it is said to be"),
        ("deflate", "no deflate, though it is said to be"),
        ("br", "no br, though it is said to be"),
        ("zstd", "no zstd, though it is said to be"),
        ("rot13", "unknown content encoding 'rot13'"),
        ("zip", "unknown content encoding 'zip'"),
        ("\x1b[2J", "unknown content encoding '\\x1b[2j'"),
    ],
)
def test_what_nobody_knows_or_is_not_true(coding: str, flaw: str) -> None:
    """As browsers do, which show such pages: the text is there. It is counted, as all that is wrong with a body."""
    text = "<p>Was ich schon immer sagen wollte, äußerte er\n\t".encode() * 100
    assert decode(coding, text, LIMIT) == Decoded(text, flaw=flaw)
    assert decode(f"{coding}, gzip", gzip.compress(text), LIMIT) == Decoded(text, flaw=flaw)
    assert decode(coding, text, 100) == Decoded(text[:100], truncated=True, flaw=flaw)


@every_coding
def test_parameters_say_nothing(coding: str) -> None:
    assert decode(f"{coding};q=1", PACKERS[coding](PAGE), LIMIT) == Decoded(PAGE)
    assert decode(f"identity;q=0.5, {coding} ; q=1.0", PACKERS[coding](PAGE), LIMIT) == Decoded(PAGE)


def test_one_over_the_other() -> None:
    assert decode("GZIP, identity,  br", brotli.compress(gzip.compress(PAGE)), LIMIT) == Decoded(PAGE)
    assert decode("deflate,deflate", zlib.compress(zlib.compress(PAGE)), LIMIT) == Decoded(PAGE)


def test_several_parts() -> None:
    assert decode("gzip", gzip.compress(b"one, ") + gzip.compress(b"two"), LIMIT) == Decoded(b"one, two")
    assert decode("zstd", zstd.compress(b"one, ") + zstd.compress(b"two"), LIMIT) == Decoded(b"one, two")
    broken = gzip.compress(b"one, ") + gzip.compress(PAGE)[:5] + b"?" * 50
    assert decode("gzip", broken, LIMIT) == Decoded(b"one, ", flaw="a later part of the gzip is broken")
    several = gzip.compress(b"one, ") + gzip.compress(PAGE * 20) + gzip.compress(b"three")
    assert decode("gzip", several, 10 * LIMIT) == Decoded(b"one, " + PAGE * 20 + b"three")


@pytest.mark.parametrize(("coding", "parts"), [("gzip", 300_000), ("zstd", 100_001)])
def test_very_many_parts_take_no_time(coding: str, parts: int) -> None:
    """6 MB of them: to copy the rest behind each would be some terabytes. Of gzip all are read, of zstd with a larger limit."""
    body = PACKERS[coding](b"x") * parts
    began = thread_time()  # others may want the machine, too
    found = decode(coding, body, LIMIT)
    assert thread_time() - began < 5.0
    assert found.body == b"x" * (parts - (coding == "zstd"))
    assert (found.truncated, found.flaw) == (coding == "zstd", "")
    assert decode(coding, body, 200 * parts + 1) == Decoded(b"x" * parts)


def test_a_large_body_in_many_slices() -> None:
    body = PAGE * 20 + bytes(range(256)) * 3000
    for coding, packer in PACKERS.items():
        assert decode(coding, packer(body), 10 * LIMIT) == Decoded(body), coding
    noise = random.Random(1).randbytes(700_000)
    for coding, packer in PACKERS.items():
        packed = packer(noise)
        assert decode(coding, packed, LIMIT) == Decoded(noise), coding
        assert len(decode(coding, packed, 500_000).body) == 500_000


@pytest.mark.parametrize("rest", [b"\0", b"\0" * 500, b"\r\n", b"<!-- cached -->"])
@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd"])
def test_what_follows_is_ignored(coding: str, rest: bytes) -> None:
    assert decode(coding, PACKERS[coding](PAGE) + rest, LIMIT) == Decoded(PAGE)


@every_coding
def test_nothing_at_all(coding: str) -> None:
    """Some servers say gzip of an empty page."""
    assert decode(coding, b"", LIMIT) == Decoded(b"")


@every_coding
def test_cut_short_is_noticed(coding: str) -> None:
    packed = PACKERS[coding](PAGE)
    read = 0
    for end in range(1, len(packed), 97):
        try:
            found = decode(coding, packed[:end], LIMIT)
        except CantDecode as error:
            words = str(error)
        else:
            assert PAGE.startswith(found.body)
            assert found.truncated
            words = found.flaw
            read += 1
        assert "ends before anything" in words or words.endswith("ends too early")
    assert read or coding == "zstd", "as much as there is"


@pytest.mark.parametrize(("coding", "bytes_of_it"), [("gzip", 8), ("deflate", 4)])
def test_a_wrong_check_sum_is_told(coding: str, bytes_of_it: int) -> None:
    """Browsers do not look at it."""
    packed = PACKERS[coding](PAGE)[:-bytes_of_it] + b"!" * bytes_of_it
    assert decode(coding, packed, LIMIT) == Decoded(PAGE, flaw=f"the check sum of the {coding} is wrong")


def test_a_gzip_with_all_that_its_header_may_have() -> None:
    packed = gzip.compress(PAGE)
    header = packed[:3] + bytes([2 | 4 | 8 | 16]) + packed[4:10] + b"\3\0abc" + b"name\0" + b"comment\0"
    header += (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
    assert decode("gzip", header + packed[10:], LIMIT) == Decoded(PAGE)
    assert decode("gzip", header + packed[10:-8] + b"?" * 8, LIMIT).body == PAGE


@pytest.mark.parametrize(
    ("coding", "data"),
    [
        ("gzip", b"\x1f\x8b" + b"\0" * 50),
        ("gzip", gzip.compress(PAGE)[:100] + b"?" * 100),
        ("gzip", b"\x1f\x8b\x08\xe0" + gzip.compress(PAGE)[4:]),  # flags that nobody knows
        ("gzip", b"\x1f\x8b\x09" + gzip.compress(PAGE)[3:]),
        ("deflate", raw_deflate(PAGE)[:-10]),
        ("deflate", zlib.compress(PAGE)[:100] + b"?" * 100),
        ("zstd", zstd.compress(PAGE)[:-9] + b"????"),
        ("gzip", b"\0plain text"),
        ("br", b"\0plain text"),
        ("compress", b"\x1f\x9d\x90x"),
        ("xz", b"\xfd7zXZ\0"),
        ("gzip,gzip,gzip,gzip,gzip,gzip", b"x"),
    ],
)
def test_broken(coding: str, data: bytes) -> None:
    with pytest.raises(CantDecode) as caught:
        decode(coding, data, LIMIT)
    assert str(caught.value)


@every_coding
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_bomb_is_cut(coding: str, layers: int) -> None:
    bomb = b"\0" * 20_000_000
    for _ in range(layers):
        bomb = PACKERS[coding](bomb)
    found = decode(",".join([coding] * layers), bomb, LIMIT)
    assert (len(found.body), found.truncated, found.flaw) == (LIMIT, True, "")


@pytest.mark.parametrize(("size", "truncated"), [(999, False), (1000, False), (1001, True)])
@every_coding
def test_the_limit_itself_is_allowed(coding: str, size: int, truncated: bool) -> None:
    found = decode(coding, PACKERS[coding](b"x" * size), 1000)
    assert (len(found.body), found.truncated, found.flaw) == (min(size, 1000), truncated, "")


def test_a_window_that_is_too_large() -> None:
    """It would take 128 MB of memory, for nine bytes."""
    options = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.content_size_flag: 0}
    packer = zstd.ZstdCompressor(options=options)
    packed = packer.compress(b"x" * 100_000) + packer.flush()
    with pytest.raises(CantDecode):
        decode("zstd", packed, LIMIT)


@settings(max_examples=300)
@given(st.sampled_from(list(PACKERS)), st.binary(max_size=200), st.integers(0, 60), st.binary(max_size=20))
def test_any_bytes(coding: str, data: bytes, at: int, dirt: bytes) -> None:
    """Damaged somewhere, or no such thing at all: bounded, and no other exception."""
    packed = PACKERS[coding](data)
    for raw in (data, packed[:at] + dirt + packed[at:], packed[:at] + dirt + packed[at + len(dirt) :]):
        try:
            found = decode(coding, raw, 100)
        except CantDecode:
            continue
        else:
            assert len(found.body) <= 100
