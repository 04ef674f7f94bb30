"""Config: the typed, frozen mirror of config.yaml.

Each part of larm gets its own section, never the whole; a file here has the sections of one subject, with the defaults and
their reasons. `load` (``loading.py``, the only reader of YAML) puts the sources together: command line, ``-s``, environment,
file, defaults. Used at start, on the main thread.
"""

from larm.config.cluster import Cluster
from larm.config.conversion import unknown_key
from larm.config.crawl import Agent, Crawl, Files, Seed, Urls
from larm.config.filters import Filters, LengthFilter, TrapsFilter, VisitedFilter
from larm.config.hosts import Frontier, Robots, Site
from larm.config.loading import changed, load
from larm.config.pages import Documents, Fetch, PageRules, Processing
from larm.config.search import Search
from larm.config.serving import Monitor, Network, Peers, Serve
from larm.config.storages import Field, IndexStorage, Keep, Limits, LogStorage, Recrawl, Storage, WarcStorage
from larm.config.whole import Config, own_modules

CONFIG_FILE = "config.yaml"
"""In a crawl's directory."""

__all__ = [
    "CONFIG_FILE",
    "Agent",
    "Cluster",
    "Config",
    "Crawl",
    "Documents",
    "Fetch",
    "Field",
    "Files",
    "Filters",
    "Frontier",
    "IndexStorage",
    "Keep",
    "LengthFilter",
    "Limits",
    "LogStorage",
    "Monitor",
    "Network",
    "PageRules",
    "Peers",
    "Processing",
    "Recrawl",
    "Robots",
    "Search",
    "Seed",
    "Serve",
    "Site",
    "Storage",
    "TrapsFilter",
    "Urls",
    "VisitedFilter",
    "WarcStorage",
    "changed",
    "load",
    "own_modules",
    "unknown_key",
]
