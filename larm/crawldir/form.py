"""Form: ``larm.json``, by which a directory is known as a crawl of larm's, and the one number of the form of all that is in it.

Called by `larm.crawldir.marker`, which writes the file, and by `larm.crawldir.state`, which opens a directory. Any thread.
"""

from pathlib import Path

import msgspec

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failure

MARKER = "larm.json"
FORM = 4
"""Rises with any change after which what larm wrote before can't be read as before."""


class Marker(msgspec.Struct, frozen=True):
    """What stands in the file."""

    form: int
    larm: str
    """The version that wrote it."""
    saved: bool = False
    """There was a checkpoint: whatever the crawl has is lost without its memory."""
    others: tuple[str, ...] = ()
    """Logs in ``logs/`` that were there before larm was."""
    about: str = "This directory is a crawl of larm's. Without this file larm takes what is in it for somebody else's."


def read_marker(directory: Path) -> Marker | None:
    """Return None if there is none, or none that can be read. Raises StorageError."""
    path = directory / MARKER
    try:
        return msgspec.json.decode(path.read_bytes(), type=Marker)
    except (FileNotFoundError, NotADirectoryError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    except OSError as error:
        raise disk_failure(path, error) from error


def refuse_other_form(directory: Path) -> None:
    """Raise StorageError if a larm with another form made this directory."""
    marker = read_marker(directory)
    if marker is not None and marker.form != FORM:
        raise StorageError(
            f"{directory / MARKER}: another version of larm ({marker.larm}) made this directory;"
            " crawl into another directory (--dir), or start over with --fresh"
        )
