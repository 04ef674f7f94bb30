"""Opening: a crawl's directory is locked, checked, and brought to its last checkpoint, before there is any part of the river.

Called by `larm.building.wiring` on the main thread.
"""

from pathlib import Path
from typing import NamedTuple

from larm.cluster.files import IDENTITY
from larm.crawldir.form import Marker
from larm.crawldir.marker import forget, permit, refuse_to_begin, set_marker
from larm.crawldir.sealing import Sealing
from larm.crawldir.state import (
    QUEUES,
    State,
    Undo,
    check_complete,
    check_databases,
    check_folders,
    logs_of,
    open_state,
    recover,
    refuse_bytes,
)
from larm.errors import UsageError
from larm.index.swap import put_back
from larm.kit.disk.lock import DirectoryLock
from larm.version import VERSION


class OpenDirectory(NamedTuple):
    """As the last run left it."""

    path: Path
    lock: DirectoryLock
    sealing: Sealing
    state: State
    marker: Marker


def open_directory(directory: Path, undo: Undo, *, fresh: bool, alone: bool) -> OpenDirectory:
    """Open it, or make it. ``fresh``: what is there is removed; ``alone``: not by the agents of a cluster.

    Raises UsageError if it is in use, or can't be continued like this; StorageError.
    """
    refuse_bytes(directory)
    there = permit(directory, fresh=fresh)
    if there and alone and not fresh:
        _refuse_alone(directory)
    lock = DirectoryLock(directory)
    undo.append(lock.close)
    if not there:
        set_marker(directory, VERSION, saved=False)
    if fresh:
        forget(directory, logs_of(directory))
        set_marker(directory, VERSION, saved=False)  # last: whoever is killed before has to say --fresh again
    put_back(directory)
    sealing = Sealing(directory)
    undo.append(sealing.close)  # after all that comes below, which has files open
    check_databases(directory, sealing.found)
    state = open_state(directory, undo)
    if state.header is None:
        refuse_to_begin(directory, str(state.store))
    else:
        check_folders(state.header, directory)
        check_complete(state.header)
    recover(state, directory, sealing.found)
    return OpenDirectory(directory, lock, sealing, state, set_marker(directory, VERSION, saved=state.header is not None))


def _refuse_alone(directory: Path) -> None:
    """A part of a crawl by several agents can't go on alone: it would ask all hosts of the others. Raises UsageError."""
    path = directory / QUEUES / IDENTITY
    if path.exists():
        from larm.cluster.identity import read_identity  # for who has a cluster

        cluster = read_identity(path).cluster
        raise UsageError(
            f"{directory} has a part of a crawl by the agents of the cluster {cluster}: run it with --cluster {cluster} and the"
            " other options as before, or put these into config.yaml; --fresh forgets it and crawls alone"
        )
