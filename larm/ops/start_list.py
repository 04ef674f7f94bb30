"""The start URLs of a directory's crawl: what they are, and taking one back, for ``larm starts``. Main thread.

What was fetched from it stays. What waits at hosts that no start URL reaches any more is blocked, as by ``larm ctl block``.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from larm.building.scoping import regions_of
from larm.crawldir.state import closing_all, known_header, open_state
from larm.errors import StorageError, UsageError
from larm.filters.scope import StartScope
from larm.frontier.host_records import ROW, decode_host
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
    with closing_all() as undo:
        undo.append(DirectoryLock(directory).close)
        state = open_state(directory, undo)
        if (header := state.header) is None:
            raise StorageError(f"{directory}: the checkpoint is gone")
        gone = [region for region in regions_of(header) if region.start in urls or region.address in urls]
        kept = [region for region in regions_of(header) if region not in gone]
        hosts = {region.host for region in gone} - {region.host for region in kept}
        left = [url for url in header.start_urls if url not in urls]
        rows = {ROW + host: _blocked(directory, data) for host in sorted(hosts) if (data := state.store.get(ROW + host))}
        header = msgspec.structs.replace(
            header,
            start_urls=left,
            scope_hosts=[host for host in header.scope_hosts if host not in hosts],
            parts=header.parts | {StartScope.name: {"regions": kept}},
        )
        state.file.amend(header, state.fresh, rows)
        return Removed(left, [key.removeprefix(ROW) for key in rows])


def _blocked(directory: Path, data: bytes) -> bytes:
    """The record of a host, which is not asked any more. Raises StorageError."""
    try:
        saved = decode_host(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"{directory}: the record of a host is damaged ({error})") from error
    saved.row.state.blocked = True
    return msgspec.msgpack.encode(saved)
