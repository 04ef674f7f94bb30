"""What reads pages, built the same for a crawl, for the processes beside it and for a new index.

Made by `larm.building.wiring` and `larm.ops.afterwards` on the main thread.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from larm.building.named_parts import processors_of_the_users, stores_text, traps_are_told
from larm.building.own_fields import page_rules
from larm.building.start_folders import web_roots
from larm.config import Config
from larm.crawldir.state import host_rules, resolver_of
from larm.kit.counters import Counters
from larm.kit.processes.children import memory_together
from larm.kit.processes.memory_budget import MemoryBudget, machine_memory
from larm.model.document import Document
from larm.model.file_url import FILES
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.model.url import URLNormalizer
from larm.parse.reading.protocol import Terms, plain
from larm.seams import Clock

if TYPE_CHECKING:
    from larm.parse.apart.reader import DocumentReader
    from larm.parse.by_mime import ByMime

_LEAST: Final = 256_000_000
"""Bytes: with fewer, nothing large could be read at all; a crawl of one site takes 100 MB."""
_MOST: Final = 1_100_000_000
"""Bytes, if nothing is said, however much there is: enough for two documents at a time and for any page made for people beside
the crawl; and a watchdog that ends what takes a gigabyte has no reason to, for an eighth is never granted."""
_AIR: Final = 16_000_000, 128_000_000
"""Bytes, at least and at most: a page of `Fetch.page_size` for each of two threads; more only would wait to be read."""


def normalizer_of(settings: Config, directory: Path, starts: Sequence[str]) -> URLNormalizer:
    """For URLs of a crawl with these start URLs. Raises ConfigError."""
    files = any(start.lower().startswith(FILES) for start in starts)
    roots = web_roots(settings.files.places, starts) if files else ()
    return URLNormalizer(resolver_of(settings, directory), *_forms(settings), files=files, web_roots=roots)


def _forms(settings: Config) -> tuple[bool, bool]:
    return settings.urls.lowercase_path, settings.urls.folder_pages


class Processors:
    """The processors of this process, loaded when it has the first page to read: 25 ms, and often others read all.

    Shared by all threads that read. ``text``: whether anybody wants the text of pages; ``memory``: grants what documents need.
    Raises ConfigError.
    """

    def __init__(
        self,
        settings: Config,
        normalizer: URLNormalizer,
        counters: Counters,
        clock: Clock,
        *,
        text: bool,
        memory: MemoryBudget | None = None,
    ) -> None:
        # constant after construction
        self._settings = settings
        self._normalizer = normalizer
        self._counters = counters
        self._clock = clock
        self._text = text
        self._memory = memory
        self._own = processors_of_the_users(settings)
        self._lock = threading.Lock()
        # guarded by self._lock
        self._loaded: ByMime | None = None
        self._documents: DocumentReader | None = None
        self._closed = False

    def process(self, message: URLMessage, fetched: Fetched) -> Document:
        """A Document for any bytes. Never raises for what they are; ImportError and the like where larm is broken."""
        return (self._loaded or self._load()).process(message, fetched)

    def _load(self) -> ByMime:
        with self._lock:
            if self._loaded is None:
                from larm.parse.apart.reader import DocumentReader
                from larm.parse.by_mime import processors

                text = int(self._settings.storage.index.text_size)
                documents = DocumentReader(
                    self._settings.processing.documents, text=text, effort=self._settings.processing.effort, budget=self._memory
                )
                loaded = processors(
                    LinkMemo(self._normalizer),
                    self._settings.processing,
                    self._own,
                    self._counters.add,
                    text=self._text,
                    facts=stores_text(self._settings),
                    agent=self._settings.agent.name,
                    wall=self._clock.wall,
                    documents=documents,
                    page_size=self._settings.fetch.page_size,
                    rules=page_rules(self._settings),
                )
                if self._closed:  # by a crawl that did not wait for this thread
                    documents.close()
                self._loaded, self._documents = loaded, documents
            return self._loaded

    def close(self) -> None:
        """End the processes that read documents."""
        with self._lock:
            self._closed = True
            if self._documents is not None:
                self._documents.close()


def memory_budget(settings: Config, *, careful: bool = False) -> MemoryBudget:
    """For the processes that read large pages and documents; ``careful``: see there."""
    limit = settings.limits.memory or max(min(machine_memory() // 2 or _MOST, _MOST), _LEAST)
    return MemoryBudget(limit, memory_together, careful=careful)


def air_of(budget: MemoryBudget) -> int:
    """Bytes of bodies in the air: so few that they never are what fills the memory."""
    return min(max(budget.limit // 16, _AIR[0]), _AIR[1])


def terms_of(settings: Config, directory: Path, starts: Sequence[str]) -> Terms:
    """What all these processes are told."""
    return Terms(
        processing=plain(settings.processing),
        agent=settings.agent.name,
        urls=_forms(settings),
        host_rules=host_rules(settings, directory),
        files=any(start.lower().startswith(FILES) for start in starts),
        web_roots=web_roots(settings.files.places, starts),
        text=stores_text(settings),
        judged=traps_are_told(settings),
        page_size=int(settings.fetch.page_size),
        own=[mime.lower() for mime in settings.processing.by_mime],
        rules=page_rules(settings),
    )
