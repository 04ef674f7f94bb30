"""The swap of an old index for a new one, and what is done where it was killed halfway. On the main thread."""

import shutil
from pathlib import Path

from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import sync_directory

INDEX, STAGE, OLD = "index", "index.new", "index.old"
"""Folders of a crawl's directory: the index, where the new one is made, and the old one while they are swapped."""


def put_back(directory: Path) -> None:
    """Before a crawl goes on: where `larm.ops.reindex` was killed while it swapped the two, the old index is the index
    again.

    Of a directory that nobody else uses. Raises StorageError.
    """
    index, old = directory / INDEX, directory / OLD
    if index.exists() or not old.exists():
        return
    from larm.index.schema import index_exists  # with tantivy, which a crawl without index does not need

    if not index_exists(old):
        return
    with disk_failures(index):
        old.rename(index)


def swap(directory: Path) -> None:
    """The index of the stage becomes the index. Raises OSError, StorageError."""
    index, old = directory / INDEX, directory / OLD
    if index.exists():
        shutil.rmtree(old, ignore_errors=True)
        index.rename(old)
    (directory / STAGE / INDEX).rename(index)
    sync_directory(directory)  # or a power cut takes files of the old one, which is the index again
    shutil.rmtree(old, ignore_errors=True)
