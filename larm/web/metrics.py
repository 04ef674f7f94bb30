"""Metrics: what Prometheus reads at ``/metrics``, of the server and of running crawls; base units, names as it wants them.

On the event loop, but for `crawl_metrics`, which is called on a thread when Prometheus asks.
"""

from collections.abc import Iterable, Sequence

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


_CLUSTER = {
    "agents": "Agents that have a part of the crawl.",
    "working": "Of these, agents that are heard.",
    "paused": "Of these, agents that are paused.",
    "pages": "Pages stored by all.",
    "waiting": "URLs that wait at all.",
    "coverage": "Share of the URLs found that is done with.",
    "overlap": "Pages fetched once too often, by all pages; an estimate.",
    "sent_per_page": "URLs sent to other agents, by pages.",
    "recovered": "Pages that were not fetched again, as an agent had them.",
}


def crawl_metrics(crawls: Sequence[Crawl]) -> bytes:
    """Of all of them, in Prometheus' format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Crawls(crawls))
    return generate_latest(registry)


class _Crawls(Collector):
    def __init__(self, crawls: Sequence[Crawl]) -> None:
        self._crawls = crawls

    def collect(self) -> Iterable[Metric]:
        gauges = {
            "larm_crawl_running": ("1: it runs.", lambda crawl: float(crawl.runs)),
            "larm_crawl_urls_waiting": ("URLs that wait.", lambda crawl: crawl.figures.queued),
            "larm_crawl_requests_in_flight": ("Requests in the air.", lambda crawl: crawl.figures.in_flight),
            "larm_crawl_hosts": ("Hosts known.", lambda crawl: crawl.figures.hosts_known),
            "larm_crawl_hosts_given_up": ("Hosts that do not answer any more.", lambda crawl: crawl.figures.hosts_given_up),
            "larm_crawl_checkpoint_seconds": ("The last checkpoint took.", lambda crawl: crawl.figures.checkpoint_seconds),
        }
        counters = {
            "larm_crawl_pages": ("Pages stored in all runs.", lambda crawl: crawl.figures.pages),
            "larm_crawl_requests": ("Requests of this run.", lambda crawl: crawl.figures.requests),
            "larm_crawl_received_bytes": ("Body bytes of this run.", lambda crawl: crawl.figures.received),
            "larm_crawl_errors": ("Fetches of this run that failed.", lambda crawl: crawl.figures.errors),
        }
        yield from self._clusters()
        for kind, table in ((GaugeMetricFamily, gauges), (CounterMetricFamily, counters)):
            for name, (help_text, value) in table.items():
                family = kind(name, help_text, labels=["crawl"])
                for crawl in self._crawls:
                    family.add_metric([crawl.name], value(crawl))  # type: ignore[no-untyped-call]
                yield family

    def _clusters(self) -> Iterable[Metric]:
        """Of all agents, as the one that runs here knows them."""
        for field, help_text in _CLUSTER.items():
            family = GaugeMetricFamily(f"larm_cluster_{field}", help_text, labels=["crawl"])
            for crawl in self._crawls:
                if crawl.figures.cluster is not None:
                    family.add_metric([crawl.name], float(getattr(crawl.figures.cluster, field)))
            if family.samples:
                yield family
