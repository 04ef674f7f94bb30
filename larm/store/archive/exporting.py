"""An archive of a crawl that kept none: the page files as ``resource`` records, with what is known of each page. Main thread.

What went over the wire is gone: of a page there are its bytes, without content encoding, its type, its status and the page with
the first link to it, and what it asks of crawlers, which an HTTP header may have said. The date is that of the page
file: no page in it was fetched later; of an empty page, which is in none, that of the log.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from larm.kit.counted import counted
from larm.kit.disk.disk_failure import disk_failures
from larm.seams import Clock
from larm.store.archive.cdxj import Capture
from larm.store.archive.records import SUFFIX, Records, date_of, gzip_member
from larm.store.archive.warc_files import Entry, Place, WarcFiles
from larm.store.log import STORE_LOG
from larm.store.page_file import found_file
from larm.store.reader import LeftOut, StoreLog
from larm.store.store_log import StoreEntry

REMOVED: Final = "removed from the index since; 'larm cat --removed URL' shows the copy of before"


def export_pages(
    directory: Path,
    target: Path,
    size: int,
    about: Sequence[tuple[str, str]],
    clock: Clock,
    *,
    robots: Callable[[StoreEntry], str | None],
    tell: Callable[[str], object],
    left_out: LeftOut,
) -> int:
    """Write the archive into the folder ``target``, which is empty; how many pages it has.

    ``robots``: what a page asks of them, None: it was removed; ``tell`` is told how many pages are left out, and why.
    ``left_out``: gets the pages that can't be read.
    Raises StorageError.
    """
    log = StoreLog(directory, left_out=left_out)
    records = Records(gzip_member)
    dates: dict[int, str] = {}

    def date(number: int) -> str:
        if number not in dates:
            path = found_file(directory / "logs", number) if number else directory / "logs" / STORE_LOG
            with disk_failures(path):
                dates[number] = date_of(path.stat().st_mtime)
        return dates[number]

    def begin(file: str) -> list[Entry]:
        return [Entry(records.warcinfo(file, clock.wall(), about).member)]

    files = WarcFiles(target, SUFFIX, size, Place(), clock.wall, begin)
    pages = refused = 0
    removed = set()
    try:
        for entry in log:
            found = left_out.read((entry.url, entry.file, entry.offset), lambda: (robots(entry), log.body(entry)))  # noqa: B023
            if found is None:
                continue
            asks, body = found
            if asks is None:
                removed.add(entry.url)
                continue
            if entry.size and not entry.file:
                refused += 1
                continue
            files.prepare()
            when = date(entry.file)
            made = records.resource(entry.url, when, entry.mime, body, asks)
            told = [("via", entry.from_page), ("status", str(entry.status)), ("title", entry.title)]
            files.append(
                [
                    Entry(made.member, Capture(entry.url, when, entry.mime, "", made.digest, 0, 0, "")),
                    Entry(records.about(entry.url, when, made.id, told).member),
                ]
            )
            pages += 1
        files.commit()
    finally:
        files.close()
    if removed:
        tell(f"{counted(len(removed), 'page')} left out: {REMOVED}")
    if refused:
        tell(f"{counted(refused, 'page')} left out: no copy was kept, as they ask for none (noarchive)")
    return pages
