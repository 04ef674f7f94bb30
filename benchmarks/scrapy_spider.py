"""The Scrapy contestant: follow every link within the host, store nothing. Runs in Scrapy's own virtual environment.

``python scrapy_spider.py URL``
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_DELAY": 0,
    "DEPTH_LIMIT": 0,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "URLLENGTH_LIMIT": 0,
}


class FollowAll(scrapy.Spider):
    """A spider as the tutorial has it."""

    name = "follow_all"
    start_urls = sys.argv[1:]
    links = LinkExtractor(allow_domains=[urlsplit(url).netloc for url in sys.argv[1:]])

    def parse(self, response: Response, **_: Any) -> Iterator[scrapy.Request]:
        """Follow what is linked."""
        if isinstance(response, HtmlResponse):
            for link in self.links.extract_links(response):
                yield scrapy.Request(link.url)


process = CrawlerProcess(SETTINGS)
process.crawl(FollowAll)
process.start()
