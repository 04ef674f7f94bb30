"""What an agent is, in its directory: a name that it keeps, how often it was started, and what it must know of its cluster.

Read and written by the agent's process alone, which has the lock of the directory. A directory that was copied has the same
name, but not the inode and the boot of the machine: its process waits until the other one is lost (`larm.cluster.session`).
"""

import os
import secrets
from pathlib import Path

import msgspec

from larm.cluster.agent import Gone
from larm.cluster.applicant import SavedSession
from larm.cluster.transport import speaks_for
from larm.errors import UsageError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.json_file import read_json

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Identity(msgspec.Struct, frozen=True):
    """The file."""

    cluster: str
    name: str
    boots: int = 0
    place: str = ""
    """Boot of the machine and inode of the folder, as `place_of` gives them."""
    listen: str = ""
    """The address of its last start, for commands."""
    etcd: tuple[str, ...] = ()
    """Addresses of its last start, for commands; without passwords."""
    session: SavedSession = SavedSession()
    epoch: int = 0
    """See `larm.cluster.agent.Agent.epoch`."""
    gone: tuple[Gone, ...] = ()
    """See `larm.cluster.agent.Agent.wanted`."""
    inside: bool = False
    """It had a part of the crawl."""


def place_of(folder: Path) -> str:
    """Return what a copy of the folder does not have, nor this one after a start of the machine. Raises StorageError."""
    with disk_failures(folder):
        boot = _BOOT_ID.read_text(encoding="ascii").strip() if _BOOT_ID.exists() else ""
        return f"{boot} {os.stat(folder).st_ino}" if boot else ""


def read_identity(path: Path, cluster: str = "", certified: str = "") -> Identity:
    """The agent of this directory, new where there is none. ``cluster``: empty: of any.

    ``certified``: the name in its certificate; empty: it has none.

    Raises UsageError where it is of another cluster, or of another name; StorageError.
    """
    found = read_json(path, Identity, "put it back as it was, or start over with --fresh")
    if found is None:
        return Identity(cluster, f"{certified}-{secrets.token_hex(3)}" if certified else secrets.token_hex(4))
    if cluster and found.cluster != cluster:
        raise UsageError(f"{path.parent.parent} has a part of the cluster {found.cluster}, not of {cluster}")
    if certified and not speaks_for(certified, found.name):
        raise UsageError(
            f"{path.parent.parent} is that of the agent {found.name}, and cluster.certificate is for {certified}: take the"
            " certificate of that agent, or another directory"
        )
    return found


def write_identity(path: Path, identity: Identity) -> None:
    """On the disk when it returns. Raises StorageError."""
    with disk_failures(path):
        write_atomically(path, msgspec.json.encode(identity))
