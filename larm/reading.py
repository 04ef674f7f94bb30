"""What reads pages, built the same for a crawl, for the processes beside it and for a new index.

Called by `larm.wiring` and `larm.afterwards` on the main thread.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from larm.config import Config
from larm.kit.counters import Counters
from larm.model.file_url import FILES
from larm.model.link_memo import LinkMemo
from larm.model.url import URLNormalizer
from larm.named_parts import processors_of_the_users, wants_text
from larm.processing.apart.reader import DocumentReader
from larm.processing.by_mime import ByMime, processors
from larm.relief.page_reader import PageReader
from larm.relief.protocol import Terms, plain
from larm.seams import Clock
from larm.state import host_rules, resolver_of

_MOST_READERS = 3
"""Processes beside the crawl, if nothing else is said: three take in what one process can fetch and store. Measured on two
cores, a crawl with index of 10,000 pages: 15.1 s without, 11.8 s with one, 11.1 s with two."""


def normalizer_of(settings: Config, directory: Path, starts: Sequence[str]) -> URLNormalizer:
    """For URLs of a crawl with these start URLs. Raises ConfigError."""
    files = any(start.lower().startswith(FILES) for start in starts)
    return URLNormalizer(resolver_of(settings, directory), settings.urls.lowercase_path, files=files)


def page_processors(  # noqa: PLR0917
    settings: Config, normalizer: URLNormalizer, counters: Counters, clock: Clock, documents: DocumentReader, text: bool
) -> ByMime:
    """By MIME type. ``text``: whether anybody wants the text of pages. Raises ConfigError."""
    return processors(
        LinkMemo(normalizer),
        settings.processing,
        processors_of_the_users(settings),
        counters.add,
        text=text,
        agent=settings.agent.name,
        wall=clock.wall,
        documents=documents,
    )


def page_readers(settings: Config, directory: Path, starts: Sequence[str], counters: Counters) -> list[PageReader]:
    """Processes to come that read pages; none where processors of the user's own read some: they may want to remember."""
    processing = settings.processing
    if processing.by_mime:
        return []
    terms = Terms(
        processing=plain(processing),
        agent=settings.agent.name,
        lowercase_path=settings.urls.lowercase_path,
        host_rules=host_rules(settings, directory),
        files=any(start.lower().startswith(FILES) for start in starts),
        text=wants_text(settings),
    )
    number = min(max((os.cpu_count() or 1) - 1, 0), _MOST_READERS) if processing.processes is None else processing.processes
    return [PageReader(terms, counters.add) for _ in range(number)]
