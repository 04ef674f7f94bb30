"""Mending: the tables in a crawl's directory, made anew of the rows that are whole, for ``larm repair``. Main thread.

The directory is locked. Each step may be ended, and done again: what it takes a table's place with is made beside it first.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.crawldir.state import JOURNAL, PAGES, QUEUES, RECENT, VISITED
from larm.engine.steering import state_of
from larm.errors import StorageError
from larm.frontier.checkpoint import CheckpointFile, Header, read_header
from larm.frontier.host_records import ROW, SavedHost, band_name, decode_host, encode_host
from larm.frontier.queue_row import EMPTY, QueueRow
from larm.frontier.traps.saved import queues_of, without_queues
from larm.kit.disk.block_store import DATABASE, BlockStore, mend_blocks
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.disk.database import replace_database
from larm.kit.disk.journal import mend_journal
from larm.kit.disk.letter_box import letters_left
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.disk.table import mend_table
from larm.model.message import URLMessage, pack_messages, unpack_message, unpack_messages
from larm.store.archive.names import PAYLOADS
from larm.store.pages.page_rows import page_rows

_BATCH = 10_000


class Memory(NamedTuple):
    """What is left of it."""

    header: Header
    hosts: int
    """Records of hosts that were lost."""
    orders: int
    """Orders that were lost, and nobody had carried out."""
    incomplete: bool
    """Addresses may be missing that were found, and not fetched yet."""


def mend_memory(directory: Path, parts: AbstractSet[str]) -> Memory:
    """Mend queues, page book, visited set, payloads and journal, as far as they are among the ``parts``.

    Raises StorageError where there is no header any more, neither in the queues nor beside the visited set.
    """
    queues = directory / QUEUES
    if "frontier" in parts:
        mend_blocks(queues)
    with closing(BlockStore(queues)) as store:
        file = CheckpointFile(store)
        header, fresh = file.read() or (None, b"")
        copied = _copied_header(queues / VISITED)
        if copied is not None and (header is None or header.epoch < copied.epoch):  # the end of the database's log is damaged
            header, fresh, parts = copied, b"", {*parts, "frontier"}
        if header is None:
            raise StorageError(
                f"{queues}: the state of the crawl is lost in both files that had it, {DATABASE} and {VISITED}:"
                " put one of them back from a backup; or crawl into another directory (--dir), which leaves the pages here"
            )
        before = header.hosts
        lost = 0
        if "frontier" in parts:
            header, rows, lost = without_lost(store, header)
            file.amend(header, fresh, rows)
        storages = header.storages
        if "pages" in parts:
            mend_table(queues / PAGES, storages["pages"]["generation"])
        if "payloads" in parts and "warc" in storages:
            mend_table(queues / PAYLOADS, storages["warc"]["payloads"])
        if not parts.isdisjoint({"frontier", "visited", "pages"}):
            _see_again(queues, store, header)
        orders = mend_journal(queues / JOURNAL, state_of(header.parts).position) if "journal" in parts else 0
    hosts = before - header.hosts
    return Memory(header, hosts, orders, "pages" in parts or bool(hosts or lost))


def _copied_header(visited: Path) -> Header | None:
    """The header of the last checkpoint, as it lies beside the visited set; None where it does not."""
    with suppress(StorageError), closing(DiskSeenSet(visited, RECENT, read_only=True)) as seen:
        if note := seen.note:
            return read_header(note, visited)
    return None


def without_lost(store: BlockStore, header: Header) -> tuple[Header, dict[str, bytes], int]:
    """The header, and the rows of hosts that change, without references to lost blocks; how many messages these had.

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


def waiting(queues: Path, store: BlockStore, header: Header) -> Iterator[URLMessage]:
    """All messages that wait at the checkpoint. Raises StorageError."""

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
    yield from (unpack_message(letter.data) for letter in letters_left(queues / DATABASE))


def _see_again(queues: Path, store: BlockStore, header: Header) -> None:
    """Make the visited set anew: of the pages that were asked for, and of the addresses that wait."""
    new = queues / f".{VISITED}.new"
    new.unlink(missing_ok=True)
    with closing(DiskSeenSet(new, RECENT)) as seen:
        batch: list[int] = []
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
    yield batch + [message.url.fingerprint for message in waiting(queues, store, header)]
