"""PublicView: the directories as visitors of a public search see them, who are not signed in. Any thread.

Beside what a peer shares, they learn nothing of files that they could not open, not even by counting; who serves a crawl of
files alone, without a peer, has meant it. No sentence names a path of this machine.
Implements what `larm.web.directories.Directories` answers about searching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from larm.model.findings import Asked, Findings, WordStatistics
from larm.seams import Searcher

if TYPE_CHECKING:
    from larm.web.directories import Directories, Served


class PublicView:
    """Constant after construction."""

    def __init__(
        self, whole: Directories, closed: Callable[[Served], bool], published: Callable[[Served, bool], Searcher]
    ) -> None:
        """``closed``: some files of it are not for everybody. ``published``: its searcher; True: of web pages alone."""
        self._whole = whole
        self._closed = closed
        self._published = published

    def all(self) -> list[Served]:
        """Those of which everybody may see all."""
        return [each for each in self._whole.all() if not self._closed(each)]

    def named(self, names: Iterable[str]) -> list[Served]:
        """Of these, those with these names."""
        wanted = set(names)
        return [each for each in self.all() if each.name in wanted]

    def searchers(self, names: Iterable[str] = ()) -> list[Searcher]:
        """Of all, or of those with these names; here and elsewhere."""
        wanted = set(names)
        found: list[Searcher] = [_Discreet(self._published(each, True)) for each in self._whole.all()]
        found += self._whole.elsewhere()
        return [each for each in found if each.name in wanted] if wanted else found

    def are_far(self, searchers: Iterable[Searcher]) -> bool:
        """Whether other machines are among them."""
        return self._whole.are_far(searchers)


class _Discreet:
    """A searcher whose failures name no paths. Implements `larm.seams.Searcher`."""

    def __init__(self, searcher: Searcher) -> None:
        self.name = searcher.name
        self._searcher = searcher

    def statistics(self, asked: Asked) -> WordStatistics | None:
        return self._searcher.statistics(asked)

    def search(self, asked: Asked) -> Iterator[Findings]:
        for part in self._searcher.search(asked):
            yield msgspec.structs.replace(part, failure="it can't be searched just now") if part.failure else part
