"""openable: where tantivy may open an index that is only read. Any thread; a crawl may be writing.

tantivy takes a lock before it reads, for which it opens a file to write: it fails on a read-only disk and in the directory of
another user. There it is given a folder of symbolic links to the files of the last commit. It opens all of them at once, so the
folder may go as soon as there is a searcher. A thread of tantivy's that looks for commits may put its lock there once more
while it goes, so it is removed twice.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from larm.index.integrity import MANAGED, META, link_commit
from larm.kit.disk.disk_failure import disk_failure, disk_failures

_LOCK = ".tantivy-meta.lock"


@contextmanager
def openable(path: Path) -> Iterator[Path]:
    """The folder itself where the lock can be taken, else one that stands for it. Raises StorageError."""
    if _can_lock(path):
        yield path
        return
    try:
        folder = Path(tempfile.mkdtemp(prefix="larm-"))
    except OSError as error:
        raise disk_failure(Path(tempfile.gettempdir()), error) from error
    try:
        with disk_failures(path):
            data = link_commit(path, folder, _symlink)
            for name, content in ((META, data), (MANAGED, (path / MANAGED).read_bytes())):
                (folder / name).write_bytes(content)
        yield folder
    finally:
        for _ in range(2):
            shutil.rmtree(folder, ignore_errors=True)


def as_the_others(path: Path) -> None:
    """tantivy makes the files that it replaces for their owner alone: let who may read its other files read them, too."""
    with disk_failures(path):
        mode = (path / _WRITER_LOCK).stat().st_mode & 0o666
        for name in (META, MANAGED):
            if (path / name).stat().st_mode & 0o666 != mode:
                (path / name).chmod(mode)


_WRITER_LOCK = ".tantivy-writer.lock"


def _can_lock(path: Path) -> bool:
    lock = path / _LOCK
    return os.access(lock if lock.exists() else path, os.W_OK)


def _symlink(file: Path, name: Path) -> None:
    file.stat()  # a link to a file that is gone would be made all the same
    name.symlink_to(file.absolute())
