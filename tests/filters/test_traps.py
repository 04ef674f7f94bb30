from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from larm.config import TrapsFilter as Settings
from larm.filters.traps import TrapsFilter
from larm.model.message import UNKNOWN, URLMessage
from larm.seams import Drop
from larm.testing.fakes import Drops, message


class Open:
    """A gate that has nothing against anybody."""

    def screen(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        return list(batch)

    def explain(self, message: URLMessage) -> str | None:
        return None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/", None),
        ("/" + "/".join("abcdefghijklmnopqrstuvwxy"), None),
        ("/" + "/".join("abcdefghijklmnopqrstuvwxyz"), "26 segments (filters.traps.segments)"),
        ("/img/img/img/x", None),
        ("/img/a/img/b/img/c/img/", "a segment stands in the path 4 times (filters.traps.repeats)"),
        ("/2019/12/12/12/12/12/x", None),
        ("/x?" + "&".join(f"n{number}=1" for number in range(40)), None),
        ("/x?" + "&".join(f"n{number}=1" for number in range(41)), "41 parameters (filters.traps.parameters)"),
    ],
)
def test_addresses_that_no_site_needs(path: str, reason: str | None) -> None:
    part, drops = TrapsFilter(Settings(), Open()), Drops()
    one = message(f"http://a.test{path}", depth=1)
    assert part.explain(one) == reason
    assert part.sift([one], drops) == ([one] if reason is None else [])
    assert len(drops.urls()) == (reason is not None)
    start = message(f"http://a.test{path}")
    assert part.sift([start], drops) == [start], "what a person asks for passes"


def test_far_away() -> None:
    part = TrapsFilter(Settings(depth=3), Open())
    near, far = (message("http://a.test/", depth=depth) for depth in (3, 4))
    assert part.sift([near, far], Drops()) == [near]
    assert part.explain(far) == "4 links from a start URL (filters.traps.depth)"
    revisited = msgspec.structs.replace(far, known=UNKNOWN)
    assert part.sift([revisited], Drops()) == [revisited]
