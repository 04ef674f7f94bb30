"""300 hosts and 30,000 pages, for three agents and for seven of different weights: each page once, and an end by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.ops.control.client import Control
from larm.ops.control.requests import Agents
from larm.testing.web import SyntheticWeb
from tests.cluster.test_cluster import until
from tests.cluster.web_of_hosts import Cluster, build
from tests.support.etcd import RealEtcd, needs_etcd

HOSTS, PAGES, DELAY = 300, 100, 0.1


@needs_etcd
@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 1, 2, 1, 3, 0.5, 2)], ids=["three", "seven"])
def test_each_page_once(tmp_path: Path, weights: tuple[float, ...]) -> None:
    """Whatever the other agents find, a page is fetched by the agent of its host, and only once."""
    with SyntheticWeb() as web, RealEtcd(tmp_path) as etcd:
        expected = build(web, HOSTS, PAGES)
        some = Cluster(web, tmp_path, len(weights), DELAY, "cluster.lease=10s", etcd=etcd.endpoints)
        try:
            for number, weight in enumerate(weights):
                some.start(number, "-s", f"cluster.weight={weight}")
            until(web, 2_000)
            with Control(some.directory(1)) as agent:
                seen = agent.ask(Agents())
            some.wait(seconds=3_000)
        finally:
            some.end()
        fetched = web.fetched()
        closest = min(web.closest(f"h{host}.localhost") for host in range(HOSTS))
    assert seen.begun
    assert len(seen.agents) == len(weights)
    assert fetched.keys() == expected, "coverage 1"
    assert set(fetched.values()) == {1}, "overlap 0"
    assert closest > DELAY * 0.9
    logs = [some.directory(number) / "logs" / "store.log" for number in range(len(weights))]
    pages = [log.read_bytes().count(b"\n") for log in logs]
    assert sum(pages) == len(expected)
    share = [count * sum(weights) / weight / len(expected) for count, weight in zip(pages, weights, strict=True)]
    assert min(share) > 0.2, share  # of weight .5: some 14 hosts, by names that are others in each run
    assert max(share) < 2, share
