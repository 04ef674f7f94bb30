"""The filter is no more than the place of the gate in the chain; for what it holds back see tests/frontier."""

from __future__ import annotations

from collections.abc import Sequence

from larm.filters.gates import TrapsFilter
from larm.model.message import URLMessage
from larm.seams import Drop
from larm.testing.fakes import Drops, message


class Odd:
    """A gate that holds back what has an odd number of links behind it."""

    def screen(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        drop([each for each in batch if each.depth % 2], "trap")
        return [each for each in batch if not each.depth % 2]

    def explain(self, message: URLMessage) -> str | None:
        return "odd" if message.depth % 2 else None


def test_it_is_the_gate_s_place_in_the_chain() -> None:
    part, drops = TrapsFilter(Odd()), Drops()
    batch = [message(f"http://a.test/{depth}", depth=depth) for depth in range(4)]
    assert part.sift(batch, drops) == batch[::2]
    assert drops.urls() == ["http://a.test/1", "http://a.test/3"]
    assert drops.reasons() == ["trap", "trap"]
    assert [part.explain(each) for each in batch] == [None, "odd", None, "odd"]
