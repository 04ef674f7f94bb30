"""Profile: what a peer is, as its user has chosen; its mode says how much it has to do with others (YACY-41, 42). Constant.

Birth: its hash and age, which its first start has chosen once (YACY-24). Read on the main thread.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from random import Random

import msgspec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import load_pem_x509_certificate

from larm.errors import StorageError, refusing
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.json_file import read_json
from larm.peers.identity import Identity, is_signed
from larm.peers.yacy.hashes import belongs, own_hash
from larm.peers.yacy.membership import PING_PERIOD
from larm.peers.yacy.seed import Seed, is_good


class Mode(StrEnum):
    """Of a peer. All but the first are Robinson's: they neither take nor send references."""

    DHT = "dht"
    """A part of the network."""
    PRIVATE = "private-peer"
    """Has to do with nobody."""
    PRIVATE_CLUSTER = "private-cluster"
    """Searches among the peers of its cluster, which alone it answers."""
    PUBLIC_CLUSTER = "public-cluster"
    """The same, and answers everybody."""
    PUBLIC = "public-peer"
    """Alone, and answers everybody."""

    @property
    def shares(self) -> bool:
        """It takes and sends references."""
        return self is Mode.DHT


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What its user has chosen, and what was chosen once for it."""

    hash: str
    born: int
    """When that was."""
    network: str
    name: str = ""
    ip: str = ""
    """Where it listens; empty where only others know."""
    port: int = 0
    pin: str = ""
    """Hash of the key of its certificate; empty: it has none."""
    mode: Mode = Mode.DHT
    tags: tuple[str, ...] = ()
    cluster: tuple[str, ...] = ()
    """Hashes of the members of its cluster (YACY-42)."""
    kinds: frozenset[str] = frozenset()
    """Of addresses, beside public ones, that it asks when others tell of them (`larm.peers.addresses`)."""
    crawls: bool = False
    """For others (YACY-39)."""
    publishes: bool = False
    """Its seed list, where others find it: a principal."""
    redundancy: int = 3
    ping: float = PING_PERIOD
    young: float = 3 * 86_400.0
    """Seconds that a peer must be old to get references (YACY-27)."""


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


def pin_of(certificate: Path | None) -> str:
    """Return the hash of the key of a certificate, as RFC 7469 has it; empty: there is none. Raises UsageError."""
    if certificate is None:
        return ""
    with refusing(f"serve.certificate {certificate}: it can't be used", OSError, ValueError):
        key = load_pem_x509_certificate(certificate.read_bytes()).public_key()
    data = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"sha256//{base64.b64encode(hashlib.sha256(data).digest()).decode('ascii')}"
