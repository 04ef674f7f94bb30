"""Metrics: what Prometheus reads at ``/metrics``; base units, names as it wants them. On the event loop."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from larm import __version__
from larm.search.results import Results

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
