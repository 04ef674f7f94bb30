"""Scope filter: what belongs to this crawl (LARM-49). Handler thread, but for `Outside.recall`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from larm.errors import ConfigError
from larm.model.message import REDIRECT, URLMessage
from larm.seams import Drop

_KEPT = 50_000
"""URLs outside that are remembered: 5 MB."""


class Outside:
    """URLs of which it is known that they are outside: every page of a site leads to the same ones. By fingerprint.

    The handler thread writes, any thread asks: each is one operation on a set.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()

    def add(self, messages: Sequence[URLMessage]) -> None:
        """These are."""
        if len(self._known) >= _KEPT:
            self._known = set()
        self._known |= {message.url.fingerprint for message in messages}

    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        """See `larm.filters.chain.Recalling`."""
        return self._known.intersection(fingerprints)

    def forget(self) -> None:
        """They may be inside from now on."""
        self._known = set()


class ScopeFilter:
    """The regular expression must match the whole normalised URL, whatever its case."""

    name = "scope"
    log_name = "URLScopeFilter"

    def __init__(self, restrict_to: str) -> None:
        try:
            self._match = re.compile(restrict_to, re.IGNORECASE | re.DOTALL).fullmatch
        except (re.error, RecursionError, OverflowError) as error:
            raise ConfigError(f"restrictto: wrong expression {restrict_to!r}: {error}") from error
        self._pattern = restrict_to
        self._outside = Outside()
        self.recall = self._outside.recall

    def matches(self, normalised: str) -> bool:
        """Whether a URL is inside."""
        return self._match(normalised) is not None

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        match = self._match
        verdicts = [match(message.url.normalised) is not None for message in batch]
        if all(verdicts):
            return list(batch)
        outside = [message for message, inside in zip(batch, verdicts, strict=True) if not inside]
        self._outside.add(outside)
        drop(outside, "out of scope")
        return [message for message, inside in zip(batch, verdicts, strict=True) if inside]

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        if self._match(message.url.normalised):
            return None
        return f"{message.url.normalised} does not match {self._pattern} as a whole"


class StartHostsFilter:
    """The scope where no expression is given: the hosts of the start URLs, and where these redirect to.

    ``http://example.org/`` that only redirects to ``https://www.example.org/`` would otherwise be a crawl of nothing.
    """

    name = "scope"
    log_name = "URLScopeFilter"

    def __init__(self, hosts: Collection[str]) -> None:
        self.hosts = set(hosts)
        """Keys of hosts; only the handler thread adds to it."""
        self._outside = Outside()
        self.recall = self._outside.recall

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        hosts = self.hosts
        for message in batch:
            if message.link_type == REDIRECT and message.depth == 0 and message.url.host not in hosts:
                hosts.add(message.url.host)
                self._outside.forget()
        outside = [message for message in batch if message.url.host not in hosts]
        if not outside:
            return list(batch)
        self._outside.add(outside)
        drop(outside, "out of scope")
        return [message for message in batch if message.url.host in hosts]

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        if message.url.host in self.hosts:
            return None
        return f"{message.url.host} is not the host of a start URL (use -restrictto for another scope)"
