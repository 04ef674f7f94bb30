"""All of config.yaml."""

from typing import Any

from larm.config.cluster import Cluster
from larm.config.crawl import Agent, Crawl, Files, Urls
from larm.config.filters import Filters
from larm.config.hosts import Frontier, Robots, Site
from larm.config.pages import Fetch, Processing
from larm.config.search import Search
from larm.config.section import Section
from larm.config.serving import Monitor, Network, Peers, Serve
from larm.config.storages import Limits, Recrawl, Storage


class Config(Section, frozen=True):
    """All of config.yaml."""

    agent: Agent = Agent()
    crawl: Crawl = Crawl()
    urls: Urls = Urls()
    files: Files = Files()
    filters: Filters = Filters()
    robots: Robots = Robots()
    frontier: Frontier = Frontier()
    fetch: Fetch = Fetch()
    sites: dict[str, Site] = {}
    """By hosts, or patterns for them."""
    processing: Processing = Processing()
    limits: Limits = Limits()
    storage: Storage = Storage()
    own: dict[str, dict[str, Any]] = {}
    """Keyword arguments for filters and storages of the user's own, by their dotted names."""
    recrawl: Recrawl = Recrawl()
    search: Search = Search()
    monitor: Monitor = Monitor()
    serve: Serve = Serve()
    peers: Peers = Peers()
    network: Network = Network()
    cluster: Cluster = Cluster()


def own_modules(settings: Config) -> list[str]:
    """Modules of the user's that these settings name, as ``module:Class``."""
    names = [
        *settings.filters.order,
        *settings.storage.chain,
        *settings.processing.by_mime.values(),
        *settings.search.own,
    ]
    return list(dict.fromkeys(name.partition(":")[0] for name in names if ":" in name))
