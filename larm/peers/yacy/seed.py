"""Seed: a peer's signed description of itself, as JSON (YACY-15, 16). Pure.

Seeds pass through many hands, so a seed proves itself: its hash belongs to its key, and its key has signed its text. Peers hand
on that text unchanged, so fields of a later version keep their signature. Of two seeds the one signed later counts. Whether the
peer answers is not in it, since only others know that.
"""

from enum import StrEnum
from functools import lru_cache
from typing import Annotated

import msgspec
from msgspec import Meta

from larm.kit.decoding import decoded
from larm.peers.identity import Signer, Verify
from larm.peers.yacy.hashes import belongs, is_hash

LARGEST = 16_000
"""Characters of a seed at most."""
_REMEMBERED = 10_000
"""Number of seeds whose reading is cached, since peers repeat them: some 10 MB, as only those of usual size are cached."""
_USUAL = 1_000
"""Characters of a seed of usual size, at most; most have some 500."""
_PURPOSE = "yacy seed"


class PeerType(StrEnum):
    """The type of a peer, as others found it (YACY-12)."""

    VIRGIN = "virgin"
    """It has met no network."""
    JUNIOR = "junior"
    """Others can't reach it. It searches and sends."""
    SENIOR = "senior"
    """It answers, too."""
    PRINCIPAL = "principal"
    """A senior that publishes a seed list."""


class BadSeedError(ValueError):
    """Malformed text, or a seed that proves to be another peer's; ``str()`` has the reason."""


_Number = Annotated[int, Meta(ge=0, lt=10**18)]


class Seed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The description of one peer at one moment."""

    hash: str
    name: str = ""
    type: PeerType = PeerType.VIRGIN
    ip: str = ""
    port: Annotated[int, Meta(ge=0, lt=65_536)] = 0
    born: _Number = 0
    """Time at which its hash was made, in seconds since 1970."""
    takes: bool = False
    """It takes references of others (YACY-17: remote index)."""
    crawls: bool = False
    """It crawls for others (YACY-17: remote crawl)."""
    words: _Number = 0
    """Number of words of which it has references."""
    key: str = ""
    """Its public key."""
    links: _Number = 0
    """Number of its own documents that are shared."""
    stamp: _Number = 0
    """Time of the signature: the peer was there then."""
    network: str = ""
    orders: _Number = 0
    """Number of addresses that others are to crawl for it."""
    tags: tuple[str, ...] = ()
    version: str = ""
    pin: Annotated[str, Meta(pattern=r"^(sha256//[A-Za-z0-9+/]{43}=)?\Z")] = ""
    """Hash of its certificate's key, by which it is asked over TLS; empty: it is asked without."""
    wire: str = ""
    """The signature, a space, and the signed text; not a part of the text."""

    @property
    def address(self) -> str:
        """The place where it is asked: ``192.0.2.1:8090``; empty if it names none."""
        place = f"[{self.ip}]" if ":" in self.ip else self.ip
        return f"{place}:{self.port}" if self.ip and self.port else ""

    @property
    def reachable(self) -> bool:
        """True if others have reached it, so that it may be asked."""
        return self.type in {PeerType.SENIOR, PeerType.PRINCIPAL}

    def __repr__(self) -> str:
        return f"<Seed {self.hash} {self.name} {self.type} {self.address}>"


def signed(seed: Seed, signer: Signer) -> Seed:
    """Return the seed with the signer's key and signature."""
    seed = msgspec.structs.replace(seed, key=signer.key, wire="")
    text = msgspec.json.encode(seed)
    return msgspec.structs.replace(seed, wire=f"{signer.sign(_PURPOSE, text)} {text.decode()}")


def check(seed: Seed, verify: Verify) -> None:
    """Verify that its own peer has made it. Raises BadSeedError."""
    if not belongs(seed.hash, seed.key):
        raise BadSeedError("its hash is not one of its key")
    signature, _, text = seed.wire.partition(" ")
    if read_seed(seed.wire) != seed or not verify(seed.key, _PURPOSE, text.encode(), signature):
        raise BadSeedError("its signature is not that of its key")


def is_good(seed: Seed, verify: Verify) -> bool:
    """Return True if its own peer has made it."""
    try:
        check(seed, verify)
    except BadSeedError:
        return False
    return True


def read_seed(wire: str) -> Seed:
    """Read a line with a seed, without verifying the signature (`check` does). Raises BadSeedError."""
    return _read_again(wire) if len(wire) <= _USUAL else _read(wire)


def _read(wire: str) -> Seed:
    if len(wire) > LARGEST:
        raise BadSeedError(f"it has more than {LARGEST:,} characters")
    try:
        seed = decoded(wire.partition(" ")[2].encode(), Seed)
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise BadSeedError(str(error)) from error
    if not is_hash(seed.hash) or seed.wire or "\n" in wire:
        raise BadSeedError("it has no hash, or more than a seed has")
    return msgspec.structs.replace(seed, wire=wire)


_read_again = lru_cache(_REMEMBERED)(_read)
