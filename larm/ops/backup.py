"""Copies a crawl's directory, also of a crawl that runs, for ``larm backup``. Main thread.

All that is on the disk is of one checkpoint, or comes after it and is undone by the next start, as after a kill. So of a crawl
that runs everything is copied once as it is, which may take long; then the crawl saves and holds its next checkpoint back
(`larm.ops.control.requests.Hold`) while what has changed is copied again: the ends of what only grows, and databases as of one
moment. The copy is a crawl's directory when its ``larm.json`` is there, which comes last.

Logs and page files only grow while one process has the crawl, from its first checkpoint on. Where that ended meanwhile, another
run may have cut or replaced them, ``larm forget`` overwritten, ``--fresh`` begun anew: what was touched is copied as a whole.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from larm.config import CONFIG_FILE, Config, load
from larm.config.file_names import named_files
from larm.config.whole import own_modules
from larm.crawldir.form import MARKER
from larm.crawldir.marker import FOLDERS, OWN, STATS
from larm.crawldir.state import LOGS as LOGS_FOLDER
from larm.crawldir.state import last_header, refuse_without_crawl
from larm.errors import ConfigError, StorageError, UsageError
from larm.graph.files import JOURNAL
from larm.kit.disk.database import copy_database
from larm.kit.disk.disk_failure import disk_failure
from larm.kit.disk.files import is_there, pieces, sync_directory
from larm.kit.disk.lock import DirectoryLock
from larm.ops.control.client import Control, NotRunning
from larm.ops.control.requests import Hold, Release

_PATIENCE = 600.0
"""Seconds for a checkpoint of a large crawl on a busy disk."""
_TRIES = 20
"""Merges of the index that end while it is copied, in a row."""
_GROWS = (LOGS_FOLDER, "warc")


class BackedUp(msgspec.Struct):
    """What was copied."""

    files: int = 0
    size: int = 0


def back_up(directory: Path, target: Path, tell: Callable[[str], object]) -> BackedUp:
    """Into ``target``, which must be empty or missing. Raises UsageError, StorageError; then ``target`` is no crawl."""
    refuse_without_crawl(directory)
    if target.is_dir() and (there := {path.name for path in target.iterdir()}):
        if MARKER not in there and there <= {*OWN, CONFIG_FILE}:
            remedy = f"remove it ('rm -r {shlex.quote(str(target))}') and run the same command again"
            raise UsageError(f"{target} has a backup that was not completed: {remedy}")
        raise UsageError(f"{target} is not empty: name a folder that is, or does not exist yet")
    try:
        target.mkdir(parents=True, exist_ok=True)
        _keep_private(directory, target, tell)
        _copy(directory, target, tell)
        _copy_named(directory, target, tell)
        _file(directory / MARKER, target / MARKER)
        sync_directory(target)
    except OSError as error:
        raise disk_failure(Path(error.filename or target), error) from error
    if last_header(target) is None:
        raise StorageError(f"{target}: the copy has no checkpoint; copy again")
    files = [path for path in target.rglob("*") if path.is_file()]
    return BackedUp(len(files), sum(path.stat().st_size for path in files))


def _keep_private(directory: Path, target: Path, tell: Callable[[str], object]) -> None:
    """Give ``target`` the mode of the crawl's directory, which only its owner can do."""
    try:
        shutil.copymode(directory, target)
    except PermissionError:
        tell(f"{target} belongs to another user and keeps its permissions: check who may read it")


def _copy_named(directory: Path, target: Path, tell: Callable[[str], object]) -> None:
    """Copy files of the directory that its config.yaml names, such as cookies, and modules of the user's beside it."""
    directory = directory.absolute()
    if not is_there(directory / CONFIG_FILE):
        return
    try:
        settings = load(directory / CONFIG_FILE)
    except ConfigError as error:
        tell(f"files that {CONFIG_FILE} names are not copied: {error}")
        return
    modules = [name.partition(".")[0] for name in own_modules(settings)]
    own = [path for name in modules for path in (Path(f"{name}.py"), *(directory / name).rglob("*.py"))]
    elsewhere = []
    for name in sorted({*map(str, own), *named_files(Config, settings)}):
        path = directory / name
        if not path.is_relative_to(directory) or ".." in path.parts:
            elsewhere += [name] if path.exists() else []
        elif path.is_file():
            copy = target / path.relative_to(directory)
            copy.parent.mkdir(parents=True, exist_ok=True)
            _file(path, copy)
    if elsewhere:
        tell(f"not copied, as they are outside of {directory}: {', '.join(elsewhere)}")


