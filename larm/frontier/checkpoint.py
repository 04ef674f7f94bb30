"""Checkpoint: the crawl's state on the disk, one consistent cut written in one transaction (LARM-116).

`Header` is one row, each changed host another, the new fingerprints of the visited set a third (they go into the set's own
file afterwards; if the process dies in between, they are applied again at the next start). Blocks of queues are rows of the
same store: those that no queue refers to after a crash are dropped at the start.

Called by the tick thread, and at start and end by the main thread; never two at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from larm.errors import REPAIR, StorageError
from larm.frontier.host_records import ROW, HostCut
from larm.frontier.mail import NO_MAIL, MailCut
from larm.frontier.queue_row import QueueRow
from larm.frontier.resumption import Standing, decode_standing
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.range_sums import PREFIX

_HEADER, _FRESH, _STANDING = "crawl", "seen-delta", "standing"


class Following(msgspec.Struct, frozen=True, array_like=True):
    """Which links of the pages so far went on (`larm.building.following`)."""

    by: str
    """A digest of scope, filters and kinds of links."""
    length: int
    """Characters of a URL, at most."""
    depth: int
    """Links from a start URL, at most."""


class Header(msgspec.Struct, frozen=True):
    """All of the state but the hosts and the visited set."""

    incoming: QueueRow
    counters: dict[str, int]
    logs: dict[str, int]
    """Length of each log file that is not a storage's."""
    storages: dict[str, dict[str, Any]]
    """What each storage's `commit` said; of one that was left out of this run, what it said last."""
    scope_hosts: list[str]
    """Hosts of the start URLs, where they are the scope."""
    restrict_to: str
    start_urls: list[str]
    following: Following
    epoch: int = 0
    """Of the store: blocks that were written in it or later are not part of this checkpoint."""
    hosts: int = 0
    """Rows of hosts that there are."""
    cycle: int = 0
    """0: the first crawl; n: the nth revisit."""
    finished: bool = False
    clock_moved: float = 0.0
    """Seconds by which the wall clock differs from the times in the host rows, because it was set during a run."""
    missed: list[str] = []
    """Storages that have not been given all pages, as they were left out of a run or came later; a revisit mends that."""
    met: dict[str, list[str]] = {}
    """Start hosts, by name, with the private addresses where they were met first; none of these: on the web."""
    log_turns: dict[str, int] = {}
    """How often a log has begun anew, where it has."""
    parts: dict[str, Any] = {}
    """What all others said that have state, by their names (`larm.seams.Stateful`)."""

    @property
    def answered(self) -> bool:
        """There was an answer to a request of any run, or a page from elsewhere."""
        counted = ("downloader/response_status_count/", "robotstxt/response_status_count/", "item_scraped_count")
        return self.cycle > 0 or any(count > 0 and name.startswith(counted) for name, count in self.counters.items())


def read_header(data: bytes, path: object) -> Header:
    """Raise StorageError where it is damaged."""
    try:
        header = msgspec.msgpack.decode(data, type=Header)
        header.incoming.state()  # so that damage is found here
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: the crawl's state is damaged ({error}); {REPAIR}") from error
    return header


class CheckpointFile:
    """Reads and writes the state in the block store."""

    def __init__(self, store: BlockStore, keep: Callable[[bytes], object] = lambda _: None) -> None:
        """``keep`` is given the header by `amend`: there is a copy of it elsewhere, for `larm.ops.repair`."""
        # constant after construction
        self.store = store
        self._keep = keep
        # only the saving thread
        self.written = b""
        """The header of the last `write`."""

    def write(  # noqa: PLR0917  the parts of one checkpoint
        self,
        header: Header,
        hosts: Iterable[HostCut],
        fresh: bytes,
        retired: Iterable[str],
        mail: MailCut = NO_MAIL,
        standing: Standing | None = None,
        storage_rows: Mapping[str, bytes] = {},
    ) -> int:
        """Replace the last checkpoint and delete the blocks that only it needed; returns its size in bytes.

        ``storage_rows``: what belongs to the positions of the storages.

        Raises StorageError, and the last one stays.
        """
        size = 0
        self.written = msgspec.msgpack.encode(header)

        def rows() -> Iterator[tuple[str, bytes]]:  # one by one: all of them at once may be large
            nonlocal size
            fixed = [(_HEADER, self.written), (_FRESH, fresh)]
            if standing is not None:
                fixed.append((_STANDING, standing.encode(header.epoch)))
            for key, row in chain(fixed, storage_rows.items(), ((ROW + cut.key, cut.encode()) for cut in hosts)):
                size += len(row)
                yield key, row

        self.store.transaction(rows(), chain((_STANDING,), retired), mail.write)
        return size

    def amend(
        self, header: Header, fresh: bytes, rows: Mapping[str, bytes], sums: Mapping[str, bytes] | None = None, folder: str = ""
    ) -> None:
        """The last checkpoint with another header, and other rows of hosts; when no crawl is running. Raises StorageError.

        ``sums``: of all files that have any (`larm.kit.disk.range_sums`), below ``folder`` or in all, in place of those before.
        """
        data = msgspec.msgpack.encode(header)
        old = [] if sums is None else self.store.keys(f"{PREFIX}{folder}")
        puts = {_HEADER: data, _FRESH: fresh} | dict(rows) | dict(sums or {})
        self.store.transaction(puts, [_STANDING, *old] if rows else old)
        self._keep(data)

    def read(self) -> tuple[Header, bytes] | None:
        """Header and fingerprints of the last checkpoint; None if there is none. Raises StorageError for a state that
        this version can't read as a whole."""
        data = self.store.get(_HEADER) if self.store.complete else None
        if data is None:
            return None
        return read_header(data, self.store), self.store.get(_FRESH) or b""

    def standing(self, header: Header) -> Standing | None:
        """Where the hosts stood at the last checkpoint, if that was the last one of a run. Raises StorageError."""
        data = self.store.get(_STANDING)
        found = None if data is None else decode_standing(data, self.store)
        return found if found is not None and found.epoch == header.epoch else None

    def go_back(self, header: Header | None) -> None:
        """Drop the blocks that were written after the last checkpoint."""
        self.store.go_back(header.epoch if header else 0, ".cqb")

    def host_rows(self) -> Sequence[str]:
        """Keys of the rows of all hosts."""
        return self.store.keys(ROW)
