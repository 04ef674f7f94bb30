"""Probe: one look at all parts of a running crawl, for the monitor (LARM-78). Reads, changes nothing; any thread."""

import time
from collections.abc import Callable, Mapping, Sequence

from larm.config import Config
from larm.engine.checkpointer import Checkpointer
from larm.engine.fetcher_record import FetcherRecord
from larm.engine.figures.snapshot import ClusterFigures, Snapshot, Stalled, StorageFigures
from larm.engine.parts import Frontier, Shared
from larm.fetch.look_ups import LookUps
from larm.kit.processes.children import helpers_seconds
from larm.store.lines import StorageLines
from larm.store.pipeline import QUEUE

_BYTES_A_FINGERPRINT = 15  # measured on the disk

AGAIN = "revisit/stored_again"
"""Counts documents that took the place of an earlier one of the same page."""


def pages_of(totals: Mapping[str, int]) -> int:
    """Pages that a crawl has, by its counters of all runs."""
    return max(totals.get("item_scraped_count", 0) - totals.get(AGAIN, 0) - totals.get("revisit/gone", 0), 0)


class Probe:
    """Callable; returns a `Snapshot`."""

    def __init__(
        self,
        *,
        settings: Config,
        shared: Shared,
        frontier: Frontier,
        records: Sequence[FetcherRecord],
        lines: StorageLines,
        checkpointer: Checkpointer,
        paused: Callable[[], bool],
        stalled: Callable[[], tuple[Stalled, ...]],
        cluster: Callable[[], ClusterFigures | None] = lambda: None,
        names: LookUps | None = None,
    ) -> None:
        # constant after construction
        self._transfers = settings.fetch.threads * settings.fetch.transfers
        self._storage_limit = QUEUE
        self._clock, self._counters, self._tally, self._cpu = shared.clock, shared.counters, shared.tally, shared.cpu
        self._handler, self._turns, self._traps = frontier.handler, frontier.turns, frontier.traps
        self._seen = frontier.seen
        self._records = records
        self._lines = lines
        self._checkpointer = checkpointer
        self._paused = paused
        self._stalled = stalled
        self._cluster = cluster
        self._names = names
        self._began = shared.clock.monotonic()
        self._before = shared.counters.snapshot()

    def __call__(self) -> Snapshot:
        """The figures of this moment."""
        counters = self._counters.snapshot()
        hosts = self._turns.figures()
        incoming = len(self._handler.incoming)
        waiting = max(self._tally.value + hosts.uncounted - incoming - hosts.in_flight, 0)
        return Snapshot(
            elapsed=self._clock.monotonic() - self._began,
            idle=self._tally.value == 0,
            paused=self._paused(),
            pages=pages_of(counters),
            pages_run=self._since("item_scraped_count", counters),
            requests=self._since("downloader/request_count", counters),
            received=self._since("downloader/response_bytes", counters),
            incoming=incoming,
            handler_busy=self._handler.busy,
            held_up=not self._handler.keeps_up(),
            filtered={
                name.removesuffix("/filtered"): self._since(name, counters) for name in counters if name.endswith("/filtered")
            },
            visited=len(self._seen),
            visited_bytes=len(self._seen) * _BYTES_A_FINGERPRINT,
            waiting=waiting,
            in_flight=hosts.in_flight,
            transfers=self._transfers,
            look_ups=self._names.under_way if self._names else 0,
            look_ups_waiting=self._names.waiting if self._names else 0,
            hosts_known=hosts.hosts,
            hosts_queued=hosts.ready + hosts.waiting,
            hosts_ready=hosts.ready,
            hosts_waiting=max(hosts.waiting - hosts.blocked - hosts.given_up, 0),
            hosts_in_line=hosts.in_line,
            hosts_blocked=hosts.blocked,
            hosts_given_up=hosts.given_up,
            hosts_shut=hosts.shut,
            next_in=hosts.next_in,
            hosts_slowed=hosts.slowed,
            held_back=self._traps.held_back,
            left=tuple(self._traps.left()),
            growing=tuple(self._traps.growing),
            errors=sum(self._since(name, counters) for name in counters if _is_error(name)),
            storages=tuple(StorageFigures(line.name, line.queued_bytes, self._storage_limit) for line in self._lines),
            threads=tuple(record.figures() for record in self._records),
            stalled=self._stalled(),
            cpu=self._stages(),
            checkpoint_seconds=self._checkpointer.last.seconds,
            checkpoint_bytes=self._checkpointer.last.size,
            counters={name: self._since(name, counters) for name in counters if self._since(name, counters)},
            totals=counters,
            cluster=self._cluster(),
        )

    def _stages(self) -> dict[str, float]:
        """Processor time by stage."""
        threads = self._cpu.seconds()
        processing = sum(record.processing for record in self._records)
        river = sum(threads.get(record.name, 0.0) for record in self._records)  # all that fetch, read, or have others read
        stages = {
            "fetching": max(river - processing, 0.0),
            "processing": processing,
            "filters and frontier": threads.get("larm-handler", 0.0),
            **{f"storage {line.name}": threads.get(line.thread, 0.0) for line in self._lines},
            "checkpoints and figures": threads.get("larm-tick", 0.0),
            "start, display and end": threads.get("main", 0.0),
        }
        stages["other"] = max(time.process_time() - sum(stages.values()), 0.0)
        stages["processing, in other processes"] = helpers_seconds()
        return {name: round(seconds, 4) for name, seconds in stages.items()}

    def _since(self, name: str, counters: dict[str, int]) -> int:
        return counters.get(name, 0) - self._before.get(name, 0)


def _is_error(name: str) -> bool:
    return name.startswith(
        ("downloader/exception_type_count/", "downloader/response_status_count/4", "downloader/response_status_count/5")
    )
