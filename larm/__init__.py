"""larm: a web crawler with a search engine inside. Where to begin reading: ``larm/crawl.py``."""

__version__ = "0.1.0"
