"""Birth: what a peer's first start has chosen for it once, its hash and its age (YACY-24). On the main thread."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import msgspec

from larm.errors import StorageError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.json_file import read_json
from larm.peers.identity import Identity, is_signed
from larm.peers.yacy.own_hash import belongs, own_hash
from larm.peers.yacy.seed import Seed, is_good


class Birth(msgspec.Struct, frozen=True):
    """As JSON in ``peer.json``."""

    hash: str
    born: int
    """Seconds since 1970."""


def birth_of(path: Path, identity: Identity, lists: Callable[[], Sequence[Seed]], random: Random, now: int) -> Birth:
    """As the file has it; where there is none, this start is the first. Raises StorageError."""
    found = read_json(path, Birth, "remove it, and a new hash is chosen")
    if found is None:
        known = {seed.hash for seed in lists() if is_good(seed, is_signed)}
        found = Birth(own_hash(known, identity.key, random), now)
        write_atomically(path, msgspec.json.encode(found))
    if not belongs(found.hash, identity.key):
        raise StorageError(f"{path}: the hash of another key; remove it, and a new one is chosen")
    return found
