"""Large pages are read by a process of their own, in the memory that is granted for it."""

from __future__ import annotations

import gzip
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

from larm.config import Processing
from larm.kit.processes.helper_process import HelperProcess
from larm.kit.processes.memory_budget import LEAST, MemoryBudget
from larm.model.document import Document
from larm.model.lost import Lost
from larm.model.outcome import Fetched
from larm.processing.triage import Triage
from larm.reading.ahead import CHILD
from larm.reading.heavy import HeavyReader
from larm.reading.page_reader import Page, PageReader
from larm.testing import heavy
from tests.reading.poisoned_child import HANG
from tests.reading.test_page_reader import page, terms

LARGE = page("large", b"<title>A tree</title>" + b"<p>" * 1_000_000)
PACKED = "application/gzip"


@pytest.fixture
def make() -> Iterator[Callable[..., HeavyReader]]:
    made: list[HeavyReader] = []

    def one(limit: int, child: str = CHILD, counts: Counter[str] | None = None) -> HeavyReader:
        counts = Counter() if counts is None else counts
        budget = MemoryBudget(limit, lambda: 0)
        reader = PageReader(terms(), lambda name, n: counts.update({name: n}), HelperProcess(child, budget.most))
        made.append(HeavyReader(reader, Triage(Processing(), 10_000_000).memory, budget))
        return made[-1]

    yield one
    for reader in made:
        reader.close()


def read(there: HeavyReader, what: Page) -> Document | Lost:
    return there.read(*what, nullcontext())


def test_with_enough_memory_it_is_read(make: Callable[..., HeavyReader]) -> None:
    found = read(make(1_000_000_000), LARGE)
    assert isinstance(found, Document)
    assert found.title == "A tree"


def test_with_too_little_it_is_set_aside_and_the_next_one_is_read(make: Callable[..., HeavyReader]) -> None:
    counts: Counter[str] = Counter()
    there = make(LEAST, counts=counts)
    assert read(there, LARGE) is Lost.TOO_LARGE
    assert counts["relief/died"] == 1, "it would need as much again"
    small = read(there, page("small", "<title>Small</title>"))
    assert isinstance(small, Document)
    assert small.title == "Small"


def test_a_bomb_in_gzip_is_a_page_of_the_usual_size(make: Callable[..., HeavyReader]) -> None:
    bomb = heavy.paragraphs()
    lease, _ = page("bomb", "")
    found = read(make(1_000_000_000), (lease, Fetched(200, {"content-type": PACKED}, bomb.body, LARGE[1].timing)))
    assert isinstance(found, Document)
    assert found.mime == "text/html"
    assert any("more than 10000000 bytes in gzip" in warning for warning in found.warnings)


def test_xml_in_gzip_may_be_larger(make: Callable[..., HeavyReader]) -> None:
    body = b"<urlset>" + b" " * 11_000_000 + b"<url><loc>http://a.test/late</loc></url></urlset>"
    found = read(make(1_000_000_000), page("map", gzip.compress(body, 1), content_type=PACKED))
    assert isinstance(found, Document)
    assert [link.url.access for link in found.links] == ["http://a.test/late"]


def test_a_stop_waits_for_nobody(make: Callable[..., HeavyReader], tmp_path: Path) -> None:
    there, flag = make(1_000_000_000, "tests.reading.poisoned_child"), tmp_path / "flag"
    with ThreadPoolExecutor() as threads:
        reading = threads.submit(read, there, page("h", HANG + f" {flag} -->".encode()))
        while not flag.exists():
            os.sched_yield()
        there.interrupt()
        assert reading.result(2) is Lost.UNREAD
