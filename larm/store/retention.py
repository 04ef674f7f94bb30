"""Takes old versions of pages out of store.log, links.log and the page files, as ``storage.log.keep`` says.

Called at the start of a run, before the log storage is opened, on the main thread of who has the directory.

Nothing of the crawl is in question before all is written: bodies that stay move behind the last checkpoint, into page files of
numbers that were never used, and the two logs are made anew beside the old ones. The position that comes of it says so
(``renewed``); once that is in the checkpoint, `LogStorage.open` puts the new logs in place of the old ones, and removes the
page files that nothing is left of. Whoever is killed before has the old files; whoever is killed after, the new ones. What an
earlier run left in that state is put in place, and the checkpoint told so, before anything is written beside it: so never are
there new logs that the checkpoint does not mean while it means some.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from larm.config import Keep, LogSettings
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import sync_directory
from larm.store.log import LINKS_LOG, NEW, STORE_LOG, Day, Position, put_in_place
from larm.store.page_file import PageFiles, found_file, page_file
from larm.store.reader import Bodies, entries_of, lines_of
from larm.store.store_log import StoreEntry, format_entry

DAY = 86_400
_DEAD = 0.25
"""Of a page file may be versions that are gone before it is written anew: else each visit would copy all of them."""
Save = Callable[[Mapping[str, Any]], object]
"""Puts a position into the checkpoint, for good. May raise StorageError: then the one before is in it still."""


class Version(NamedTuple):
    """A line of store.log."""

    page: int
    """A hash of its normalised address."""
    day: int
    """On which it was stored, since 1970, or later."""
    size: int
    """Bytes in a page file."""
    file: int
    """Its number; 0: none."""


class Retained(msgspec.Struct, frozen=True):
    """What came of it."""

    versions: int
    """Taken out."""
    size: int
    """Bytes of page files less."""
    over: int
    """Bytes by which the page files are larger than they may be: all of them are of pages as they are now."""


def superfluous(versions: Sequence[Version], keep: Keep, gone: Collection[int], today: int) -> bytearray:
    """1 for each version that is not to be kept, else 0. The last version of a page that is not ``gone`` always is. Pure."""
    left = Counter(each.page for each in versions)
    out = bytearray(len(versions))
    current = bytearray(len(versions))
    for n, each in enumerate(versions):
        rank = left[each.page] + (each.page in gone)  # 1: as it is now; 2: as it was before that
        left[each.page] -= 1
        current[n] = rank == 1
        late = keep.age is not None and (today - each.day) * DAY > keep.age
        out[n] = rank > 1 and (late or (keep.versions is not None and rank > keep.versions))
    if keep.size is not None:
        total = sum(each.size for n, each in enumerate(versions) if not out[n])
        for n, each in enumerate(versions):  # the oldest first
            if total > keep.size and not out[n] and not current[n]:
                out[n] = 1
                total -= each.size
    return out


def retain(
    logs: Path, noted: Mapping[str, Any], settings: LogSettings, gone: Collection[int], today: int, *, save: Save
) -> Retained | None:
    """None: all stays as it is. ``noted``: the position in the checkpoint. Raises StorageError."""
    position = Position.read(noted)
    put_in_place(logs, position)
    if position.renewed:
        position = msgspec.structs.replace(position, renewed=False)
        save(position.noted())
    versions = list(_versions(logs, position))
    lengths = dict(enumerate((*position.full, position.offset), 1))
    dead = Counter[int](dict(position.dead))
    files = _Sizes(logs, versions, lengths, dead)
    out = superfluous([each._replace(size=files.stored(each)) for each in versions], settings.keep, gone, today)
    live = Counter[int]()
    for n, each in enumerate(versions):
        (dead if out[n] else live)[each.file] += each.size
    moving = {x for x in lengths if live[x] < files.bodies[x] * (1 - _DEAD)}
    most = settings.keep.size
    if most is not None and sum(files.share(x, live[x]) if x in moving else lengths[x] for x in lengths) > most:
        moving = {x for x in lengths if live[x] < files.bodies[x]}
    if not any(out) and not moving:
        return None
    left = tuple((x, dead[x]) for x in sorted(dead) if x and dead[x] and x not in moving)
    with disk_failures(logs):
        renewed = Renewal(logs, msgspec.structs.replace(position, dead=left), settings, out, moving).done()
    save(renewed.noted())
    after = sum(renewed.full) + renewed.offset
    over = 0 if most is None else max(after - most, 0)
    return Retained(sum(out), sum(lengths.values()) - after, over)


class _Sizes:
    """What bodies take in page files, compressed or not. ``dead``: see `Position`."""

    def __init__(self, logs: Path, versions: Sequence[Version], lengths: Mapping[int, int], dead: Mapping[int, int]) -> None:
        known = Counter[int](dead)
        for each in versions:
            known[each.file] += each.size
        self._lengths = lengths
        self.bodies = {x: known[x] if page_file(logs, x, packed=True).exists() else length for x, length in lengths.items()}
        """Bytes of all bodies in a file; a plain one has nothing else."""

    def share(self, file: int, size: int) -> int:
        """What so many bytes of bodies take in a file."""
        return size * self._lengths[file] // self.bodies[file] if self.bodies[file] else 0

    def stored(self, version: Version) -> int:
        """What a version takes."""
        return self.share(version.file, version.size) if version.file else 0


def _versions(logs: Path, position: Position) -> Iterator[Version]:
    days = _Days(position.days, lambda day: day.store)
    for place, entry, _ in entries_of(logs / STORE_LOG, position.store):
        yield Version(hash(entry.normalised), days.at(place), entry.size if entry.file else 0, entry.file)


class _Days:
    """Which day a place in a log is of. What is before the first that is known is taken for as old as that."""

    def __init__(self, days: Sequence[Day], byte: Any) -> None:
        self._days = days
        self._byte = byte
        self.now = 0

    def at(self, place: int) -> int:
        """Places come in their order."""
        while self.now + 1 < len(self._days) and self._byte(self._days[self.now + 1]) <= place:
            self.now += 1
        return self._days[self.now].day if self._days else 0


class Renewal:
    """One time of writing anew."""

    def __init__(self, logs: Path, position: Position, settings: LogSettings, out: bytearray, moving: Collection[int]) -> None:
        self._logs = logs
        self._position = position
        self._settings = settings
        self._out = out
        self._moving = moving
        self._pages = PageFiles(
            logs, settings.page_file_size, position.full, position.page_file, position.offset, packed=settings.compress
        )
        self._bodies = Bodies(logs)
        self._kept = Counter[int]()
        """Versions of each page that stay, by a hash of its address."""
        self._known: set[int] = set()

    def done(self) -> Position:
        """Write all; where it is now."""
        position = self._position
        try:
            self._pages.begin_next()
            first = self._pages.number
            stored, store = self._renewed(STORE_LOG, self._stored(), [day.store for day in position.days])
            self._pages.begin_next()  # so that the date of a file is that of its pages
        finally:
            self._pages.close()
        self._date(range(first, self._pages.number))
        linked, links = self._renewed(LINKS_LOG, self._linked(), [day.links for day in position.days])
        sync_directory(self._logs)
        full = [0 if x in self._moving else length for x, length in enumerate(self._pages.full, 1)]
        days = tuple(Day(each.day, *at) for each, *at in zip(position.days, store, links, strict=True))
        return Position(stored, linked, self._pages.number, 0, tuple(full), position.dead, days, renewed=True)

    def _renewed(self, name: str, pieces: Iterator[tuple[int, bytes]], marks: list[int]) -> tuple[int, list[int]]:
        """Write a log anew beside the old one; its length, and where in it the places ``marks`` of the old one are."""
        length, moved = 0, list[int]()
        if not (self._logs / name).exists():
            return 0, [0] * len(marks)
        with (self._logs / (name + NEW)).open("wb") as file:
            for place, piece in pieces:
                while len(moved) < len(marks) and marks[len(moved)] <= place:
                    moved.append(length)
                length += file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        return length, [*moved, *[length] * (len(marks) - len(moved))]

    def _stored(self) -> Iterator[tuple[int, bytes]]:
        for n, (place, entry, line) in enumerate(entries_of(self._logs / STORE_LOG, self._position.store)):
            self._known.add(hash(entry.url))
            if self._out[n]:
                continue
            self._kept[hash(entry.url)] += 1
            yield place, self._moved(entry, line)
        self._pages.sync()

    def _moved(self, entry: StoreEntry, line: bytes) -> bytes:
        """Return the line of an entry, after its body was moved to a new page file if the old one is to go."""
        if entry.file not in self._moving:
            return line
        file, offset, inside = self._pages.append(self._bodies.read(entry))
        return format_entry(entry._replace(file=file, offset=offset, place=inside)).encode("utf-8", "replace")

    def _linked(self) -> Iterator[tuple[int, bytes]]:
        """Of each page the links of as many last visits as versions are kept; of what is no page (a redirect), the last."""
        left = Counter(page for _, page, first in self._links() if first)
        wanted = True
        for (place, line), page, first in self._links():
            if first:
                most = self._kept[page] if page in self._known else 1
                wanted = left[page] <= most
                left[page] -= 1
            if wanted:
                yield place, line

    def _links(self) -> Iterator[tuple[tuple[int, bytes], int, bool]]:
        """Each line, its page, and whether it is the first one of a visit: they stand together, and days are known."""
        days = _Days(self._position.days, lambda day: day.links)
        last: tuple[bytes, int] | None = None
        for place, line in lines_of(self._logs / LINKS_LOG, self._position.links):
            page = line.partition(b"\t")[0]
            now = (page, days.at(place))
            yield (place, line), hash(page.decode("utf-8", "replace")), now != last
            last = now

    def _date(self, numbers: range) -> None:
        """New files are as old as the youngest of those whose pages they have."""
        old = [found_file(self._logs, x).stat().st_mtime for x in self._moving if found_file(self._logs, x).exists()]
        for x in numbers if old else ():
            os.utime(found_file(self._logs, x), (max(old), max(old)))
