"""Compressed bodies, as the suite of Scrapy has them: each encoding, each over another, cut short, broken, and bombs.

The packed files of the suite that are there are read as they are; the others are made here from its pages.
"""

from __future__ import annotations

import gzip
import itertools
import sys
import tracemalloc
import zlib
from collections.abc import Callable

import brotli

from larm.config import FetchSettings, RobotsSettings
from larm.kit.units import ByteSize
from larm.model.outcome import Failed, FailReason, Fetched, Outcome
from tests.fetch.driving import drain, lease, make_fetcher
from tests.fetch.raw_server import RawServer, page
from tests.shared_data import shared

if sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
LIMIT = 1_000_000


def fetch(body: bytes, coding: str, limit: int = LIMIT) -> Outcome:
    with RawServer(page(body, b"Content-Type: text/html", b"Content-Encoding: " + coding.encode())) as server:
        fetcher = make_fetcher(FetchSettings(page_size=ByteSize(limit)), RobotsSettings())
        fetcher.start(lease(server.url()))
        [(_, outcome)] = drain(fetcher)
        fetcher.close()
    return outcome


def pages() -> list[bytes]:
    found = sorted(shared("http-compressed-scrapy", "given").rglob("*.html"))
    assert len(found) >= 7
    return [path.read_bytes() for path in found]


def test_each_encoding_and_each_over_another() -> None:
    right = 0
    stacks = [(name,) for name in PACKERS] + list(itertools.product(PACKERS, PACKERS))
    for stack, body in zip(stacks, itertools.cycle(pages())):
        packed = body
        for name in stack:
            packed = PACKERS[name](packed)
        outcome = fetch(packed, ", ".join(stack))
        assert isinstance(outcome, Fetched), f"{stack}: {outcome}"
        assert (outcome.body, outcome.truncated, outcome.flaw) == (body, False, ""), stack
        right += 1
    raw = zlib.compress(pages()[0], wbits=-15)
    outcome = fetch(raw, "deflate")
    assert isinstance(outcome, Fetched)
    assert outcome.body == pages()[0]
    print(f"http-compressed-scrapy: {right + 1} of {len(stacks) + 1} bodies whole")


def test_packed_files_of_the_suite() -> None:
    """html-CODING...bin are all the same page, bomb-CODING.bin are bombs, and those whose end is missing are cut short."""
    folder = shared("http-compressed-scrapy", "given")
    names = {
        "gzip": "gzip",
        "br": "br",
        "zstd": "zstd",
        "deflate": "deflate",
        "zlib-deflate": "deflate",
        "raw-deflate": "deflate",
    }
    bodies = set()
    for path in sorted(folder.rglob("*.bin")):
        kind, _, rest = path.stem.partition("-")
        coding = next((names[name] for name in sorted(names, key=len, reverse=True) if rest.startswith(name)), "")
        outcome = fetch(path.read_bytes(), coding)
        assert isinstance(outcome, Fetched), f"{path.name}: {outcome}"
        assert outcome.truncated == (kind == "bomb"), path.name
        if kind == "html":
            bodies.add(outcome.body)
    assert len(bodies) <= 1
    for path in sorted(folder.rglob("*.gz")):
        outcome = fetch(path.read_bytes(), "gzip")
        assert isinstance(outcome, Fetched), f"{path.name}: {outcome}"
        assert bool(outcome.flaw) == any(word in path.name for word in ("crc-error", "eof")), path.name
        output = path.with_name(path.name.replace(".gz", "-output.txt"))
        if output.exists():
            assert outcome.body == output.read_bytes()


def test_cut_short_with_the_right_length() -> None:
    """It looks like an answer that is whole: without a look at the end nobody would know."""
    body = b"".join(pages())
    for name, packer in PACKERS.items():
        packed = packer(body)
        for end in (len(packed) - 1, len(packed) // 2, 1):
            outcome = fetch(packed[:end], name)
            if isinstance(outcome, Failed):
                assert outcome.reason is FailReason.CONTENT
            else:
                assert isinstance(outcome, Fetched)
                assert body.startswith(outcome.body)
                assert outcome.truncated
                assert outcome.flaw


def test_bombs() -> None:
    """20 MB of zeros, packed once and twice: as much as is wanted is read, and no more than that is held."""
    for name, packer in PACKERS.items():
        bomb = packer(b"\0" * 20_000_000)
        for packed, codings in ((bomb, name), (packer(bomb), f"{name}, {name}")):
            tracemalloc.start()
            outcome = fetch(packed, codings, 100_000)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert isinstance(outcome, Fetched)
            assert (len(outcome.body), outcome.truncated, outcome.flaw) == (100_000, True, ""), codings
            assert peak < 3_000_000, codings
