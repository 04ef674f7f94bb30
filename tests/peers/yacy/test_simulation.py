"""Hours of a network that people join and leave; ARCHITECTURE.rst has the figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers.yacy.simulation import Figures, simulate


def hold(figures: Figures) -> None:
    assert figures.left, "somebody leaves"
    assert figures.worst >= 0.999
    assert figures.found_at_the_end == 1.0
    assert figures.requests < 5
    assert figures.known >= 0.95


def test_twenty_peers(tmp_path: Path) -> None:
    hold(simulate(tmp_path, 20, 5, authors=4))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_three_hundred_peers(tmp_path: Path) -> None:
    hold(simulate(tmp_path, 300, 6))
