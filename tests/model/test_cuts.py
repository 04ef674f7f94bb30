"""What a person is told to do of pages that were cut: always what brings more than the limit that held."""

from __future__ import annotations

import pytest

from larm.building.mission import limits_of
from larm.config import load
from larm.model.cuts import CUTS, ENDS_EARLY, PROCESSOR, larger, sentence_of


@pytest.mark.parametrize("name", sorted(CUTS.keys() - {ENDS_EARLY, PROCESSOR}))
@pytest.mark.parametrize("times", [1, 3, 200])
def test_the_remedy_reads_more(name: str, times: int) -> None:
    held = limits_of(load(None))[name] * times
    said = CUTS[name].remedy(held)
    told = load(None, [part.strip() for part in said.split("--set")])
    assert limits_of(told)[name] > held
    assert f"'larm crawl --set {said}' reads" in sentence_of(name, held)


def test_remedy_is_the_same_command_where_no_limit_held() -> None:
    for name in (ENDS_EARLY, PROCESSOR):
        assert "'larm crawl' reads it again" in sentence_of(name, 0)


def test_larger() -> None:
    assert [larger(20, limit) for limit in (5, 19, 20, 40, 100)] == [20, 20, 40, 80, 160]
