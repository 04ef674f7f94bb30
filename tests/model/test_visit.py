"""What a visit costs while it waits for a storage."""

from __future__ import annotations

from larm.model.document import Visit


def test_headers_cost_what_they_hold() -> None:
    """A server may send 64,000 characters of them with each empty page."""
    assert Visit("x", headers={"a": "y" * 60_000, "b": "z"}).cost - Visit("x").cost == 60_001
