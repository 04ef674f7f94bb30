"""Keys that cost nothing: whoever knows a key can sign with it. For tests of what signatures are asked for."""

from __future__ import annotations

import base64
import hashlib


class FakeKey:
    """Implements `larm.peers.yacy.asker.Signer`."""

    def __init__(self, number: int) -> None:
        self.key = _text(hashlib.sha256(b"%d" % number).digest())

    def sign(self, purpose: str, data: bytes) -> str:
        return _text(hashlib.sha512(f"{self.key} {purpose} ".encode() + data).digest())


def fake_verify(key: str, purpose: str, data: bytes, signature: str) -> bool:
    """What goes with `FakeKey`."""
    return _text(hashlib.sha512(f"{key} {purpose} ".encode() + data).digest()) == signature


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")
