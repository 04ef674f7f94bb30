"""Takes pages out of a crawl for good, for ``larm forget``. Main thread; the crawl must not run.

It may be ended at any moment. What is to be forgotten enters the header of the checkpoint first, as pending; no run begins then
before it is done. Logs, page files, archives and the journal of links are purged where they lie, by what can be done again and
again; their new lengths are noted. All other storages are told that the pages are gone, as at the end of a revisit, and go back
by themselves behind what no checkpoint knows. When that is noted, the page book and the visited set lose these pages, and what
was deleted leaves the files of tables and indexes (`larm.ops.erasing`). At the end the header says that it is done.
"""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from larm.building.bounds import READ_ANEW
from larm.building.named_parts import BUILT_IN_STORAGES, storages
from larm.building.readers import normalizer_of
from larm.building.start_folders import called
from larm.building.start_urls import address
from larm.config import Config
from larm.crawldir.marker import permit
from larm.crawldir.sealing import Sealing
from larm.crawldir.state import (
    ANCHORS,
    GRAPH,
    INDEX,
    LOGS,
    PAGES,
    QUEUES,
    State,
    Undo,
    check_databases,
    check_folders,
    closing_all,
    forgotten_of,
    known_header,
    open_state,
    recover,
)
from larm.errors import UsageError
from larm.filters.spellings import ROW
from larm.frontier.checkpoint import Header
from larm.graph.files import JOURNAL
from larm.graph.purge import purge_graph
from larm.index.schema import index_exists, open_index
from larm.index.swap import put_back
from larm.kit.commands import command
from larm.kit.disk.files import is_there
from larm.kit.disk.lock import DirectoryLock
from larm.kit.disk.range_sums import Sums
from larm.model.document import Visit
from larm.model.file_url import file_url
from larm.model.forgotten import PART, Forgotten, ForgottenPages, ForgottenPart, forgotten
from larm.model.url import BadUrl, Url
from larm.ops.erasing import erase, unseen, without_rows
from larm.seams import Storage
from larm.store.archive.names import FOLDER as WARC
from larm.store.archive.names import PAYLOADS
from larm.store.log import LINKS_LOG, STORE_LOG, sums_of_logs
from larm.store.pages.page_rows import page_rows
from larm.store.purge import moved_days, purge_logs

_BATCH = 1000
PAGES_COUNTED = "item_scraped_count"
"""The counter of the pages that a crawl has."""
_IN_PLACE = ("log", "warc")
"""Storages whose files are purged where they lie, and complete before."""
Unwanted = Callable[[str], bool]
"""Whether a page is forgotten, by its address in any form."""


class Forgot(msgspec.Struct):
    """What was taken out."""

    pages: int = 0
    """That the crawl had."""
    others: int = 0
    """Addresses that it had asked for in vain."""
    size: int = 0
    """Bytes of page files that were overwritten."""
    records: int = 0
    """Of the archive."""
    without: int = 0
    """Pages that are kept, of which the archive had only a reference to the payload of one of these."""
    left: list[Path] = []
    """Indexes that have words of deleted documents still."""
    waits: bool = False
    """The crawl was not finished, so addresses of these may wait in its queue."""


def forgotten_items(directory: Path) -> ForgottenPart:
    """What is forgotten. Raises UsageError where there is no crawl, StorageError."""
    return forgotten_of(known_header(directory))


def undoing(words: Sequence[str]) -> str:
    """The command that undoes what was forgotten by these words."""
    return command("forget", *(part for word in words for part in ("--undo", word)))


def meant(settings: Config, directory: Path, words: Sequence[str]) -> list[Forgotten]:
    """What these words of a command line stand for. Raises UsageError."""
    try:
        words = [called(word if "*" in word else address(word), settings.files.places) for word in words]
        parse = normalizer_of(settings, directory, words).parse
        return [forgotten(word, lambda text: parse(text).normalised, int(time.time())) for word in words]  # noqa: TID251
    except BadUrl as error:
        raise UsageError(f"{error}: expected an address, the name of a host, or a pattern with *") from error


def pages_of(directory: Path, items: Sequence[Forgotten]) -> Forgot:
    """How many pages these are. Raises StorageError."""
    found = Forgot()
    for _, stored in _rows(directory, ForgottenPages(items)):
        found.pages += stored
        found.others += not stored
    return found


