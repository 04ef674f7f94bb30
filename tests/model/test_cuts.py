"""What a person is told to do of pages that were cut: always what brings more than the limit that held."""

from __future__ import annotations

import pytest

from larm.building.mission import limits_of
from larm.config import load
from larm.model.cuts import CUTS, ENDS_EARLY, PROCESSOR, larger, sentence, sentence_of


@pytest.mark.parametrize("name", sorted(CUTS.keys() - {ENDS_EARLY, PROCESSOR}))
@pytest.mark.parametrize("times", [1, 3, 200])
def test_the_remedy_reads_more(name: str, times: int) -> None:
    held = limits_of(load(None))[name] * times
    said = CUTS[name].remedy(held)
    told = load(None, [part.strip() for part in said.split("--set")])
    assert limits_of(told)[name] > held
    assert f"with --set {said} reads" in sentence({name: (2, held)})
    assert f"'larm crawl --set {said}' reads" in sentence_of(name, held)


def test_remedy_is_the_same_command_where_no_limit_held() -> None:
    for name in (ENDS_EARLY, PROCESSOR):
        assert "the same command reads them again" in sentence({name: (1, 0)})
    assert sentence({}) == ""


def test_larger() -> None:
    assert [larger(20, limit) for limit in (5, 19, 20, 40, 100)] == [20, 20, 40, 80, 160]
