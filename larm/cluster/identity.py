"""What an agent is, in its directory: a name that it keeps, how often it was started, and what it must know of its cluster.

Read and written by the agent's process alone, which has the lock of the directory. A directory that was copied has the same
name: of two processes with one name, agents listen to one only (`larm.cluster.contact`).
"""

from pathlib import Path

import msgspec

from larm.cluster.membership import Saved
from larm.cluster.said import Said, name_of
from larm.errors import UsageError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.json_file import read_json


class Identity(msgspec.Struct, frozen=True):
    """The file."""

    cluster: str
    name: str
    boots: int = 0
    listen: str = ""
    """The address of its first start: others look for it there."""
    saved: Saved = Saved()
    inside: bool = False
    """It had a part of the crawl."""
    addresses: dict[str, str] = {}
    """Of the other agents, by name."""


def read_identity(path: Path, cluster: str = "", certified: str = "") -> Identity:
    """The agent of this directory, new where there is none. ``cluster``: empty: of any.

    ``certified``: the name in its certificate; empty: it has none.

    Raises UsageError where it is of another cluster, or of another name; StorageError.
    """
    found = read_json(path, Identity, "put it back as it was, or start over with --fresh")
    if found is None:
        return Identity(cluster, name_of(certified))
    if cluster and found.cluster != cluster:
        raise UsageError(f"{path.parent.parent} has a part of the cluster {found.cluster}, not of {cluster}")
    if not Said(b"", certified).may_speak_for(found.name):
        raise UsageError(
            f"{path.parent.parent} is that of the agent {found.name}, and cluster.certificate is for {certified}: take the"
            " certificate of that agent, or another directory"
        )
    return found


def write_identity(path: Path, identity: Identity) -> None:
    """On the disk when it returns. Raises StorageError."""
    with disk_failures(path):
        write_atomically(path, msgspec.json.encode(identity))
