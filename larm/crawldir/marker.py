"""Marker: ``larm.json`` says that a directory is a crawl of larm's; and which files in it are larm's.

`permit` refuses a directory in which somebody else's files have the names of larm's, before anything is written; `forget`
removes what larm made. Called on the main thread by `larm.building.wiring` and `larm.ops.afterwards`; `set_marker` also
on the thread that has written the first checkpoint.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from larm.crawldir.control_socket import SOCKET
from larm.crawldir.form import FORM, MARKER, Marker, read_marker, refuse_other_form
from larm.crawldir.state import ANCHORS, GRAPH, INDEX, LOGS, QUEUES, VISITED, refuse_without_crawl
from larm.errors import REPAIR, StorageError, UsageError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.block_store import DATABASE
from larm.kit.disk.files import is_there
from larm.kit.disk.lock import FILE_NAME
from larm.store.archive.names import FOLDER as WARC
from larm.store.archive.names import OURS

STATS = "stats.json"

_FOLDERS = tuple(f"{name}{end}" for name in (QUEUES, INDEX, GRAPH, ANCHORS) for end in ("", ".new", ".old"))
"""The last two are of a process that was killed."""
OWN = (MARKER, FILE_NAME, SOCKET, STATS, f"{STATS}.new", LOGS, WARC, *_FOLDERS)
"""What larm writes in a directory."""
FOLDERS = (LOGS, WARC, *_FOLDERS)
"""Those of it that are folders."""
_LOGS = re.compile(
    r"(store|links|robots|starts|crash|repair|archive|agents|filter_errors|ThreadMonitor|stalled|thread\d+|thread\d+_errors"
    r"|(URLLength|KnownPaths|Files|URLScope|URLVisited|Traps|Owner|Forgotten|RobotExclusion)Filter)\.log(\.[1-9]\d*)?"
    r"|pagefile_[1-9]\d*\.pfl(\.zst)?|(store|links)\.log\.new"
)
"""What larm writes in ``logs/``, but for the logs of filters of the user's own."""
_OLD_PART = re.compile(r"(?<=\.log)\.[1-9]\d*$")
_SHARED = {LOGS: _LOGS, WARC: OURS}
"""Folders in which a user may have files, and which ones are larm's."""


def refuse_own(output: Path) -> None:
    """Raise UsageError if this path, to which a command is to write, belongs to larm's part of a crawl's directory."""
    path = output.resolve()
    for folder in path.parents:
        name, *more = path.relative_to(folder).parts
        ours = _SHARED.get(name) if more else None
        if name in OWN and (ours is None or ours.fullmatch(more[0])) and (folder / MARKER).is_file():
            raise UsageError(f"--output {output}: this belongs to a crawl, and would be replaced; name another file")


def set_marker(directory: Path, larm: str, *, saved: bool) -> Marker:
    """Write it, unless it is as it should be. Of a directory that is permitted, under its lock. Raises StorageError."""
    old = read_marker(directory)
    others = old.others if old else _others(directory)
    new = Marker(FORM, larm, saved, others)
    if new != old:
        write_atomically(directory / MARKER, msgspec.json.format(msgspec.json.encode(new)) + b"\n")
    return new


def is_crawl(directory: Path) -> bool:
    """Whether larm has crawled there, or begun to. Raises StorageError."""
    return is_there(directory / MARKER) or _has_memory(directory)


def refuse_unsaved(directory: Path) -> None:
    """Raise UsageError if no crawl is there, or one that has saved nothing. A damaged or removed database is no reason to."""
    if not is_crawl(directory):
        raise UsageError(f"no crawl in {directory}; --dir names another directory")
    marker = read_marker(directory)
    if marker is None or not marker.saved:
        with suppress(StorageError):
            refuse_without_crawl(directory)


def permit(directory: Path, *, fresh: bool = False) -> bool:
    """Whether a crawl is there. Raises StorageError for one that can't be continued, and for files that are not larm's."""
    marker = read_marker(directory)
    if marker is None:
        if _has_memory(directory):
            return True
        for path in _in_the_way(directory):
            raise StorageError(
                f"{path}: larm would write there, and without a {MARKER} in {directory} it is taken for somebody else's;"
                " nothing was touched; use another directory (--dir), or move it elsewhere"
            )
        return False
    if fresh:
        return True
    refuse_other_form(directory)
    if marker.saved:
        _refuse_without_memory(directory)
    return True


