"""Ground: what a crawl is built on: its settings, its directory as the last run left it, and what all parts share.

Laid by `larm.building.wiring` on the main thread, before there is any part of the river.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.building.readers import normalizer_of
from larm.building.retention import with_retention
from larm.config import Config
from larm.crawldir.opening import OpenDirectory
from larm.crawldir.sealing import Sealing
from larm.crawldir.state import JOURNAL, LOGS, QUEUES, State, Undo, close_all, without_removed
from larm.engine.fetcher_record import FetcherRecord
from larm.engine.limits import Limits
from larm.engine.parts import FINISHED, Shared
from larm.engine.steering import Hands, Steering, state_of
from larm.engine.suspects import Suspects
from larm.errors import LarmError
from larm.frontier.checkpoint import Header
from larm.frontier.shared_addresses import SharedAddresses
from larm.kit.counters import Counters
from larm.kit.disk.journal import Journal
from larm.kit.disk.lock import DirectoryLock
from larm.kit.logs.log_book import LogBook
from larm.kit.threads.bell import Bell
from larm.kit.threads.gate import Gate
from larm.kit.threads.tally import Tally
from larm.kit.threads.thread_cpu import ThreadCpu
from larm.kit.threads.ticker import Ticker
from larm.model.url import URLNormalizer
from larm.parse.reading.ahead import document_threads, readers_of
from larm.seams import Clock


class Ground(NamedTuple):
    """Known to everything in `larm.building`, and to nothing else."""

    settings: Config
    directory: Path
    lock: DirectoryLock
    sealing: Sealing
    state: State
    logs: LogBook
    records: list[FetcherRecord]
    """Of the threads that fetch or read, in the order of their numbers."""
    suspects: Suspects
    shared: Shared
    normalizer: URLNormalizer
    notes: list[str]
    """What a person should know before it starts, in words; at the end there may be more."""
    undo: Undo

    @property
    def header(self) -> Header | None:
        """Of the last checkpoint, without what was removed; None: there is none."""
        return self.state.header

    def closed(self, close: Callable[[], object]) -> None:
        """This is to be called at the end, or where building fails."""
        self.undo.append(close)

    def close(self, *, well: bool) -> None:
        """At the end of a run, on the main thread, when all threads are gone. ``well``: nothing of it failed.

        Raises StorageError if the next run has to read all files, as they could not be sealed.
        """
        self.sealing.well = well
        close_all(self.undo)
        if self.sealing.failure is not None:
            raise self.sealing.failure


def ground_of(settings: Config, opened: OpenDirectory, clock: Clock, undo: Undo) -> Ground:
    """Raises ConfigError, StorageError."""
    directory = opened.path
    state, notes = with_retention(settings, directory, opened.state, clock)
    header, gone = without_removed(state.header, directory)
    logs = LogBook(directory / LOGS, opened.marker.others, settings.monitor.log_size)
    undo.append(logs.close)
    for log, left in logs.go_back(header.logs if header else {}, header.log_turns if header else {}).items():
        gone.append(f"{log} {'was cut: it goes on from what is left' if left else 'was removed: it begins anew'}")
    records = _records(settings, logs, clock)
    suspects = Suspects(directory / QUEUES, len(records), header.cycle if header else 0)
    undo.append(suspects.close)
    return Ground(
        settings=settings,
        directory=directory,
        lock=opened.lock,
        sealing=opened.sealing,
        state=msgspec.structs.replace(state, header=header),
        logs=logs,
        records=records,
        suspects=suspects,
        shared=_shared(settings, header, suspects, clock),
        normalizer=normalizer_of(settings, directory, [*settings.crawl.start, *(header.start_urls if header else ())]),
        notes=[*gone, *notes],
        undo=undo,
    )


def steering_of(ground: Ground, hands: Callable[[], Hands]) -> Steering:
    """``hands``: see `Steering`. Raises StorageError."""
    state = state_of(ground.header.parts if ground.header else {})
    journal = Journal(ground.directory / QUEUES / JOURNAL, state.position)
    ground.closed(journal.close)
    return Steering(journal, state, Limits(ground.settings), ground.shared, hands)


def _shared(settings: Config, header: Header | None, suspects: Suspects, clock: Clock) -> Shared:
    counters = Counters()
    counters.load(header.counters if header else {})
    bell: Bell[str | LarmError] = Bell()
    ticker = Ticker(settings.monitor.tick)
    tally = Tally(lambda: ticker.hurry() if suspects.holds else bell.ring(FINISHED))
    addresses = SharedAddresses(clock, settings.frontier, counters.add)
    return Shared(clock, counters, Gate(), tally, bell, ticker, ThreadCpu(), addresses)


def _records(settings: Config, logs: LogBook, clock: Clock) -> list[FetcherRecord]:
    names = [f"larm-fetch-{number}" for number in range(settings.fetch.threads)]
    names += [f"larm-document-{number}" for number in range(document_threads(settings.processing))]
    names += [f"larm-page-{number}" for number in range(readers_of(settings.processing))]
    return [FetcherRecord(logs, number, clock, name) for number, name in enumerate(names)]
