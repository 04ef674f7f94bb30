"""Groups: the keys of the peers in each group (YOUS-20), from the configuration and a file or service. Any thread.

A service is an address with JSON: ``{"harbour": ["KEY", "KEY"]}``. It is read once in a period; while it does not answer, its
last answer holds. It decides which peers are asked in a group, and which of them are ranked as one index.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from larm.errors import UsageError
from larm.fetch.http_client import HttpClient, NoAnswer
from larm.kit.decoding import decoded

_MOST = 4_000_000
"""Bytes: 80,000 keys."""
_SECONDS = 10.0
_Told = dict[Annotated[str, Meta(max_length=200)], tuple[Annotated[str, Meta(max_length=64)], ...]]


class Groups:
    """Groups that one peer knows."""

    def __init__(
        self, configured: Mapping[str, Collection[str]], source: str, http: HttpClient, *, everybody: bool = False
    ) -> None:
        """``source``: an address, or a file; empty: there is none. ``everybody``: all peers that answer are of one group."""
        # constant after construction
        self._everybody = everybody
        self._configured = {name.lower(): frozenset(keys) for name, keys in configured.items()}
        self._source = source
        self._http = http
        # replaced as a whole
        self._told: Mapping[str, frozenset[str]] = {}

    def look(self) -> str:
        """Read the source. Return an empty text, or half a sentence that says why it failed."""
        if not self._source:
            return ""
        try:
            told = decoded(self._read(), _Told)
        except (UsageError, OSError, msgspec.MsgspecError) as error:
            return f"groups of {self._source}: {error}"
        self._told = {name.lower(): frozenset(keys) for name, keys in told.items()}
        return ""

    def has(self, key: str) -> bool:
        """Return True if the key is in any group."""
        return self._everybody or any(key in keys for each in (self._configured, self._told) for keys in each.values())

    def members(self, names: Iterable[str]) -> frozenset[str]:
        """Return the keys of all peers in these groups; ``names`` are in lower case."""
        told = self._told
        return frozenset[str]().union(*(each.get(name, frozenset()) for name in names for each in (self._configured, told)))

    def _read(self) -> bytes:
        if not self._source.startswith(("http://", "https://")):
            return Path(self._source).expanduser().read_bytes()[:_MOST]
        came = self._http.ask("GET", self._source, {"accept": "application/json"}, b"", seconds=_SECONDS, most=_MOST)
        if isinstance(came, NoAnswer):
            raise UsageError(came.reason)
        if came.status != 200:
            raise UsageError(f"it answers {came.status}")
        return came.body
