"""GroupSecret: words that all of a private group know, by which they know each other beside their keys. Constant; any thread.

It never leaves the machine: a message carries a mark that only who knows it can make, of the message's own signature, so it is
good for this message alone.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from pathlib import Path

from larm.errors import StorageError
from larm.kit.disk.secret_file import read_secret

HEADER = "larm-group"
_SHORTEST = 16
"""Characters: whoever hears a message may try guesses for as long as he likes."""
_COST = 1 << 14
"""Of scrypt: 50 ms for each guess, and once for us."""


class GroupSecret:
    """Of one group."""

    def __init__(self, secret: str) -> None:
        # constant after construction
        self._key = hashlib.scrypt(secret.encode("utf-8", "replace"), salt=b"larm group", n=_COST, r=8, p=1, dklen=32)

    @classmethod
    def opened(cls, path: Path) -> GroupSecret:
        """The one in the file. Raises StorageError, also for a file that others can read."""
        secret = read_secret(path, "secret")
        if len(secret) < _SHORTEST:
            raise StorageError(f"{path}: expected {_SHORTEST} characters or more; 'openssl rand -base64 24' makes some")
        return cls(secret)

    def mark(self, text: str) -> str:
        """What shows that whoever made the text knows the secret."""
        return base64.urlsafe_b64encode(hmac.digest(self._key, text.encode("utf-8", "replace"), "sha256")).decode("ascii")

    def fits(self, mark: str, text: str) -> bool:
        """It is the text's."""
        return hmac.compare_digest(mark.encode("utf-8", "replace"), self.mark(text).encode("ascii"))