def take_out(settings: Config, directory: Path, items: Sequence[Forgotten]) -> Forgot:
    """Forget these, and complete what was begun before. Raises UsageError where a crawl runs, ConfigError, StorageError."""
    if items and forgotten_items(directory).pending:
        take_out(settings, directory, ())
    with closing_all() as undo:
        state, header = _opened(directory, undo)
        part = forgotten_of(header)
        old = {item.said: item for item in part.items}
        every = (*part.items, *(item for item in items if item.said not in old))
        if not part.pending:
            header = _settled(settings, directory, header)
        found = pages_of(directory, every if part.pending else items)
        gone = ForgottenPages(every if part.pending else items)
        unwanted, hint = _recognised(settings, directory, gone)
        if not part.pending:
            header = _without(header, found.pages)
            days = header.storages.get("log", {}).get("days", ())
            part = ForgottenPart(every, pending=True, days=moved_days(directory / LOGS, days, unwanted, hint))
            header = _amended(state, header, part, {})  # files without checksums, while they are purged
        _purge(directory, header, unwanted, hint, found)
        header = _measured(header, directory, part)
        header = _amended(state, header, part, _sums(directory, header))
        header = _amended(state, _told_gone(settings, directory, header, gone), part)
        state, header = unseen(state, header, [url.fingerprint for url, _ in _rows(directory, gone)])
        header = without_rows(header, directory / QUEUES / PAGES, gone, unwanted)
        header = _amended(state, header, part)  # from `erase` on, no table can go back to the generation before
        state.store.transaction({}, state.store.keys(ROW))
        found.left, found.waits = erase(directory), not header.finished
        _amended(state, header, ForgottenPart(every))
        return found


def let_back(settings: Config, directory: Path, words: Sequence[str]) -> None:
    """These may be fetched again. Raises UsageError, StorageError."""
    words = [called(_address(word), settings.files.places) for word in words]
    with closing_all() as undo:
        state, header = _opened(directory, undo)
        part = forgotten_of(header)
        unknown = [word for word in words if word not in [item.said for item in part.items]]
        if unknown:
            raise UsageError(f"{unknown[0]} is not forgotten; 'larm forget' lists what is")
        if part.pending:
            raise UsageError("what is to be forgotten is not gone yet: 'larm forget' completes it")
        left = tuple(item for item in part.items if item.said not in words)
        following = msgspec.structs.replace(header.following, by=READ_ANEW)  # pages that lead there are read whole then
        _amended(state, msgspec.structs.replace(header, following=following), ForgottenPart(left))


def _address(word: str) -> str:
    """As `meant` reads it, also where a file is not there any more."""
    try:
        return word if "*" in word else address(word)
    except BadUrl:
        return file_url(os.path.abspath(os.path.expanduser(word)))


def _opened(directory: Path, undo: Undo) -> tuple[State, Header]:
    """As for a run that goes on."""
    known_header(directory)
    permit(directory)
    undo.append(DirectoryLock(directory).close)
    put_back(directory)
    seal = Sealing(directory).found
    check_databases(directory, seal)
    state = open_state(directory, undo)
    header = state.header or known_header(directory)
    check_folders(header, directory)
    if index_exists(directory / INDEX):
        open_index(directory / INDEX)  # one that can't be used is refused before anything is changed
    recover(state, directory, seal)
    return state, header


def _amended(state: State, header: Header, part: ForgottenPart, sums: Sums | None = None) -> Header:
    header = msgspec.structs.replace(header, parts=header.parts | {PART: msgspec.to_builtins(part)})
    state.file.amend(header, state.fresh, {}, sums)
    return header


def _without(header: Header, pages: int) -> Header:
    """The pages of the crawl are fewer."""
    left = max(header.counters.get(PAGES_COUNTED, 0) - pages, 0)
    return msgspec.structs.replace(header, counters=header.counters | {PAGES_COUNTED: left})


def _rows(directory: Path, gone: ForgottenPages) -> Iterator[tuple[Url, bool]]:
    """Each page that the crawl has asked for, and whether it has it; also where its host is another crawl's now."""
    for key, row in page_rows(directory / QUEUES / PAGES, left=True):
        if gone.holds(row.normalised):
            yield row.message(key).url, row.stored


