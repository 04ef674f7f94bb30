"""Of how many pages link graph and texts of links are, at any moment of a crawl and after it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from larm.graph.files import JOURNAL, SNAPSHOT
from larm.index.anchors import ANCHORS
from larm.index.search.coverage import Coverage, coverage_of, shortfall
from larm.model.document import Visit
from larm.store.graph import GraphStorage, is_complete
from larm.testing.clock import FakeClock
from tests.graph.webs import gone, moved, page, stored

WEB = (page("a", {"b": "B"}), page("b", {"c": "C"}), page("c"))


def going_on(directory: Path, *visits: Visit, position: Mapping[str, object] | None = None) -> GraphStorage:
    """What a crawl has committed, and not yet made a snapshot of."""
    storage = GraphStorage(directory, FakeClock())
    storage.open(position)
    storage.store(visits)
    storage.commit()
    return storage


def leave(storage: GraphStorage) -> None:
    """Close it, but without what it does at the end of a crawl."""
    storage.store([page("z")])
    storage.close()


def test_a_crawl_that_has_ended_is_complete(tmp_path: Path) -> None:
    assert coverage_of(tmp_path) == Coverage(0, 0, 0)
    position = stored(tmp_path, *WEB)
    assert coverage_of(tmp_path) == Coverage(3, 3, 3)
    assert shortfall(tmp_path) == ""
    assert is_complete(tmp_path, position)
    assert is_complete(tmp_path, None)
    assert is_complete(tmp_path, {"journal": 0})


def test_changed_pages_count_once_and_those_that_are_gone_do_not(tmp_path: Path) -> None:
    position = stored(tmp_path, *WEB)
    visits = [page("a"), page("a", {"d": "D"}), page("d"), gone("b"), moved("e", "d"), gone("f")]
    storage = going_on(tmp_path, *visits, position=position)
    assert coverage_of(tmp_path) == Coverage(3, 1, 1)
    storage.close()
    assert coverage_of(tmp_path) == Coverage(3, 3, 3)


def test_texts_may_be_of_fewer_pages_than_the_graph(tmp_path: Path) -> None:
    position = stored(tmp_path, *WEB)
    mark = (tmp_path / ANCHORS / "snapshot").read_bytes()
    position = stored(tmp_path, page("d"), page("a"), position=position)
    (tmp_path / ANCHORS / "snapshot").write_bytes(mark)
    assert coverage_of(tmp_path) == Coverage(4, 4, 2)
    assert shortfall(tmp_path).startswith("the texts of links are of 2 of 4 pages")
    (tmp_path / ANCHORS / "snapshot").unlink()
    storage = going_on(tmp_path, page("e"), position=position)
    assert shortfall(tmp_path).startswith("the link graph is of 4 and the texts of links are of 0 of 5 pages")
    storage.close()
    assert shortfall(tmp_path) == ""


@pytest.mark.parametrize("left", [0, 5, 11, 40])
def test_a_block_that_is_still_written_does_not_count_yet(tmp_path: Path, left: int) -> None:
    position = stored(tmp_path, *WEB)
    leave(going_on(tmp_path, page("d"), position=position))
    journal = tmp_path / "graph" / JOURNAL
    noted = position["journal"]
    assert isinstance(noted, int)
    journal.write_bytes(journal.read_bytes()[: noted + left])
    assert coverage_of(tmp_path) == Coverage(3, 3, 3)


def test_what_is_damaged_is_said(tmp_path: Path) -> None:
    position = stored(tmp_path, *WEB)
    (tmp_path / "graph" / SNAPSHOT).write_bytes(b"")
    assert "snapshot is damaged; the next run makes it again" in shortfall(tmp_path)
    assert not is_complete(tmp_path, position)
