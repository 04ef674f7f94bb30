"""Profile: the settings of a peer; its mode is the extent of its dealings with others (YACY-41, 42). Constant.

Birth: its hash and the time of its first start (YACY-24). Read on the main thread.
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
    """The mode of a peer. All but the first are Robinson modes: they neither take nor send references."""

    DHT = "dht"
    """It takes part in all of the network."""
    PRIVATE = "private-peer"
    """It deals with no other peer."""
    PRIVATE_CLUSTER = "private-cluster"
    """It searches the peers of its cluster, and answers only them."""
    PUBLIC_CLUSTER = "public-cluster"
    """The same, and it answers all peers."""
    PUBLIC = "public-peer"
    """It searches alone, and answers all peers."""

    @property
    def shares(self) -> bool:
        """True if it takes and sends references."""
        return self is Mode.DHT


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one peer."""

    hash: str
    born: int
    """Time of its first start, in seconds since 1970."""
    network: str
    name: str = ""
    ip: str = ""
    """The address where it listens; empty if only others know it."""
    port: int = 0
    pin: str = ""
    """Hash of the key of its certificate; empty: it has none."""
    mode: Mode = Mode.DHT
    tags: tuple[str, ...] = ()
    cluster: tuple[str, ...] = ()
    """Hashes of the members of its cluster (YACY-42)."""
    kinds: frozenset[str] = frozenset()
    """Kinds of addresses, beside public ones, that it asks when others name them (`larm.peers.addresses`)."""
    crawls: bool = False
    """True if it crawls for others (YACY-39)."""
    publishes: bool = False
    """True if it publishes its seed list: a principal."""
    redundancy: int = 3
    ping: float = PING_PERIOD
    young: float = 3 * 86_400.0
    """Age in seconds from which a peer gets references (YACY-27)."""


class Birth(msgspec.Struct, frozen=True):
    """The contents of ``peer.json``."""

    hash: str
    born: int
    """Time of the first start, in seconds since 1970."""


def birth_of(path: Path, identity: Identity, lists: Callable[[], Sequence[Seed]], random: Random, now: int) -> Birth:
    """Return the contents of the file. If there is none, this start is the first. Raises StorageError."""
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