def _chain(settings: Config, directory: Path, header: Header) -> Mapping[str, Storage]:
    """All storages that the crawl has, also those that its settings of now leave out."""
    chain = dict.fromkeys([*settings.storage.chain, *(name for name in header.storages if name in BUILT_IN_STORAGES)])
    every = msgspec.structs.replace(settings, storage=msgspec.structs.replace(settings.storage, chain=tuple(chain)))
    return {storage.name: storage for storage in storages(every, directory) if storage.name in header.storages}


def _settled(settings: Config, directory: Path, header: Header) -> Header:
    """Files that are to be purged end where the checkpoint says, and are complete."""
    positions: dict[str, Any] = {}
    for name, storage in _chain(settings, directory, header).items():
        if name in _IN_PLACE:
            storage.open(header.storages[name])
            positions[name] = dict(storage.commit())
            storage.close()
    return msgspec.structs.replace(header, storages=header.storages | positions)


def _recognised(settings: Config, directory: Path, gone: ForgottenPages) -> tuple[Unwanted, re.Pattern[str]]:
    """What is forgotten, by addresses in any form; and what all of these have in them, see `ForgottenPages.hint`."""
    parse, path = normalizer_of(settings, directory, ["file:"]).parse, directory / QUEUES / PAGES
    found = gone.hint()
    rows = page_rows(path, left=True)
    hint = gone.hint([row.access for _, row in rows if gone.holds(row.normalised) and not found.search(row.access)])

    @lru_cache(maxsize=10_000)
    def unwanted(address: str) -> bool:
        try:
            return hint.search(address) is not None and (gone.holds(address) or gone.holds(parse(address).normalised))
        except BadUrl:
            return False

    return unwanted, hint


def _purge(directory: Path, header: Header, unwanted: Unwanted, hint: re.Pattern[str], found: Forgot) -> None:
    found.size += purge_logs(directory / LOGS, header.logs, unwanted, hint).size
    if is_there(directory / WARC):
        from larm.store.archive.purge import purge_archive  # for who has one

        purged = purge_archive(directory / WARC, directory / QUEUES / PAYLOADS, unwanted)
        found.records, found.without = purged.records, purged.without
    if graph := header.storages.get("graph"):
        purge_graph(directory / GRAPH, graph["journal"], unwanted)
        for end in ("", ".new", ".old"):  # made again with the snapshot
            shutil.rmtree(directory / f"{ANCHORS}{end}", ignore_errors=True)


def _measured(header: Header, directory: Path, part: ForgottenPart) -> Header:
    """With the lengths that the files have now."""
    positions = {name: dict(position) for name, position in header.storages.items()}
    logs = directory / LOGS
    if log := positions.get("log"):
        log |= {"store": _length(logs / STORE_LOG), "links": _length(logs / LINKS_LOG)} | (
            {"days": part.days} if part.days else {}
        )
    if archive := positions.get("warc"):
        place = dict(archive["place"])
        names = [*place["complete"], *([place["file"]] if place["file"] else [])]
        files = {name: _length(directory / WARC / name) for name in names if is_there(directory / WARC / name)}
        archive["place"] = place | {"file": "", "length": 0, "complete": dict(place["complete"]) | files}
    if graph := positions.get("graph"):
        graph["journal"] = _length(directory / GRAPH / JOURNAL)
    lengths = {name: _length(logs / f"{name}.log") for name in header.logs}
    return msgspec.structs.replace(header, storages=positions, logs=lengths)


def _sums(directory: Path, header: Header) -> Sums:
    sums = sums_of_logs(directory / LOGS, header.storages.get("log"))
    if archive := header.storages.get("warc"):
        from larm.store.archive.storage import sums_of_files  # for who has one

        sums |= sums_of_files(directory / WARC, archive)
    return sums


def _length(path: Path) -> int:
    return path.stat().st_size if is_there(path) else 0


def _told_gone(settings: Config, directory: Path, header: Header, gone: ForgottenPages) -> Header:
    """All others hear that the pages are gone, one storage after the other; of the link graph a new snapshot is made."""
    positions: dict[str, Any] = {}
    for name, storage in _chain(settings, directory, header).items():
        if name in _IN_PLACE:
            continue
        storage.open(header.storages[name])
        try:
            known = () if name == "graph" else _rows(directory, gone)
            visits = (Visit(page=url.access, url=url, status=410, gone=True) for url, _ in known)
            while batch := list(islice(visits, _BATCH)):
                storage.store(batch)
            positions[name] = dict(storage.commit())
        finally:
            storage.close()
    return msgspec.structs.replace(header, storages=header.storages | positions)
