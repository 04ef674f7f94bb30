"""Config: the typed, frozen mirror of config.yaml.

Each part of larm gets its own section, a class that ends in ``Settings``, never the whole; a file here has the sections of one
subject, with the defaults and their reasons. `load` (``loading.py``, the only reader of YAML) puts the sources together:
command line, ``-s``, environment, file, defaults. Used at start, on the main thread.
"""

from larm.config.cluster import ClusterSettings
from larm.config.conversion import unknown_key
from larm.config.crawl import AgentSettings, CrawlSettings, FilesSettings, Seed, UrlsSettings
from larm.config.filters import FiltersSettings, LengthSettings, TrapsSettings, VisitedSettings
from larm.config.hosts import FrontierSettings, RobotsSettings, Site
from larm.config.loading import changed, load
from larm.config.pages import DocumentsSettings, FetchSettings, PageRules, ProcessingSettings
from larm.config.search import SearchSettings
from larm.config.serving import MonitorSettings, NetworkSettings, PeersSettings, ServeSettings
from larm.config.storages import (
    Field,
    IndexSettings,
    Keep,
    LimitsSettings,
    LogSettings,
    RecrawlSettings,
    StorageSettings,
    WarcSettings,
)
from larm.config.whole import Config, own_modules

CONFIG_FILE = "config.yaml"
"""In a crawl's directory."""
