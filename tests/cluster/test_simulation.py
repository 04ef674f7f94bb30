"""Agents as in a crawl, and whatever can break. By hand: more seeds with ``LARM_SEEDS=600``.

Each planted fault must be found by the seed beside it, or the simulation does not see enough.
"""

import os

import pytest

pytest.importorskip("greenlet")

from tests.cluster.simulation import World
from tests.cluster.simulation_faults import PLANTED

SEEDS = int(os.environ.get("LARM_SEEDS", "10"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_crawl_of_agents_that_fail_ends_and_has_all_pages(seed):
    World(seed).run()


@pytest.mark.parametrize("name", PLANTED)
def test_planted_fault_is_found(name):
    fault, seed = PLANTED[name]
    with pytest.raises(AssertionError):
        World(seed, fault).run()
