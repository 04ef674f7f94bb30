"""Identity: the Ed25519 key of a peer. The only file that makes keys, with the written form of keys and signatures.

A public key, 43 characters of base64url, names a peer. Constant after construction; thread-safe.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from larm.errors import StorageError
from larm.kit.disk.secret_file import read_secret

KEY_LENGTH = 43
"""Characters of a public key."""
_SECRET = 32
_PREFIX = b"larm peer\0"
"""Prefix of all data that is signed outside HTTP, so that no such signature is valid for a request."""


Verify = Callable[[str, str, bytes, str], bool]
"""(public key, purpose, data, signature): return True if the key has signed the data for this purpose. Never raises."""


class Signer(Protocol):
    """The part of an `Identity` that others use. The simulation of a network has cheap ones."""

    @property
    def key(self) -> str:
        """The public key, in 43 characters."""

    def sign(self, purpose: str, data: bytes) -> str:
        """Return a signature, good for this purpose alone, in 86 characters."""


class Identity:
    """A key pair."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self.private = private
        self.key = text_of(private.public_key().public_bytes_raw())
        """The public key."""

    @classmethod
    def new(cls) -> Identity:
        """Return a new identity; also for one request alone."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def opened(cls, path: Path) -> Identity:
        """Return the identity in a file, or make one there. Raises StorageError, also for a file that others can read."""
        secret = bytes_of(read_secret(path, "key", lambda: cls.new().secret))
        if secret is None or len(secret) != _SECRET:
            raise StorageError(f"{path}: not a peer's key; remove it, and the next start makes a new one")
        return cls(Ed25519PrivateKey.from_private_bytes(secret))

    @classmethod
    def of_secret(cls, secret: str) -> Identity:
        """Return the identity with this `secret`. Raises ValueError."""
        return cls(Ed25519PrivateKey.from_private_bytes(bytes_of(secret) or b""))

    @property
    def secret(self) -> str:
        """The private key, which must not leave this machine."""
        return text_of(self.private.private_bytes_raw())

    def sign(self, purpose: str, data: bytes) -> str:
        """Return a signature that is valid for this purpose alone."""
        return text_of(self.private.sign(_bound(purpose, data)))

    def __repr__(self) -> str:
        return f"<Identity {self.key}>"


def public_key(key: str) -> Ed25519PublicKey | None:
    """Return the public key of 43 characters; None for other text."""
    data = bytes_of(key) if len(key) == KEY_LENGTH else None
    if data is None:
        return None
    try:
        return Ed25519PublicKey.from_public_bytes(data)
    except ValueError:
        return None


def is_signed(key: str, purpose: str, data: bytes, signature: str) -> bool:
    """Return True if the owner of the key has signed the data for this purpose."""
    public, signed = public_key(key), bytes_of(signature)
    if public is None or signed is None:
        return False
    try:
        public.verify(signed, _bound(purpose, data))
    except InvalidSignature:
        return False
    return True


def text_of(data: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def bytes_of(text: str) -> bytes | None:
    """Return the bytes of base64url without padding; None for other text."""
    try:
        data = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if text_of(data) == text else None  # the one text for these bytes


def _bound(purpose: str, data: bytes) -> bytes:
    return _PREFIX + purpose.encode() + b"\0" + data