def refuse_to_begin(directory: Path, memory: str) -> None:
    """The memory has no checkpoint in it: fine for a crawl that never had one. Raises StorageError if this one had."""
    marker = read_marker(directory)
    if marker is not None and marker.saved and (left := _left(directory)):
        raise StorageError(
            f"{memory}: no checkpoint in it, but {left} has pages of the crawl: it was removed or replaced;"
            f" put the file back as it was, or {REPAIR}"
        )


def forget(directory: Path, logs: Iterable[str]) -> None:
    """``--fresh``: remove what larm made, and nothing else. ``logs``: further names of its logs. Raises StorageError."""
    marker = read_marker(directory)
    kept = set(marker.others) if marker else set()
    wanted = {f"{name}.log" for name in logs}
    try:
        for name in _FOLDERS:
            if (directory / name).exists():
                shutil.rmtree(directory / name)
        for folder, ours in _SHARED.items():
            if (directory / folder).is_dir():
                for file in (directory / folder).iterdir():
                    log = _OLD_PART.sub("", file.name)
                    if (log in wanted or ours.fullmatch(file.name)) and log not in kept:
                        file.unlink()
        for name in (STATS, f"{STATS}.new"):
            (directory / name).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{error.filename}: can't be removed for --fresh: {error.strerror}") from error


def _has_memory(directory: Path) -> bool:
    """Return True if this is a crawl, whose marker may be lost or damaged: only larm makes such files."""
    return any((directory / QUEUES / name).is_file() for name in (DATABASE, VISITED))


def _in_the_way(directory: Path) -> Iterator[Path]:
    """What has a name of larm's. Empty folders are in nobody's way."""
    for name in OWN:
        path = directory / name
        if name in _SHARED and path.is_dir():
            yield from sorted(file for file in path.iterdir() if _SHARED[name].fullmatch(file.name))
        elif name == FILE_NAME and _is_lock(path):
            continue
        elif path.is_dir():
            yield from sorted(path.iterdir())
        elif path.is_symlink() or path.exists():
            yield path


def _is_lock(path: Path) -> bool:
    """The number of a process, perhaps a path, and no more, as `larm.kit.disk.lock` leaves it; or of one just beginning."""
    try:
        with path.open("rb") as file:
            return re.fullmatch(rb"(\d+\n(/[^\n]+\n)?)?", file.read(4_200)) is not None
    except OSError:
        return False


def is_log_of_larm(name: str) -> bool:
    """Return True if larm itself writes ``<name>.log``; on some disks letters are the same in upper and lower case."""
    return re.fullmatch(_LOGS.pattern, f"{name}.log", re.IGNORECASE) is not None


def _others(directory: Path) -> tuple[str, ...]:
    """Logs that only a filter of the user's could write to, when larm comes to a directory."""
    if _has_memory(directory):
        return ()
    with suppress(OSError):
        found = [file for file in (directory / LOGS).glob("*.log") if file.is_dir() or file.stat().st_size]
        return tuple(sorted(file.name for file in found if not _LOGS.fullmatch(file.name)))
    return ()


def _refuse_without_memory(directory: Path) -> None:
    memory = directory / QUEUES
    if (memory / DATABASE).exists() or not (left := _left(directory)):
        return
    if any(memory.glob("*.db")):
        raise StorageError(
            f"{memory / DATABASE}: it was removed, but {left} has pages of the crawl; put the file back as it was, or {REPAIR}"
        )
    raise StorageError(
        f"{memory}: it was removed, and was this crawl's memory; {left} still has its pages: put the folder back as it was,"
        " crawl into another directory (--dir), or start over with --fresh, which removes the pages"
    )


def _left(directory: Path) -> Path | None:
    """Something of a crawl that would be lost if it began anew."""
    for path in (directory / LOGS / "store.log", directory / INDEX / "meta.json", directory / GRAPH / "links.journal"):
        with suppress(OSError):
            if path.stat().st_size:
                return path
    return next(iter(sorted((directory / LOGS).glob("pagefile_*.pfl*"))), None)
