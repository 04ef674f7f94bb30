"""read_json: what a small file of ours has, or a sentence that says what to do about it. Any thread."""

from pathlib import Path
from typing import TypeVar

import msgspec

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failure

T = TypeVar("T")


def read_json(path: Path, kind: type[T], remedy: str) -> T | None:
    """None where there is none. Raises StorageError; ``remedy``: what to do where it is damaged."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise disk_failure(path, error) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: it is damaged ({error}); {remedy}") from error
