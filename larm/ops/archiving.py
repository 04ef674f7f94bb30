"""What ``larm warc export`` does: an archive, or a WACZ file, of a crawl's directory. Main thread; the crawl must not run."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from larm.building.named_parts import about_crawl
from larm.config import Config
from larm.errors import UsageError
from larm.kit.clock import SystemClock
from larm.kit.counted import counted
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import is_there
from larm.ops.stored_pages import StoredPages
from larm.store.archive.exporting import REMOVED, export_pages
from larm.store.archive.indexing import say_damage
from larm.store.archive.names import FOLDER, PAYLOADS
from larm.store.archive.purge import purge_archive
from larm.store.archive.wacz import write_wacz
from larm.store.log import STORE_LOG
from larm.store.reader import LeftOut, StoreLog
from larm.version import VERSION

WACZ = ".wacz"


def export_archive(settings: Config, directory: Path, target: Path, tell: Callable[[str], object], left_out: LeftOut) -> int:
    """Into a folder, or a WACZ file; how many pages it has. Raises UsageError, StorageError.

    ``left_out``: gets the pages that can't be read.
    """
    if target.suffix.lower() != WACZ:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise UsageError(f"{target}: expected a folder that is empty, or not there yet")
        with _stage(target) as stage:
            pages = _export(settings, directory, stage, tell, left_out)
            with disk_failures(target):
                stage.replace(target)
            return pages
    kept = sorted((directory / FOLDER).glob("*.warc.gz"))
    with _stage(target) as stage:
        if not kept:
            _export(settings, directory, stage, tell, left_out)
        elif removed := _removed(settings, directory):
            with disk_failures(stage):
                for path in kept:
                    shutil.copy2(path, stage)
            purge_archive(stage, stage / PAYLOADS, removed.__contains__)
            tell(f"{counted(len(removed), 'page')} left out: {REMOVED}")
        else:
            return _pack(directory, target, kept, tell, left_out)
        return _pack(directory, target, sorted(stage.glob("*.warc.gz")), tell, left_out)


@contextmanager
def _stage(target: Path) -> Iterator[Path]:
    """Make the folder in which an archive grows; it goes at the end, or when a later export finds that this one was killed."""
    stage = target.absolute().with_name(f".{target.name}.part")
    shutil.rmtree(stage, ignore_errors=True)
    try:
        with disk_failures(stage):
            stage.mkdir(parents=True)
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _export(settings: Config, directory: Path, target: Path, tell: Callable[[str], object], left_out: LeftOut) -> int:
    size, about = int(settings.storage.warc.size), about_crawl(settings)
    with StoredPages(settings, directory) as pages:
        return export_pages(directory, target, size, about, SystemClock(), robots=pages.robots, tell=tell, left_out=left_out)


def _removed(settings: Config, directory: Path) -> set[str]:
    if not is_there(directory / "logs" / STORE_LOG):
        return set()
    with StoredPages(settings, directory) as pages:
        return {entry.url for entry in StoreLog(directory) if pages.robots(entry) is None}


def _pack(directory: Path, target: Path, files: Sequence[Path], tell: Callable[[str], object], left_out: LeftOut) -> int:
    if not files:
        raise UsageError(f"{directory}: no page of it was stored, so there is nothing to export")
    titles: dict[str, str] = {}
    if is_there(directory / "logs" / STORE_LOG):
        titles = {entry.url: entry.title for entry in StoreLog(directory, left_out=left_out)}
    software = f"larm/{VERSION}"
    return write_wacz(target, files, lambda url: titles.get(url, ""), software, SystemClock().wall(), say_damage(target, tell))
