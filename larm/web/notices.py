"""Notices: what a command has answered, for the page that is shown after it. On the event loop.

The page is another request, so that going back or reloading does not ask twice; and its address must not be able to put words
into our mouth.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

_MOST = 100


class Notices:
    """Each is taken once."""

    def __init__(self) -> None:
        # only the event loop
        self._kept: dict[str, Sequence[str]] = {}

    def put(self, sentences: Sequence[str]) -> str:
        """By what it is taken."""
        while len(self._kept) >= _MOST:
            del self._kept[next(iter(self._kept))]
        key = secrets.token_urlsafe(8)
        self._kept[key] = sentences
        return key

    def take(self, key: str) -> Sequence[str]:
        """Empty for one that is not there, or not any more."""
        return self._kept.pop(key, ())
