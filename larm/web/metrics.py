"""Metrics: what Prometheus reads at ``/metrics``, of the server and of running crawls; base units, names as it wants them.

On the event loop, but for `crawl_metrics`, which is called on a thread when Prometheus asks.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from larm import __version__
from larm.index.search.results import Results
from larm.web.crawls import Crawl

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """Of one server; nothing is global, so two in one process do not disturb each other."""

    def __init__(self) -> None:
        # constant after construction
        registry = self.registry = CollectorRegistry()
        info = Gauge("larm_info", "The version of larm that serves.", ["version"], registry=registry)
        info.labels(__version__).set(1)
        self.requests = Counter("larm_http_requests", "Requests answered.", ["route", "status"], registry=registry)
        self.seconds = Histogram(
            "larm_http_request_seconds", "Time from request to last byte.", ["route"], buckets=_SECONDS, registry=registry
        )
        self.searches = Histogram("larm_search_seconds", "Time of a search.", buckets=_SECONDS, registry=registry)
        self.refused = Counter("larm_searches_refused", "Searches refused as too many waited.", registry=registry)
        self.unanswered = Counter("larm_indexes_unanswered", "Indexes that did not answer a search.", registry=registry)

    def searched(self, results: Results) -> None:
        """A search has ended."""
        self.searches.observe(results.took)
        self.unanswered.inc(len(results.unanswered))

    def text(self) -> bytes:
        """All of them, in Prometheus' format."""
        return generate_latest(self.registry)


_GAUGE, _COUNTER = GaugeMetricFamily, CounterMetricFamily
_OF_CRAWLS: Sequence[tuple[type[GaugeMetricFamily | CounterMetricFamily], str, str, str]] = (
    (_GAUGE, "larm_cluster_agents", "figures.cluster.agents", "Agents that have a part of the crawl."),
    (_GAUGE, "larm_cluster_working", "figures.cluster.working", "Of these, agents that are heard."),
    (_GAUGE, "larm_cluster_paused", "figures.cluster.paused", "Of these, agents that are paused."),
    (_GAUGE, "larm_cluster_pages", "figures.cluster.pages", "Pages stored by all."),
    (_GAUGE, "larm_cluster_waiting", "figures.cluster.waiting", "URLs that wait at all."),
    (_GAUGE, "larm_cluster_coverage", "figures.cluster.coverage", "Share of the URLs found that is done with."),
    (_GAUGE, "larm_cluster_overlap", "figures.cluster.overlap", "Pages fetched once too often, by all pages; an estimate."),
    (_GAUGE, "larm_cluster_sent_per_page", "figures.cluster.sent_per_page", "URLs sent to other agents, by pages."),
    (_GAUGE, "larm_cluster_recovered", "figures.cluster.recovered", "Pages that were not fetched again, as an agent had them."),
    (_GAUGE, "larm_crawl_running", "runs", "1: it runs."),
    (_GAUGE, "larm_crawl_urls_waiting", "figures.queued", "URLs that wait."),
    (_GAUGE, "larm_crawl_requests_in_flight", "figures.in_flight", "Requests in the air."),
    (_GAUGE, "larm_crawl_hosts", "figures.hosts_known", "Hosts known."),
    (_GAUGE, "larm_crawl_hosts_given_up", "figures.hosts_given_up", "Hosts that do not answer any more."),
    (_GAUGE, "larm_crawl_checkpoint_seconds", "figures.checkpoint_seconds", "The last checkpoint took."),
    (_COUNTER, "larm_crawl_pages", "figures.pages", "Pages stored in all runs."),
    (_COUNTER, "larm_crawl_requests", "figures.requests", "Requests of this run."),
    (_COUNTER, "larm_crawl_received_bytes", "figures.received", "Body bytes of this run."),
    (_COUNTER, "larm_crawl_errors", "figures.errors", "Fetches of this run that failed."),
)
"""Kind, name, attribute of a `Crawl`, and help. ``figures.cluster`` are those of all agents; a crawl of one has none."""


def crawl_metrics(crawls: Sequence[Crawl]) -> bytes:
    """Of all of them, in Prometheus' format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Crawls(crawls))
    return generate_latest(registry)


class _Crawls(Collector):
    def __init__(self, crawls: Sequence[Crawl]) -> None:
        self._crawls = crawls

    def collect(self) -> Iterable[Metric]:
        for kind, name, path, text in _OF_CRAWLS:
            family = kind(name, text, labels=["crawl"])
            for crawl in self._crawls:
                if crawl.figures.cluster is not None or not name.startswith("larm_cluster"):
                    family.add_metric([crawl.name], float(attrgetter(path)(crawl)))
            if family.samples:
                yield family
