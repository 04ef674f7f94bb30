"""What ``storage.log.keep`` takes out of the log storage, at the start of a run. Called by `larm.building.wiring`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from larm.building.state import LOGS, PAGES, QUEUES, State
from larm.config import Config, Keep
from larm.kit.disk.files import is_there
from larm.recrawl.revisit import page_rows
from larm.seams import Clock
from larm.storage.log import LogStorage


def with_retention(settings: Config, directory: Path, state: State, clock: Clock) -> tuple[State, list[str]]:
    """The state of a crawl that goes on, without what is not to be kept, and what a person should know of that.

    Raises StorageError.
    """
    log = settings.storage.log
    position = state.header.storages.get(LogStorage.name) if state.header else None
    if state.header is None or not position or log.keep == Keep():
        return state, []
    from larm.storage.retention import DAY, retain  # for who wants it

    book = directory / QUEUES / PAGES
    gone = {hash(row.normalised) for _, row in page_rows(book) if not row.stored} if is_there(book) else set()
    found = retain(directory / LOGS, position, log, gone, int(clock.wall() // DAY))
    if found is None:
        return state, []
    header = msgspec.structs.replace(state.header, storages=state.header.storages | {LogStorage.name: dict(found.position)})
    state.file.amend(header, state.fresh, {})
    notes = []
    if found.versions:
        versions = "1 old version of a page was" if found.versions == 1 else f"{found.versions:,} old versions of pages were"
        notes.append(f"{versions} taken out of the logs, {found.size:,} bytes (storage.log.keep)")
    if found.over:
        notes.append(
            f"the pages as they are now take {found.over:,} bytes more than storage.log.keep.size; they are kept all the same"
        )
    return msgspec.structs.replace(state, header=header), notes
