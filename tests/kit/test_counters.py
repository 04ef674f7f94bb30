"""Named numbers."""

from __future__ import annotations

from larm.kit.counters import Counters
from larm.kit.threads.workers import Workers


def test_add_update_snapshot_load() -> None:
    counters = Counters()
    counters.add("pages")
    counters.add("bytes", 500)
    counters.update({"pages": 2, "errors": 1})
    snapshot = counters.snapshot()
    assert snapshot == {"pages": 3, "bytes": 500, "errors": 1}
    counters.add("pages")
    assert snapshot["pages"] == 3
    saved = {"pages": 10}
    counters.load(saved)
    counters.add("pages")
    assert counters.snapshot() == {"pages": 11}
    assert saved == {"pages": 10}
    assert repr(counters) == "<Counters {'pages': 11}>"


def test_many_threads() -> None:
    counters = Counters()
    workers = Workers(lambda name, error: counters.add("died"))

    def work() -> None:
        for _ in range(1000):
            counters.add("a")
            counters.update({"a": 1, "b": 2})

    for number in range(4):
        workers.start(f"larm-{number}", work)
    assert workers.join(30) == []
    assert counters.snapshot() == {"a": 8000, "b": 8000}
