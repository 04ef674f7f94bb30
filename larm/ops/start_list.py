"""The start URLs of a directory's crawl: what they are, and taking one back, for ``larm starts``. Main thread.

What was fetched from it stays. What waits at hosts that no start URL reaches any more is blocked, as by ``larm ctl block``.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from larm.building.scoping import regions_of
from larm.crawldir.state import QUEUES, known_header
from larm.errors import StorageError, UsageError
from larm.filters.scope import StartScope
from larm.frontier.checkpoint import CheckpointFile
from larm.frontier.host_records import ROW, decode_host
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.lock import DirectoryLock


class Removed(msgspec.Struct, frozen=True):
    """What came of it."""

    left: Sequence[str]
    """Start URLs that are left."""
    blocked: Sequence[str]
    """Hosts that are not asked any more."""


def start_urls(directory: Path) -> list[tuple[str, str]]:
    """Each with the region that belongs to it; empty where an expression is the scope. Raises UsageError, StorageError."""
    header = known_header(directory)
    regions = {region.address: str(region) for region in regions_of(header)}
    return [(url, "" if header.restrict_to else regions.get(url, "")) for url in header.start_urls]


def take_back(directory: Path, urls: Sequence[str]) -> Removed:
    """Raises UsageError where one is none of its start URLs, or a crawl is running; StorageError."""
    known = [url for url, _ in start_urls(directory)]
    for url in urls:
        if url not in known:
            raise UsageError(f"{url} is no start URL of {directory}; 'larm starts' lists them")
    if set(urls) == set(known):
        raise UsageError("no start URL would be left; 'larm crawl --fresh' starts over")
    lock = DirectoryLock(directory)
    store = None
    try:
        store = BlockStore(directory / QUEUES)
        file = CheckpointFile(store)
        found = file.read()
        if found is None:
            raise StorageError(f"{directory}: the checkpoint is gone")
        header, fresh = found
        gone = [region for region in regions_of(header) if region.start in urls or region.address in urls]
        kept = [region for region in regions_of(header) if region not in gone]
        hosts = {region.host for region in gone} - {region.host for region in kept}
        left = [url for url in header.start_urls if url not in urls]
        rows = {}
        for host in sorted(hosts):
            data = store.get(ROW + host)
            if data is not None:
                saved = decode_host(data)
                row = msgspec.structs.replace(saved.row, blocked=True)
                rows[ROW + host] = msgspec.msgpack.encode(msgspec.structs.replace(saved, row=row))
        header = msgspec.structs.replace(
            header,
            start_urls=left,
            scope_hosts=[host for host in header.scope_hosts if host not in hosts],
            parts=header.parts | {StartScope.name: {"regions": kept}},
        )
        file.amend(header, fresh, rows)
        return Removed(left, [key.removeprefix(ROW) for key in rows])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"{directory}: the record of a host is damaged ({error})") from error
    finally:
        if store is not None:
            store.close()
        lock.close()