class _Copied(NamedTuple):
    """A file as it was when it was copied: none that is cut, replaced or overwritten later is the same in all of these."""

    inode: int
    size: int
    changed: int
    """Nanoseconds."""

    @classmethod
    def now(cls, file: BinaryIO) -> _Copied:
        found = os.fstat(file.fileno())
        return cls(found.st_ino, found.st_size, found.st_ctime_ns)


def _copy(directory: Path, target: Path, tell: Callable[[str], object]) -> None:
    known = dict[Path, _Copied]()
    try:
        lock = DirectoryLock(directory, looks=True)
    except UsageError:  # a crawl runs
        if _copy_running(directory, target, known):
            return
        tell("the crawl ended meanwhile: its end is waited for, then what has changed is copied")
        lock = DirectoryLock(directory, wait=True, looks=True)
    with lock:
        _bring(directory, target, known, grows=False)


def _copy_running(directory: Path, target: Path, known: dict[Path, _Copied]) -> bool:
    """False: it ended meanwhile."""
    try:
        with Control(directory, timeout=_PATIENCE) as crawl:
            crawl.ask(Hold())  # from then on all its files are open, and cut back to where it began
            crawl.ask(Release())
            _bring(directory, target, known, grows=True)
            crawl.ask(Hold())
            _bring(directory, target, known, grows=True)
            crawl.ask(Release())
    except NotRunning:
        return False
    return True


def _bring(source: Path, target: Path, known: dict[Path, _Copied], *, grows: bool) -> None:
    """Make ``target`` what ``source`` is, but for the marker. ``known``: files of the copy. ``grows``: see `_grown`."""
    for name in (CONFIG_FILE, STATS):
        if is_there(source / name):
            _file(source / name, target / name)
        else:
            (target / name).unlink(missing_ok=True)
    for name in FOLDERS:
        if is_there(source / name):
            _folder(source / name, target / name, known, grows=grows)
        elif is_there(target / name):
            shutil.rmtree(target / name)


def _folder(source: Path, target: Path, known: dict[Path, _Copied], *, grows: bool) -> None:
    """A folder of tantivy's until nothing of it has changed meanwhile."""
    for _ in range(_TRIES):
        names = _names(source)
        try:
            for name in names:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copymode((source / name).parent, (target / name).parent)
                _one(source / name, target / name, source, known, grows=grows)
        except FileNotFoundError:
            continue  # a merge has just ended, or a file got another name
        for name in set(_names(target)) - set(names):
            (target / name).unlink()
            known.pop(target / name, None)
        if not is_there(source / "meta.json") or (source / "meta.json").read_bytes() == (target / "meta.json").read_bytes():
            return
    raise StorageError(f"{source}: it changes faster than it can be copied; try again when the crawl has less to do")


def _names(folder: Path) -> list[str]:
    found = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return sorted(str(path) for path in found if not path.name.startswith("visits-") and path.suffix not in _LIVE)


_LIVE = frozenset({".db-wal", ".db-shm"})


def _one(source: Path, target: Path, folder: Path, known: dict[Path, _Copied], *, grows: bool) -> None:
    if source.suffix == ".db":
        copy_database(source, target)
        _sync(source, target)
    elif folder.name in _GROWS or source.name == JOURNAL or (is_there(folder / "meta.json") and source.suffix != ".json"):
        _grown(source, target, known, grows=grows)
    else:
        _file(source, target)


def _grown(source: Path, target: Path, known: dict[Path, _Copied], *, grows: bool) -> None:
    """What ``target`` lacks of a file that only grows, or never changes; all of it where another one has its name.

    Not ``grows``: somebody else may have had the file since it was copied, so all of it unless nothing has happened to it.
    """
    with source.open("rb") as old:
        now, before = _Copied.now(old), known.pop(target, None)
        if before != now:
            have = before.size if grows and before and before.inode == now.inode and before.size <= now.size else 0
            with target.open("r+b" if have else "wb") as new:
                new.seek(have)
                new.writelines(pieces(old, have, now.size))
                new.flush()
                shutil.copymode(source, target)
                os.fsync(new.fileno())
    known[target] = now


def _file(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    _sync(source, target)


def _sync(source: Path, target: Path) -> None:
    """Wait for the disk; the copy has the mode of its source."""
    with target.open("rb") as file:
        shutil.copymode(source, target)
        os.fsync(file.fileno())
