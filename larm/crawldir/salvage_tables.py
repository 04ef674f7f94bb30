"""salvage_memory: rebuilds the tables of a crawl's directory from their readable rows.

Called by `larm.ops.repair` on the main thread, in a locked directory. Each step can be killed and repeated: a table is rebuilt
beside the damaged one and then replaces it.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.crawldir.state import JOURNAL, PAGES, QUEUES, RECENT, REPAIR_PART, VISITED
from larm.engine.steering import state_of
from larm.errors import StorageError
from larm.frontier.checkpoint import CheckpointFile, Header, read_header
from larm.frontier.host_records import ROW, SavedHost, band_name, decode_host, encode_host
from larm.frontier.queue_row import EMPTY, QueueRow
from larm.frontier.traps.saved import queues_of, without_queues
from larm.kit.disk.block_store import DATABASE, BlockStore, salvage_blocks
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.disk.database import replace_database
from larm.kit.disk.journal import salvage_journal
from larm.kit.disk.letter_box import Done, readable_letters, write
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.disk.table import salvage_table
from larm.model.message import URLMessage, pack_messages, unpack_message, unpack_messages
from larm.store.archive.names import PAYLOADS
from larm.store.pages.page_rows import page_rows

_BATCH = 10_000


class Salvaged(NamedTuple):
    """The result of `salvage_memory`."""

    header: Header
    hosts: int
    """Number of host records that were lost."""
    orders: int
    """Number of orders that were lost before they took effect, at least."""
    incomplete: bool
    """True if URLs may be lost that were found and not fetched yet."""


def salvage_memory(directory: Path, parts: AbstractSet[str]) -> Salvaged:
    """Rebuild the tables among ``parts``: queues, page book, visited set, payloads and journal.

    Raises StorageError if the header is lost, both in the queues and beside the visited set.
    """
    queues = directory / QUEUES
    if "frontier" in parts:
        salvage_blocks(queues)
    with closing(BlockStore(queues)) as store:
        file = CheckpointFile(store)
        header, fresh = file.read() or (None, b"")
        copied = _copied_header(queues / VISITED)
        stale = copied is not None and (header is None or header.epoch < copied.epoch)
        if stale:  # SQLite drops the end of a damaged log silently
            header, fresh, parts = copied, b"", {*parts, "frontier"}
        if header is None:
            raise StorageError(
                f"{queues}: the state of the crawl is lost in both files that had it, {DATABASE} and {VISITED}:"
                " put one of them back from a backup; or crawl into another directory (--dir), which leaves the pages here"
            )
        before, rows = header.hosts, dict[str, bytes]()
        if "frontier" in parts:
            header, rows, _ = without_lost(store, header)
        if stale:
            rows = _empty_queues(queues, store)
        header = msgspec.structs.replace(header, parts=header.parts | {REPAIR_PART: sorted(parts)})
        file.amend(header, fresh, rows)  # first: rows that are dropped below are missed by no later check
        storages = header.storages
        if "pages" in parts:
            salvage_table(queues / PAGES, storages["pages"]["generation"])
        if "payloads" in parts and "warc" in storages:
            salvage_table(queues / PAYLOADS, storages["warc"]["payloads"])
        if not parts.isdisjoint({"frontier", "visited", "pages"}):
            _rebuild_visited(queues, store, header)
        orders = salvage_journal(queues / JOURNAL, state_of(header.parts).position) if "journal" in parts else 0
    return Salvaged(header, before - header.hosts, orders, not parts.isdisjoint({"frontier", "pages"}))


def _copied_header(visited: Path) -> Header | None:
    """Return the copy of the last header beside the visited set; None if there is none."""
    with suppress(StorageError), closing(DiskSeenSet(visited, RECENT, read_only=True)) as seen:
        if note := seen.note:
            return read_header(note, visited)
    return None


def without_lost(store: BlockStore, header: Header) -> tuple[Header, dict[str, bytes], int]:
    """Return the header and the changed host rows without references to lost blocks, and the number of lost messages.

    Raises StorageError; msgspec.DecodeError, ValidationError or UnicodeDecodeError on damage.
    """
    there = set(store.keys(having=".cqb"))
    lost = 0

    def cut(row: QueueRow, name: str) -> QueueRow:
        nonlocal lost
        row, missing = row.without_lost(lambda number: f"{name}_{number}.cqb" in there)
        lost += missing
        return row

    incoming = cut(header.incoming, "incoming")
    rows: dict[str, bytes] = {}
    hosts = store.keys(ROW)
    for key in hosts:
        saved = decode_host(store.get(key) or b"")
        bands = {band: cut(row, band_name(saved.key, band)) for band, row in saved.bands.items()}
        traps = saved.row.traps
        held = {number: cut(row, f"trap{number}-{saved.key}") for number, row in queues_of(traps).items()}
        if held != queues_of(traps):
            traps, lost = without_queues(traps), lost + sum(map(len, held.values()))
        new = SavedHost(
            saved.key,
            msgspec.structs.replace(saved.row, traps=traps),
            cut(saved.queue, band_name(saved.key, 0)),
            cut(saved.parked, f"robots-{saved.key}"),
            bands,
        )
        if new != saved:
            rows[key] = encode_host(new)
    return msgspec.structs.replace(header, incoming=incoming, hosts=len(hosts)), rows, lost


def _empty_queues(queues: Path, store: BlockStore) -> dict[str, bytes]:
    """Return all host rows without queued messages, and consume all letters: their pages may have been fetched since.

    Raises StorageError.
    """
    last: dict[int, Done] = {}
    for box, number, _ in readable_letters(queues / DATABASE):
        done = last.get(box, Done(box, 0, 0))
        last[box] = Done(box, max(done.last, number), done.rows + 1)
    store.transaction({}, (), lambda database: write(database, [], list(last.values())))
    rows: dict[str, bytes] = {}
    for key in store.keys(ROW):
        saved = decode_host(store.get(key) or b"")
        row = msgspec.structs.replace(saved.row, traps=without_queues(saved.row.traps), delayed=[], running=[])
        rows[key] = encode_host(SavedHost(saved.key, row, EMPTY, EMPTY))
    return rows


def _waiting(queues: Path, store: BlockStore, header: Header) -> Iterator[URLMessage]:
    """Yield all queued messages of the checkpoint. Raises StorageError."""

    def of(row: QueueRow, name: str) -> Iterator[URLMessage]:
        if row != EMPTY:
            yield from CachingQueue.restore(row.state(), name, 1, store, pack_messages, unpack_messages)

    yield from of(header.incoming, "incoming")
    for key in store.keys(ROW):
        saved = decode_host(store.get(key) or b"")
        yield from of(saved.parked, f"robots-{saved.key}")
        for band, row in ({0: saved.queue} | saved.bands).items():
            yield from of(row, band_name(saved.key, band))
        for number, row in queues_of(saved.row.traps).items():
            yield from of(row, f"trap{number}-{saved.key}")
        yield from (message for _, message in saved.row.delayed)
        yield from (message for message, robots in saved.row.running if not robots)
    yield from (unpack_message(letter.data) for letter in readable_letters(queues / DATABASE))


def _rebuild_visited(queues: Path, store: BlockStore, header: Header) -> None:
    """Rebuild the visited set from the page book and the queues."""
    new = queues / f".{VISITED}.new"
    new.unlink(missing_ok=True)
    with closing(DiskSeenSet(new, RECENT)) as seen:
        for batch in _batches(queues, store, header):
            seen.add_new(batch)
            seen.apply(seen.cut())
        seen.apply(seen.cut(), header.epoch, msgspec.msgpack.encode(header))
    replace_database(queues / VISITED, new)


def _batches(queues: Path, store: BlockStore, header: Header) -> Iterator[list[int]]:
    batch: list[int] = []
    for key, _ in page_rows(queues / PAGES, left=True):
        batch.append(key)
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    yield batch + [message.url.fingerprint for message in _waiting(queues, store, header)]
