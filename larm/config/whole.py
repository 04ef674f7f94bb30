"""All of config.yaml."""

from typing import Any

from larm.config.cluster import ClusterSettings
from larm.config.crawl import AgentSettings, CrawlSettings, FilesSettings, UrlsSettings
from larm.config.filters import FiltersSettings
from larm.config.hosts import FrontierSettings, RobotsSettings, Site
from larm.config.pages import FetchSettings, ProcessingSettings
from larm.config.search import SearchSettings
from larm.config.section import Section
from larm.config.serving import MonitorSettings, NetworkSettings, PeersSettings, ServeSettings
from larm.config.storages import LimitsSettings, RecrawlSettings, StorageSettings


class Config(Section, frozen=True):
    """All of config.yaml."""

    agent: AgentSettings = AgentSettings()
    crawl: CrawlSettings = CrawlSettings()
    urls: UrlsSettings = UrlsSettings()
    files: FilesSettings = FilesSettings()
    filters: FiltersSettings = FiltersSettings()
    robots: RobotsSettings = RobotsSettings()
    frontier: FrontierSettings = FrontierSettings()
    fetch: FetchSettings = FetchSettings()
    sites: dict[str, Site] = {}
    """By hosts, or patterns for them."""
    processing: ProcessingSettings = ProcessingSettings()
    limits: LimitsSettings = LimitsSettings()
    storage: StorageSettings = StorageSettings()
    own: dict[str, dict[str, Any]] = {}
    """Keyword arguments for filters and storages of the user's own, by their dotted names."""
    recrawl: RecrawlSettings = RecrawlSettings()
    search: SearchSettings = SearchSettings()
    monitor: MonitorSettings = MonitorSettings()
    serve: ServeSettings = ServeSettings()
    peers: PeersSettings = PeersSettings()
    network: NetworkSettings = NetworkSettings()
    cluster: ClusterSettings = ClusterSettings()


def own_modules(settings: Config) -> list[str]:
    """Modules of the user's that these settings name, as ``module:Class``."""
    names = [
        *settings.filters.order,
        *settings.storage.chain,
        *settings.processing.by_mime.values(),
        *settings.search.own,
    ]
    return list(dict.fromkeys(name.partition(":")[0] for name in names if ":" in name))
