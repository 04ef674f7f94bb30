"""What a visit costs while it waits for a storage."""

from __future__ import annotations

from larm.model.document import Visit
from larm.model.exchange import Exchange


def test_headers_cost_what_they_hold() -> None:
    """A server may send 64,000 characters of them with each empty page."""
    assert Visit("x", headers={"a": "y" * 60_000, "b": "z"}).cost - Visit("x").cost == 60_001


def test_a_body_that_is_there_once_counts_once() -> None:
    """What went over the wire is the page itself where it has no content encoding."""
    body, packed = b"x" * 10_000, b"y" * 3_000

    def cost(sent: bytes) -> int:
        return Visit("x", body=body, exchange=Exchange("x", b"", b"", sent, "", 0.0)).cost - Visit("x", body=body).cost

    assert cost(packed) - cost(body) == 3_000
