"""What larm serve shows of a crawl that several agents do."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from larm.engine.figures.snapshot import ClusterFigures, Snapshot
from larm.web.crawls import Crawl, Lately
from larm.web.metrics import crawl_metrics
from larm.web.page import text_of

FIGURES = ClusterFigures(agents=3, working=2, paused=0, pages=1_200, waiting=300, coverage=0.8, overlap=0.01, sent_per_page=1.5)


def test_metrics_of_all_agents() -> None:
    """Of crawls that have others, and of no other crawl."""
    alone, one = Crawl(name="alone", state="running"), Crawl(name="one", state="running", figures=Snapshot(cluster=FIGURES))
    said = crawl_metrics([alone, one]).decode()
    samples = [sample for family in text_string_to_metric_families(said) for sample in family.samples]
    found = {sample.name: sample.value for sample in samples if sample.name.startswith("larm_cluster_")}
    assert found == {
        f"larm_cluster_{name}": float(getattr(FIGURES, name)) for name in FIGURES.__struct_fields__ if name != "holds"
    }
    assert {sample.labels["crawl"] for sample in samples if sample.name.startswith("larm_cluster_")} == {"one"}
    assert "larm_cluster" not in crawl_metrics([alone]).decode()


def test_the_monitor_shows_all_agents() -> None:
    crawl = Crawl(name="one", state="running", figures=Snapshot(cluster=FIGURES))
    said = text_of("figures.html", crawl=crawl, due=0, rows=(), charts=(), last=Lately((), ()))
    assert "All agents: 3 agents (2 of them heard): 1,200 pages" in said
