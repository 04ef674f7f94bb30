"""A crawl inside a program: `larm.crawl`. Settings in, a Crawl run to its end, what became of it.

Several may run at a time, each on a thread and in a directory of its own. Called on any thread. `Listener` is a storage named
in ``storage.chain``, so it has a thread and a bounded queue: a slow program holds up the crawl, and nothing else.
"""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from types import FrameType

import msgspec

from larm.building.own_parts import import_beside
from larm.building.start_urls import read_starts, with_starts
from larm.config import Config, CrawlSettings, load, own_modules, unknown_key
from larm.crawldir.state import stored_bytes
from larm.errors import UsageError
from larm.model.document import Visit
from larm.model.url import URLNormalizer
from larm.ops.embedded.page import Page, PageError, Pages
from larm.ops.observers import build_crawl
from larm.ops.outcome import how
from larm.store.base import DocumentStorage

MOST_ERRORS = 10_000
"""That are remembered: some 3 MB. Of more only the number is."""


class Heard:
    """What a run leaves with its listener. Written by the storage's thread, read when the run has ended."""

    def __init__(self) -> None:
        self.errors: list[PageError] = []
        self.more_errors = 0
        self.failure: BaseException | None = None
        """What ``on_page`` raised."""


class Listener(DocumentStorage):
    """Implements `larm.seams.Storage`."""

    name = "on_page"
    lasting = False

    def __init__(self, on_page: Callable[[Page], object] | None, heard: Heard) -> None:
        # constant after construction
        self._on_page = on_page
        self._heard = heard

    def store(self, visits: Sequence[Visit]) -> None:
        """Tell of each. What ``on_page`` raises ends the crawl."""
        for visit in visits:
            if visit.failure:
                self._note(visit)
            elif visit.document is not None and visit.url is not None and self._on_page is not None:
                try:
                    self._on_page(Page(visit, visit.document))
                except BaseException as error:
                    self._heard.failure = error
                    raise

    def _note(self, visit: Visit) -> None:
        if len(self._heard.errors) < MOST_ERRORS:
            self._heard.errors.append(PageError(visit.page, visit.status, visit.failure, visit.referrer))
        else:
            self._heard.more_errors += 1


_HERE = "larm.crawl()"
_SECTIONS = tuple(field.name for field in msgspec.structs.fields(Config))
_OF_CRAWL = tuple(field.name for field in msgspec.structs.fields(CrawlSettings))


class Crawled(msgspec.Struct, frozen=True):
    """What became of a run."""

    reason: str
    """finished, closespider_pagecount, closespider_timeout, bytes_spent, hosts_waiting (all that is left must wait for long) or
    disk_nearly_full (less than ``limits.disk`` is free); `ended` says it in words."""
    pages: Pages
    """Those that this run has stored."""
    errors: Sequence[PageError]
    """Addresses that brought no page, the first 10,000."""
    more_errors: int
    """How many there were beyond these."""
    failed_starts: Sequence[str]
    """A line for each start URL that brought no page: what happened."""
    notes: Sequence[str]
    """What a person should know."""
    counters: Mapping[str, int]
    """The figures of this run, by the names of Scrapy's stats."""

    @property
    def ended(self) -> str:
        """The reason in words, as ``larm crawl`` says it: "stopped at --max-pages" is closespider_pagecount."""
        return how(self.reason)


def crawl(
    *start: str,
    directory: str | PathLike[str],
    config: str | PathLike[str] | None,
    on_page: Callable[[Page], object] | None,
    fresh: bool,
    settings: Mapping[str, object],
) -> Crawled:
    """See `larm.crawl`."""
    where = Path(directory)
    effective, notes = _settings(start, where, config, settings)
    heard = Heard()
    begin = 0 if fresh else stored_bytes(where)
    river = build_crawl(_with_listener(effective, on_page, heard), where, fresh=fresh)
    with _interruptible(river.stop) as interrupted:
        ending = river.run()
    if heard.failure is not None:
        raise heard.failure
    if ending.error is not None:
        raise ending.error
    if interrupted:
        raise KeyboardInterrupt
    return Crawled(
        reason=ending.reason,
        pages=Pages(where, begin),
        errors=heard.errors,
        more_errors=heard.more_errors,
        failed_starts=ending.failed_starts,
        notes=[*notes, *river.notes],
        counters=river.snapshot().counters,
    )


def _settings(
    start: Sequence[str], directory: Path, config: str | PathLike[str] | None, settings: Mapping[str, object]
) -> tuple[Config, list[str]]:
    own = directory / "config.yaml"
    file = Path(config) if config is not None else own if own.exists() else None
    given = dict(_dotted(settings))
    if start:
        given["crawl.start"] = list(start)
    found = load(file, (), given, _HERE, directory=directory)
    if own_modules(found) and file is not None:
        import_beside(found, file.parent)
    base, source = (Path(), _HERE) if start else (directory, "crawl.start:")
    starts = read_starts(found.crawl.start, URLNormalizer(files=True).parse, base, source, found.crawl.seeds)
    if not starts.urls:
        raise UsageError("; ".join((*starts.mistakes, *starts.notes, f"{_HERE}: no start URL")))
    return msgspec.structs.replace(found, crawl=with_starts(found.crawl, starts)), [*starts.mistakes, *starts.notes]


def _dotted(settings: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Keyword arguments -> keys of config.yaml: a section with its keys, or a key of the section ``crawl``."""
    for name, value in settings.items():
        if name in _OF_CRAWL:
            yield f"crawl.{name}", value
        elif name in _SECTIONS:
            yield from _within({name: value}, Config)
        else:
            raise unknown_key(_HERE, name, ("dir", "config", "on_page", "fresh", *_OF_CRAWL, *_SECTIONS))


def _within(given: Mapping[str, object], struct: type[msgspec.Struct], path: str = "") -> Iterator[tuple[str, object]]:
    kinds = {field.name: field.type for field in msgspec.structs.fields(struct)}
    for name, value in given.items():
        kind = kinds.get(name)
        if isinstance(value, Mapping) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            yield from _within(value, kind, f"{path}{name}.")
        else:
            yield f"{path}{name}", value  # `load` says what is wrong with it


def _with_listener(config: Config, on_page: Callable[[Page], object] | None, heard: Heard) -> Config:
    """The listener is a storage of the program's own."""
    name = f"{Listener.__module__}:{Listener.__qualname__}"
    storage = msgspec.structs.replace(config.storage, chain=(*config.storage.chain, name))
    return msgspec.structs.replace(config, storage=storage, own={**config.own, name: {"on_page": on_page, "heard": heard}})


@contextmanager
def _interruptible(stop: Callable[[], object]) -> Iterator[list[bool]]:
    """On the main thread Ctrl-C ends the crawl in good order; then what this yields is not empty."""
    asked: list[bool] = []
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield asked
        return

    def handle(_signal: int, _frame: FrameType | None) -> None:
        asked.append(True)
        stop()

    signal.signal(signal.SIGINT, handle)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
