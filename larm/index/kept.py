"""keep, go_back: the index as the last checkpoint knows it, until the next one is written. Called on the writer thread.

tantivy forgets what a commit removed, but a commit may have to be undone: its pages are fetched again then, and may come in
another order, have another text or not come at all, so what had given way to them must be there again. Before each commit all
files of the one before get a second name (a hard link) in ``.kept/``, beside its meta.json, which has the generation and a
checksum in its name there. tantivy never writes to a file twice, so this takes room only for what merges have replaced since.

Where the file system has no hard links nothing is kept, and `larm.index.writer` makes do with removing what came later.
"""

import errno
import os
import shutil
import zlib
from pathlib import Path

import msgspec

from larm.index.integrity import MANAGED, META, damaged, file_names, link_commit, parse_meta, read_meta
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.kit.disk.files import sync_directory

KEPT = ".kept"
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
"""EXDEV: not from one folder to another, as AFS, or over several disks that look like one, as mergerfs."""


def keep(path: Path, generation: int) -> None:
    """Before a commit: the index is at ``generation``, and a checkpoint knows it. Raises StorageError."""
    folder = path / KEPT
    with disk_failures(folder):
        folder.mkdir(exist_ok=True)
        try:
            data = link_commit(path, folder, os.link)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            shutil.rmtree(folder)
            return
        wanted = set(file_names(parse_meta(data, path / META)))
        for file in folder.iterdir():
            if file.name not in wanted:
                file.unlink()
        write_atomically(folder / f"{generation}-{zlib.crc32(data):08x}.json", data)  # last: before, nobody needs the others


def go_back(path: Path, generation: int) -> None:
    """Before a writer is opened: undo the commit that came after ``generation``, if there is one. Raises StorageError.

    Whoever is killed meanwhile has changed nothing that counts before meta.json is replaced.
    """
    meta, managed = path / META, path / MANAGED
    kept = next((path / KEPT).glob(f"{generation}-*.json"), None)
    if kept is None:
        return
    try:
        data = kept.read_bytes()
        if f"{generation}-{zlib.crc32(data):08x}.json" != kept.name:
            raise damaged(kept)
        old = parse_meta(data, kept)
        if old.opstamp == read_meta(meta).opstamp:
            return
        names = file_names(old)
        for name in names:
            if not (path / name).exists():
                os.link(kept.with_name(name), path / name)
        try:
            listed = msgspec.json.decode(managed.read_bytes(), type=list[str])
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise damaged(managed) from error
        write_atomically(managed, msgspec.json.encode(sorted({*listed, *names})))
        sync_directory(path)
        write_atomically(meta, data)
    except OSError as error:
        raise disk_failure(Path(error.filename or kept), error) from error
