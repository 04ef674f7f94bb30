"""Seal: which files are still as the last process left them that ended well, so that nobody need read them again.

A seal notes size and time of change of files that are complete, synced and closed. Whoever opens it takes it away before
anything is changed: so after a kill, or a power failure in which a new time of change was lost with the data, there is none.
What was changed, replaced or damaged in between has another time, and is looked at as a whole. Damage that leaves it as it
was, as of a disk that forgets, shows when somebody asks for it (``larm check --state``), or where it is read.

Main thread; what `open_seal` returns is constant.
"""

import zlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failure
from larm.kit.disk.files import sync_directory

_Look = tuple[int, int, int]
"""Bytes, nanoseconds since 1970 of the last change, and of a small file the CRC-32."""
_decode = msgspec.json.Decoder(tuple[int, dict[str, _Look]]).decode


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
        noted = _looks(path)
        path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return NO_SEAL
    except OSError as error:
        raise disk_failure(path, error) from error
    except ValueError:  # then it says nothing; and it is replaced at the end
        return NO_SEAL
    sync_directory(path.parent)
    return Seal(root / name for name, look in noted.items() if _look(root / name, look[2]) == look)


def write_seal(path: Path, root: Path, files: Iterable[Path], small: Iterable[Path] = ()) -> None:
    """Seal ``files``, which are closed, below ``root``; those that are ``small`` with a checksum.

    Raises StorageError, and there is none then.
    """
    looks = {str(file.relative_to(root)): _look(file) for file in files}
    looks |= {str(file.relative_to(root)): _look(file, _crc(file)) for file in small}
    noted = {name: look for name, look in looks.items() if look is not None}
    write_atomically(path, msgspec.json.encode((_checksum(noted), noted)))


def changed_unseen(path: Path, root: Path) -> list[Path]:
    """Return the small files with other bytes that nobody has touched. Raises ValueError for a damaged seal, OSError."""
    looks = {root / name: look for name, look in _looks(path).items() if look[2]} if path.exists() else {}
    return [file for file, look in looks.items() if _look(file, look[2]) == look and _crc(file) != look[2]]


def _looks(path: Path) -> dict[str, _Look]:
    """Raises ValueError (msgspec's errors are some), OSError."""
    checksum, noted = _decode(path.read_bytes())
    if checksum != _checksum(noted):
        raise ValueError("its checksum is wrong")
    return noted


def _checksum(noted: dict[str, _Look]) -> int:
    return zlib.crc32(msgspec.json.encode(noted))


def _crc(path: Path) -> int:
    return zlib.crc32(path.read_bytes()) if path.is_file() else 0


def _look(path: Path, checksum: int = 0) -> _Look | None:
    """None: there is no such file, or, of a database, some of it is in its log."""
    try:
        found = path.stat()
        log = path.with_name(f"{path.name}-wal")
        if path.suffix == ".db" and log.exists() and log.stat().st_size:
            return None
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, checksum
