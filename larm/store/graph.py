"""GraphStorage: links go into the link graph in ``graph/``, by way of `larm.graph` (YIOOP-21, LARM-115).

The journal of links is what a checkpoint notes: its length. The snapshot that readers see is made of it now and then, in
commits and for a moment only, and at the end, when the texts of links are indexed as well. This may take long, and it may be
ended at any moment: the next run completes it. Made by wiring; everything else happens on its writer thread.
"""

import math
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from larm.errors import REPAIR, StorageError
from larm.graph.block import BlockBuilder, check_journal
from larm.graph.files import JOURNAL, SNAPSHOT
from larm.graph.reader import GraphReader, open_graph
from larm.graph.small import SHORT, write_small
from larm.graph.snapshot import Snapshot
from larm.index.anchors import ANCHORS, disown, made_of, mark_of, renew_anchors, write_anchors
from larm.kit.disk.append_file import AppendFile
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.seal import NO_SEAL, Seal
from larm.kit.threads.progress import Progress
from larm.model.document import Visit
from larm.seams import Clock

_BLOCK = 300_000
"""Bytes of a block: some 300 pages."""
_GROWN = 1.5
"""A new snapshot is begun when the journal has grown by so much: all of them together then cost three times the last."""
_PAUSE = 5.0
"""Seconds from one snapshot to the next, and before the first: a small crawl makes do with the last."""
_MOMENT = 0.2
"""Seconds of a commit that go into the snapshot: a twenty-fifth of the time between two checkpoints."""

_MOST_TEXTS = 10_000
"""Different texts of links to one page that can be searched."""


class GraphStorage:
    """Writes ``directory/graph``. Implements `larm.seams.Storage`."""

    name = "graph"

    def __init__(self, directory: Path, clock: Clock, seal: Seal = NO_SEAL) -> None:
        """``seal``: files that need not be looked at."""
        # constant after construction
        self._directory = directory / "graph"
        self._clock = clock
        self._seal = seal
        self.progress = Progress()
        # only the writer thread
        self._builder = BlockBuilder()
        self._journal: AppendFile | None = None  # None before open
        self._whole = True  # nothing was stored since the last commit
        self._noted = 0  # length of the journal at the last commit
        self._seen = 0  # length of the journal of which the last snapshot is
        self._begun = 0.0
        self._before: GraphReader | None = None  # as the last run left it
        self._running: tuple[Generator[None, None, None], int] | None = None

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Cut the journal back to ``position``, or begin a new graph (None). Raises StorageError."""
        length = 0 if position is None else position.get("journal")
        if not isinstance(length, int) or length < 0:
            raise StorageError(f"the checkpoint's position of the graph storage is damaged ({position}); {REPAIR}")
        with disk_failures(self._directory):
            self._directory.mkdir(parents=True, exist_ok=True)
            for path in self._directory.glob(f".{SNAPSHOT}.*"):  # of a process that was killed
                path.unlink()
        if not self._seal.holds(self._directory / JOURNAL):
            check_journal(self._directory / JOURNAL, length)
        self._journal = AppendFile(self._directory / JOURNAL, length)
        self._noted, self._begun = length, self._clock.monotonic()
        self._seen = self._last_snapshot(length)
        self._before = open_graph(self._directory)

    def store(self, visits: Sequence[Visit]) -> None:
        """Note the links of pages, redirects, and pages that are gone."""
        self._whole = False
        builder = self._builder
        for visit in visits:
            builder.add(visit)
            if builder.size > _BLOCK:
                self._open_journal().append(builder.encode())

    def commit(self) -> Mapping[str, Any]:
        """Make the journal durable; work a little on the next snapshot."""
        journal = self._open_journal()
        journal.append(self._builder.encode())
        journal.sync()
        self._noted, self._whole = journal.length, True
        now = self._clock.monotonic()
        if self._running is None and self._noted > _GROWN * self._seen and now >= self._begun + _PAUSE:
            self._begun = now
            self._begin()
        self._work(_MOMENT)
        return {"journal": self._noted}

    def close(self) -> None:
        """After the last commit: a snapshot of all there is."""
        journal, self._journal = self._journal, None
        if journal is None:
            return
        journal.close()
        if self._running is not None and not (self._whole and self._running[1] == self._noted):
            self._running[0].close()
            self._running = None
        if not self._whole:
            return
        if self._noted > self._seen:
            if self._running is None:
                self._begin()
            self._work()
        self._write_anchors()
        self.progress.end()

    def _write_anchors(self) -> None:
        """What pages are called by others, for searches: 100 us for each page that is new, so only at the end.

        Not only where there is a new snapshot: a commit may have finished the last one, or the process died after it.
        """
        graph, path = open_graph(self._directory), self._directory.with_name(ANCHORS)
        before, self._before = self._before, None
        if graph is None or graph.generation == (made := made_of(path, self._seal)):
            return
        if before is not None and before.generation == made:
            changes = graph.changed_texts(before, _MOST_TEXTS)
            if renew_anchors(path, changes, graph.generation, self.progress):
                return
        write_anchors(
            path,
            lambda after: graph.all_texts(_MOST_TEXTS, after),
            generation=graph.generation,
            progress=self.progress,
            total=graph.pages,
        )

    def _last_snapshot(self, length: int) -> int:
        """Of how much of the journal the last snapshot is. One that has seen more goes, as does a damaged one."""
        path = self._directory / SNAPSHOT
        try:
            snapshot = Snapshot(path)
            seen = snapshot.figures["journal"]
            if seen <= length:
                if not self._seal.holds(path):
                    snapshot.check()  # readers say that the next run mends it, and that may be one in which nothing comes
                return seen
        except (FileNotFoundError, StorageError, KeyError):
            pass
        disown(self._directory.with_name(ANCHORS))  # what comes instead may be as long, and have other texts
        with disk_failures(path):
            path.unlink(missing_ok=True)
        return 0

    def _begin(self) -> None:
        if self._noted <= SHORT:
            write_small(self._directory / JOURNAL, self._noted, self._directory / SNAPSHOT)
            self._seen = self._noted
            return
        from larm.graph.refresh import Refresh  # numpy takes 40 ms

        refresh = Refresh(self._directory / JOURNAL, self._noted, self._directory / SNAPSHOT, self.progress)
        self._running = refresh.steps(), self._noted

    def _work(self, seconds: float | None = None) -> None:
        """Go on with the snapshot that is in the making, for so long, or to its end."""
        if self._running is None:
            return
        steps, length = self._running
        end = math.inf if seconds is None else self._clock.monotonic() + seconds
        for _ in steps:
            if self._clock.monotonic() >= end:
                return
        self._running, self._seen = None, length

    def _open_journal(self) -> AppendFile:
        if self._journal is None:
            raise StorageError(f"{self._directory}: the graph storage was not opened")
        return self._journal


def is_complete(directory: Path, position: Mapping[str, Any] | None) -> bool:
    """Whether the end of the last run was worked off: graph and texts of links are of all that the checkpoint knows.

    ``position``: what it noted; None: the storage was in no run. Quick: what is damaged may be found when it is opened only.
    """
    noted = position.get("journal") if position else 0
    if not noted:
        return True
    try:
        graph = open_graph(directory / "graph")
    except StorageError:
        return False
    return graph is not None and graph.generation == noted == mark_of(directory / ANCHORS)
