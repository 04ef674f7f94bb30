"""Seal: which files are still as the last process left them that ended well, so that nobody need read them again.

A seal notes size and time of change of files that are complete, synced and closed. Whoever opens it takes it away before
anything is changed: so after a kill, or a power failure in which a new time of change was lost with the data, there is none.
What was changed, replaced or damaged in between has another time, and is looked at as a whole. Damage that leaves it as it
was, as of a disk that forgets, shows when somebody asks for it (``larm check --state``), or where it is read.

Main thread; what `open_seal` returns is constant.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failure
from larm.kit.disk.files import sync_directory

_Look = tuple[int, int]
"""Bytes, and nanoseconds since 1970 of the last change."""
_decode = msgspec.json.Decoder(dict[str, _Look]).decode


class Seal:
    """The files that nobody has touched."""

    def __init__(self, untouched: Iterable[Path] = ()) -> None:
        # constant after construction
        self._untouched = frozenset(untouched)

    def holds(self, path: Path) -> bool:
        """This file was complete at the end of the last run, and nobody has touched it since."""
        return path in self._untouched

    def __repr__(self) -> str:
        return f"<Seal of {len(self._untouched)} files>"


NO_SEAL = Seal()
"""Everything is looked at."""


def open_seal(path: Path, root: Path) -> Seal:
    """The seal at ``path``, of files below ``root``. It is gone when this returns. Raises StorageError."""
    try:
        noted = _decode(path.read_bytes())
        path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return NO_SEAL
    except OSError as error:
        raise disk_failure(path, error) from error
    except (msgspec.MsgspecError, UnicodeDecodeError):  # then it says nothing; and it is replaced at the end
        return NO_SEAL
    sync_directory(path.parent)
    return Seal(root / name for name, look in noted.items() if _look(root / name) == look)


def write_seal(path: Path, root: Path, files: Iterable[Path]) -> None:
    """Seal ``files``, which are closed, below ``root``. Raises StorageError, and there is none then."""
    looks = {str(file.relative_to(root)): _look(file) for file in files}
    write_atomically(path, msgspec.json.encode({name: look for name, look in looks.items() if look is not None}))


def _look(path: Path) -> _Look | None:
    """None: there is no such file, or, of a database, some of it is in its log."""
    try:
        found = path.stat()
        log = path.with_name(f"{path.name}-wal")
        if path.suffix == ".db" and log.exists() and log.stat().st_size:
            return None
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
