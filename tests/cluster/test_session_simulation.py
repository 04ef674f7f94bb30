"""Agents with the `Session` of a crawl, and whatever can break. By hand: more seeds with ``LARM_SEEDS=600``."""

import os

import pytest

pytest.importorskip("greenlet")

from tests.cluster.session_world import World

SEEDS = int(os.environ.get("LARM_SEEDS", "20"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_crawl_of_agents_that_fail_ends_and_has_all_pages(seed):
    World(seed).run()
