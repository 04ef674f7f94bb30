"""Documents in gzip: parts, slices, and what is made to keep a reader busy."""

from __future__ import annotations

import gzip
import random

import pytest

from larm.kit import gunzip
from larm.kit.clock import SystemClock


def unpack(body: bytes, limit: int = 50_000_000) -> tuple[bytes, str]:
    return gunzip.unpack(body, limit)


NOISE = random.Random(2).randbytes(300_000)


@pytest.mark.parametrize("body", [b"", b"one", b"x" * 500_000, NOISE])
def test_whole(body: bytes) -> None:
    assert unpack(gzip.compress(body)) == (body, "")
    assert unpack(gzip.compress(body) + gzip.compress(b"two")) == (body + b"two", "")
    assert unpack(gzip.compress(body) + b"\0" * 512) == (body, "")


def test_cut_and_broken() -> None:
    packed = gzip.compress(NOISE)
    body, warning = unpack(packed[:-100])
    assert NOISE.startswith(body)
    assert (len(body) > 250_000, warning) == (True, "gzip ends too early")
    assert unpack(gzip.compress(b"one") + b"\x1f\x8b\x08broken")[1].startswith("broken gzip")
    assert unpack(packed, 1000) == (NOISE[:1000], "more than 1000 bytes in gzip")


def test_very_many_members_take_no_time() -> None:
    """6 MB of them: to copy the rest behind each would be some terabytes."""
    clock = SystemClock()
    began = clock.monotonic()
    body, warning = unpack(gzip.compress(b"x") * 300_000)
    assert clock.monotonic() - began < 5.0
    assert (len(body), warning) == (10_000, "more than 10000 members in gzip")


@pytest.mark.parametrize("body", [b"one", b"x" * 500_000, NOISE])
def test_what_comes_before_an_error_is_had(body: bytes) -> None:
    """A wrong check sum is found at the end, when all has been unpacked."""
    found, warning = unpack(gzip.compress(body)[:-8] + bytes(8))
    assert (found, warning.startswith("broken gzip")) == (body, True)
    assert unpack(gzip.compress(body)[:-8] + bytes(8), 100)[0] == body[:100]
