"""What ``storage.log.keep`` takes out of the logs before a run begins. Called by `larm.building.ground` on the main thread."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from larm.config import Config, Keep
from larm.crawldir.state import LOGS, PAGES, QUEUES, State
from larm.kit.disk.files import is_there
from larm.seams import Clock
from larm.store.log import LogStorage, sums_of_logs
from larm.store.pages.page_rows import page_rows


def with_retention(settings: Config, directory: Path, state: State, clock: Clock) -> tuple[State, list[str]]:
    """The state of a crawl that goes on, without what is not to be kept, and what a person should know of that.

    Raises StorageError.
    """
    log = settings.storage.log
    position = state.header.storages.get(LogStorage.name) if state.header else None
    if state.header is None or not position or log.keep == Keep():
        return state, []
    from larm.store.retention import DAY, retain  # for who wants it

    book = directory / QUEUES / PAGES
    gone = {hash(row.normalised) for _, row in page_rows(book) if not row.stored} if is_there(book) else set()
    header = state.header

    def save(noted: Mapping[str, Any]) -> None:
        nonlocal header
        header = msgspec.structs.replace(header, storages=header.storages | {LogStorage.name: dict(noted)})
        state.file.amend(header, state.fresh, {}, sums_of_logs(directory / LOGS, noted), f"{LOGS}/")

    found = retain(directory / LOGS, position, log, gone, int(clock.wall() // DAY), save=save)
    state = msgspec.structs.replace(state, header=header)
    if found is None:
        return state, []
    notes = []
    if found.versions:
        versions = "1 old version of a page was" if found.versions == 1 else f"{found.versions:,} old versions of pages were"
        notes.append(f"{versions} taken out of the logs, {found.size:,} bytes (storage.log.keep)")
    if found.over:
        notes.append(
            f"the pages as they are now take {found.over:,} bytes more than storage.log.keep.size; they are kept all the same"
        )
    return state, notes
