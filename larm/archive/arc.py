"""ARC files, the form before WARC: a copy in the form of WARC is made of one before it is walked through. Main thread.

By warcio, which is made for all the ARC files that there are; nothing else in larm knows it.
"""

from __future__ import annotations

import gzip
import zlib
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from larm.errors import ConfigError
from larm.kit.disk.disk_failure import disk_failure

_FIRST = b"filedesc://"


def is_arc(path: Path) -> bool:
    """By its first bytes; also a compressed one."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_FIRST))
        if start.startswith(b"\x1f\x8b"):
            with gzip.open(path) as packed:
                start = packed.read(len(_FIRST))
    except (OSError, EOFError, zlib.error):
        return False
    return start == _FIRST


def convert(path: Path, target: Path) -> str:
    """Make a WARC file of it; what is wrong with it, if anything is: what comes behind is lost then.

    Raises ConfigError where warcio is missing, StorageError.
    """
    try:
        from warcio.archiveiterator import ArchiveIterator
        from warcio.exceptions import ArchiveLoadFailed
        from warcio.warcwriter import WARCWriter
    except ImportError as error:
        raise ConfigError(f"{path}: ARC files need warcio: pip install 'larm[warc]' ({error})") from error
    try:
        with path.open("rb") as file, target.open("wb") as out, redirect_stderr(StringIO()):  # where warcio has its say
            writer = WARCWriter(out, gzip=False)
            try:
                for record in ArchiveIterator(file, arc2warc=True):
                    writer.write_record(record)
            except (ArchiveLoadFailed, ValueError, EOFError, zlib.error) as error:
                return f"what follows can't be read: {error}"
    except OSError as error:
        raise disk_failure(target, error) from error
    return ""
