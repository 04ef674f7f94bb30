"""What reads pages, built the same for a crawl, for the processes beside it and for a new index.

Made by `larm.wiring` and `larm.afterwards` on the main thread.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from larm.config import Config
from larm.kit.counters import Counters
from larm.kit.helper_process import HelperProcess
from larm.model.document import Document
from larm.model.file_url import FILES
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.model.url import URLNormalizer
from larm.named_parts import processors_of_the_users, wants_text
from larm.relief.ahead import new_reader, readers_of
from larm.relief.page_reader import PageReader
from larm.relief.protocol import Terms, plain
from larm.seams import Clock
from larm.state import host_rules, resolver_of

if TYPE_CHECKING:
    from larm.processing.apart.reader import DocumentReader
    from larm.processing.by_mime import ByMime


def normalizer_of(settings: Config, directory: Path, starts: Sequence[str]) -> URLNormalizer:
    """For URLs of a crawl with these start URLs. Raises ConfigError."""
    files = any(start.lower().startswith(FILES) for start in starts)
    return URLNormalizer(resolver_of(settings, directory), settings.urls.lowercase_path, files=files)


class Processors:
    """The processors of this process, loaded when it has the first page to read: 25 ms, and often others read all.

    Shared by all threads that read. ``text``: whether anybody wants the text of pages. Raises ConfigError.
    """

    def __init__(self, settings: Config, normalizer: URLNormalizer, counters: Counters, clock: Clock, *, text: bool) -> None:
        # constant after construction
        self._settings = settings
        self._normalizer = normalizer
        self._counters = counters
        self._clock = clock
        self._text = text
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
                from larm.processing.apart.reader import DocumentReader
                from larm.processing.by_mime import processors

                documents = DocumentReader(self._settings.processing.documents)
                loaded = processors(
                    LinkMemo(self._normalizer),
                    self._settings.processing,
                    self._own,
                    self._counters.add,
                    text=self._text,
                    agent=self._settings.agent.name,
                    wall=self._clock.wall,
                    documents=documents,
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


def page_readers(
    settings: Config, directory: Path, starts: Sequence[str], counters: Counters, ahead: HelperProcess | None
) -> list[PageReader]:
    """Those that read pages in processes beside the crawl; ``ahead``: the first process, if it is there already."""
    terms = Terms(
        processing=plain(settings.processing),
        agent=settings.agent.name,
        lowercase_path=settings.urls.lowercase_path,
        host_rules=host_rules(settings, directory),
        files=any(start.lower().startswith(FILES) for start in starts),
        text=wants_text(settings),
    )
    first = [] if ahead is None else [ahead]
    others = [new_reader() for _ in range(readers_of(settings.processing) - len(first))]
    return [PageReader(terms, counters.add, process) for process in (*first, *others)]
