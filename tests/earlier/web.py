"""The web of which the directories of earlier larms are, and crawls of it. Nothing here may change: they were made with it.

Its URLs have a port of their own, wherever the server listens; libcurl is told where that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

import pycurl

from larm.fetching import transfer
from larm.kit.clock import SystemClock
from larm.testing.random_web import RandomWeb
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb

PORT = 39_317
"""In the URLs."""
SETTINGS: dict[str, object] = {
    "crawl.restrict_to": r"http://[a-z0-9]+\.localhost:\d+/.*",
    "monitor.tick": "30ms",
    "frontier.message_block": 10,
    "frontier.host_block": 3,
    "frontier.hosts_in_memory": 2,
    "frontier.messages_in_memory": 10,
    "storage.log.page_file_size": 10_000,
    "storage.index.memory": "15MB",
    "fetch.threads": 1,
    "fetch.transfers": 2,
}


class EarlierWeb(RandomWeb):
    """Random pages on three hosts; one with three names for a page; one that answers 503."""

    def __init__(self) -> None:
        super().__init__(7, 3, 48, links=5, port=0, delay=0.002)
        self.listening = 0
        """Where it listens."""

    def __enter__(self) -> Self:
        SyntheticWeb.__enter__(self)
        self.listening, self._port = self._port, PORT
        self._build()
        twins = self.host("twins.localhost")
        twins.page("/", links=["/a", "/b", "/c"], text="Three pages below, all of which say the same.")
        for path in ("/a", "/b", "/c"):
            twins.page(path, title="The same", text="One and the same text, under three addresses. " * 20)
        self.host("ill.localhost").add("/", Reply(503))
        return self

    @property
    def start_urls(self) -> list[str]:
        """Two that have pages, and the one that has none."""
        return [self.url(host) for host in (self.hosts[0], "twins.localhost", "ill.localhost")]


@contextmanager
def earlier_web() -> Iterator[EarlierWeb]:
    """It is served, and all that this process asks any host for is asked of it."""
    with EarlierWeb() as web, leading_to(web.listening):
        yield web


@contextmanager
def leading_to(port: int) -> Iterator[None]:
    """Whatever is asked for, on any host and port, is asked for here."""
    make = transfer._easy_handle

    def handle(*given: Any) -> Any:
        made = make(*given)
        made.setopt(pycurl.CONNECT_TO, [f"::127.0.0.1:{port}"])
        return made

    with patch.object(transfer, "_easy_handle", handle):
        yield


class ThatTime:
    """The clock of a later run: as though it were begun a minute after the directory was left, whenever that was."""

    def __init__(self, directory: Path) -> None:
        self._real = SystemClock()
        last = max(path.stat().st_mtime for path in directory.rglob("*") if path.is_file())
        self._ahead = last + 60 - self._real.wall()

    def monotonic(self) -> float:
        return self._real.monotonic()

    def wall(self) -> float:
        return self._real.wall() + self._ahead


def pages(web: EarlierWeb) -> frozenset[str]:
    """What a whole crawl has stored, as ``host/path``."""
    return web.expected() | {f"twins.localhost{path}" for path in ("/", "/a", "/b", "/c")}
