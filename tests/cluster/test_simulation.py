"""Agents as in a crawl, and whatever can break. By hand: more seeds with ``LARM_SEEDS=600``.

Each planted fault must be found by the seed beside it, or the simulation does not see enough.
"""

import os

import pytest

pytest.importorskip("greenlet")

from tests.cluster.simulation import RIGHT, Script, World
from tests.cluster.simulation_faults import PLANTED, SCRIPTED

SEEDS = int(os.environ.get("LARM_SEEDS", "10"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_crawl_of_agents_that_fail_ends_and_has_all_pages(seed):
    World(seed).run()


@pytest.mark.parametrize("name", PLANTED)
def test_planted_fault_is_found(name):
    fault, seed = PLANTED[name]
    with pytest.raises(AssertionError):
        World(seed, fault).run()


@pytest.mark.parametrize("name", SCRIPTED)
def test_planted_fault_is_found_by_its_script(name):
    fault, seed, shape, *happens = SCRIPTED[name]
    with pytest.raises(AssertionError):
        Script(seed, fault, shape, *happens).run()


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTED)
def test_script_breaks_nothing_without_the_fault(name):
    _, seed, shape, *happens = SCRIPTED[name]
    Script(seed, RIGHT, shape, *happens).run()
