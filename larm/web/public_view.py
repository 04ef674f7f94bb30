"""PublicView: the directories as visitors of a public search see them, who are not signed in. Any thread.

They learn nothing of pages that they could not have had themselves, not even by counting: files, but those that a peer shares,
and what `larm.model.restriction` names. No sentence names a path of this machine.
Implements what `larm.web.directories.Directories` answers about searching.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from starlette.requests import Request

from larm.index.search.web_pages import WebPages
from larm.model.findings import Asked, Findings, WordStatistics
from larm.model.restriction import OpenTo
from larm.seams import Searcher
from larm.web.directories import Directories, Served


def directories_of(request: Request) -> Directories | PublicView:
    """What who asks may see of them."""
    state = request.app.state
    directories: Directories = state.directories
    return PublicView(directories) if state.access.is_stranger(request) else directories


class PublicView:
    """Constant after construction."""

    def __init__(self, whole: Directories) -> None:
        self._whole = whole

    def all(self) -> list[Served]:
        """Those of which everybody may see all."""
        return [each for each in self._whole.all() if self._whole.is_open(each)]

    def named(self, names: Iterable[str]) -> list[Served]:
        """Of these, those with these names."""
        wanted = set(names)
        return [each for each in self.all() if each.name in wanted]

    def searchers(self, names: Iterable[str] = ()) -> list[Searcher]:
        """Of all, or of those with these names; here and elsewhere."""
        wanted, whole = set(names), self._whole
        found: list[Searcher] = [
            _Discreet(whole.published(each), "owner" if whole.shared(each) else whole.open_to)
            if whole.is_open(each)
            else _Discreet(WebPages(each.searcher, whole.open_to), whole.open_to)
            for each in whole.all()
        ]
        found += [_Discreet(WebPages(each, whole.open_to), whole.open_to) for each in whole.machines()]
        found += self._whole.peers
        return [each for each in found if each.name in wanted] if wanted else found

    def are_far(self, searchers: Iterable[Searcher]) -> bool:
        """Whether other machines are among them."""
        return self._whole.are_far(searchers)


class _Discreet:
    """A searcher for some readers, whose failures name no paths. Implements `larm.seams.Searcher`."""

    def __init__(self, searcher: Searcher, open_to: OpenTo) -> None:
        self.name = searcher.name
        self._searcher = searcher
        self._open_to = open_to

    def statistics(self, asked: Asked) -> WordStatistics | None:
        return self._searcher.statistics(asked)

    def search(self, asked: Asked) -> Iterator[Findings]:
        for part in self._searcher.search(msgspec.structs.replace(asked, open_to=self._open_to)):
            yield msgspec.structs.replace(part, failure="it can't be searched just now") if part.failure else part
