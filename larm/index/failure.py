"""Translation of tantivy's errors. It says ValueError for nearly everything, and its panics are no Exception. Stateless."""

import shutil
from pathlib import Path
from types import TracebackType

from larm.errors import REPAIR, LarmError, StorageError
from larm.kit.deadline import OutOfTimeError

_OTHER = "schema does not match"
_FULL = "the disk is full; make room and run the same command again"
BUSY = "another process writes to this index"
_ADVICE = (
    (_OTHER, "another version of larm made this index; 'larm reindex' makes it anew from the stored pages"),
    ("LockBusy", f"{BUSY}; end that one first"),
    ("Read-only file system", "it can't be opened or written; check the path, its owner and its permissions"),
    ("Permission denied", "it can't be opened or written; check the path, its owner and its permissions"),
    ("PermissionDenied", "it can't be opened or written; check the path, its owner and its permissions"),
    ("ReadOnlyFilesystem", "it can't be opened or written; check the path, its owner and its permissions"),
    ("Too many open files", "too many open files; allow more ('ulimit -n'), and run the same command again"),
    ("Cannot allocate memory", "there is not enough memory; free some, and run the same command again"),
    ("No space left", _FULL),
    ("StorageFull", _FULL),
    ("killed", "the index can't be written; check for room on its disk, then run the same command again"),
)
_HIDING = "killed"
_LITTLE = 16_000_000
"""Bytes: with less room than that it is the disk where tantivy hides the reason; a segment or a merge takes as much at once."""

_NOT_DAMAGED = ("(os error", "Os { code")
"""Of the system's errors, which say nothing of what the files hold."""


class IndexFailure:
    """``with IndexFailure(path):`` whatever tantivy raises inside leaves as a StorageError. May be used again and again."""

    __slots__ = ("_damaged", "_path")

    def __init__(self, path: Path, damaged: str = "") -> None:
        """``damaged``: what to do about damage, where it is not a repair."""
        # constant after construction
        self._path = path
        self._damaged = damaged

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None or isinstance(error, LarmError | OutOfTimeError | KeyboardInterrupt | SystemExit):
            return
        text = " ".join(str(error).split())
        if _HIDING in text and _room(self._path) < _LITTLE:
            raise StorageError(f"{self._path}: {_FULL}") from error
        for sign, advice in _ADVICE:
            if sign in text and not (self._damaged and sign == _OTHER):
                raise StorageError(f"{self._path}: {advice}") from error
        if any(sign in text for sign in _NOT_DAMAGED):
            raise StorageError(f"{self._path}: the index can't be used ({text[:300]}); check the disk") from error
        advice = self._damaged or REPAIR
        raise StorageError(f"{self._path}: the index is damaged or can't be used ({text[:300]}); {advice}") from error


def _room(path: Path) -> int:
    """Bytes that are free on its disk; as many as anybody may want where that is not known."""
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return _LITTLE
