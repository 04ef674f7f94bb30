"""Hours of a network that people join and leave; ARCHITECTURE.rst has the figures."""

from __future__ import annotations

import pytest

from tests.peers.yacy.simulation import Figures, simulate


def hold(figures: Figures) -> None:
    assert figures.left, "somebody leaves"
    assert figures.worst >= 0.999
    assert figures.found_at_the_end >= 0.999
    assert figures.pings < 15
    assert figures.transfers < 60
    assert figures.known >= 0.95
    assert figures.longest <= 6


def test_twenty_peers() -> None:
    hold(simulate(20, 5, authors=4))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_a_thousand_peers() -> None:
    hold(simulate(1_000, 2, together=True))


@pytest.mark.slow
@pytest.mark.timeout(7_200)
def test_ten_thousand_peers() -> None:
    hold(simulate(10_000, 1, authors=60, together=True))
