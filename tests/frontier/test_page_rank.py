"""The order by the ranks of the link graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.frontier.page_rank import PageRankOrder, band_of
from larm.graph.reader import GraphReader, open_graph
from larm.model.message import URLMessage
from larm.testing.clock import FakeClock
from tests.graph.webs import address, page, parse, stored


def link(name: str, on: str = "a") -> URLMessage:
    return URLMessage(parse(address(name)), address(on))


def bands(order: PageRankOrder, *messages: URLMessage) -> list[int]:
    return [band for band, _ in order.file(messages)]


@pytest.mark.parametrize(("rank", "band"), [(1.0, 32), (2.0, 30), (1.4, 31), (0.5, 34), (1e9, 0), (1e-30, 127), (0.0, 127)])
def test_bands_are_half_powers_of_two(rank: float, band: int) -> None:
    assert band_of(rank) == band


def test_what_ranks_highest_comes_first(tmp_path: Path) -> None:
    stored(tmp_path, page("a", "bc"), page("b", "c"), page("d", "c"))
    order = PageRankOrder(lambda: open_graph(tmp_path / "graph"), FakeClock())
    start, c, b, unknown = URLMessage(parse(address("z"))), link("c"), link("b"), link("nobody")
    found = bands(order, start, c, b, unknown)
    assert found == sorted(found)
    assert found[0] == 0
    assert found[1] < found[2] < found[3]


def test_what_is_new_is_filed_by_what_its_page_hands_on(tmp_path: Path) -> None:
    stored(tmp_path, *(page(f"a.org/{number}", "c") for number in range(40)))
    order = PageRankOrder(lambda: open_graph(tmp_path / "graph"), FakeClock())
    order.file([link("a")])
    (alone,) = order.found(link("c"), [link("new", "c")])
    crowd = order.found(link("c"), [link(f"new{number}", "c") for number in range(10)])
    (later,) = order.found(alone, [link("newer", "new")])
    (best,), (good,), (small,) = (bands(order, each) for each in (alone, later, crowd[0]))
    assert best < 32 - 2 * 3, "c has more than ten times the average"
    assert best <= good <= best + 1
    assert small > best + 2 * 3, "a tenth of it"


def test_who_waits_is_filed_again_after_a_snapshot(tmp_path: Path) -> None:
    clock = FakeClock()
    order = PageRankOrder(lambda: open_graph(tmp_path / "graph"), clock)
    message = link("c")
    before = bands(order, message)[0]
    assert order.generation == 0
    position = stored(tmp_path, page("a", "bc"), page("b", "c"), page("d", "c"))
    assert bands(order, message) == [before]  # it has looked just now
    clock.advance(5)
    order.file([])
    assert order.generation == 1
    assert order.file_again(message, before) < before
    clock.advance(5)
    order.file([])
    assert order.generation == 1, "the snapshot is the same"
    stored(tmp_path, page("e", "c"), position=position)
    clock.advance(5)
    order.file([])
    assert order.generation == 2


def test_a_damaged_snapshot_is_none() -> None:
    def broken() -> GraphReader:
        raise StorageError("damaged")

    order = PageRankOrder(broken, FakeClock())
    assert bands(order, link("a")) == [band_of(0.3)]
    order.close()
