"""SiteTable: which section of ``sites`` in config.yaml a host belongs to. Any thread: constant but for its memory."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Generic, TypeVar

from larm.model.url import Url

T = TypeVar("T")
_KEPT = 10_000
"""Hosts whose section is remembered."""


class SiteTable(Generic[T]):
    """By patterns for hosts, in their order: the first that matches counts.

    A pattern is a name, or has ``*``: ``*.example.org``; with a port it is for this one, with a scheme for this one alone.
    """

    def __init__(self, sections: Mapping[str, T]) -> None:
        # constant after construction
        self._sections = {pattern.lower(): value for pattern, value in sections.items()}
        # single operations, on any thread; a race looks twice
        self._known: dict[str, T | None] = {}

    def __bool__(self) -> bool:
        return bool(self._sections)

    def of_host(self, host: str) -> T | None:
        """``host``: its key, whatever the scheme: what is said of a scheme alone does not count."""
        return self._find(host, "")

    def of_url(self, url: Url) -> T | None:
        """The section of an address."""
        return self._find(url.origin.partition("://")[2], url.access.partition(":")[0])

    def _find(self, host: str, scheme: str) -> T | None:
        if not self._sections:
            return None
        key = f"{scheme}://{host}"
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known = {}
            self._known[key] = next(
                (value for pattern, value in self._sections.items() if _matches(pattern, host, scheme)), None
            )
        return self._known[key]


def _matches(pattern: str, host: str, scheme: str) -> bool:
    wanted, there, name = pattern.rpartition("://")
    if there and wanted != scheme:
        return False
    bare = host if host.startswith("[") else host.partition(":")[0]
    return fnmatchcase(host, name) or fnmatchcase(bare, name)
