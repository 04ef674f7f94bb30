"""Directories: which crawls are served, each by a short name; and `PublicView`, as visitors see them. Any thread.

The only way from a request to a path is a look-up here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from starlette.requests import Request

from larm.building.searching import opener
from larm.config import SearchSettings
from larm.crawldir.form import MARKER
from larm.errors import StorageError
from larm.index.search.shared import SharedSearcher
from larm.index.search.web_pages import WebPages
from larm.kit.disk.files import is_there
from larm.model.findings import Asked, Findings, WordStatistics
from larm.model.restriction import OpenTo
from larm.seams import Searcher


class Served:
    """One directory. Constant after construction."""

    def __init__(self, name: str, path: Path, searcher: SharedSearcher) -> None:
        self.name = name
        self.path = path
        self.searcher = searcher

    def __repr__(self) -> str:
        return f"<Served {self.name} {self.path}>"


class Directories:
    """Those that were named, and all crawls directly below the root, also those that come later."""

    def __init__(
        self,
        named: Sequence[Path],
        root: Path | None,
        search: SearchSettings,
        remotes: Sequence[Searcher] = (),
        peers: Sequence[Searcher] = (),
        *,
        visitors: Sequence[Searcher] | None = None,
        agents: Callable[[Sequence[Path]], Sequence[Searcher]] = lambda _: (),
        more: Callable[[], Mapping[Path, str]] = dict,
        published: Callable[[Served], Searcher] = lambda served: served.searcher,
        shared: Callable[[Served], bool] = lambda _: False,
        hidden: Callable[[Served], bool] = lambda _: False,
        opened_at: Callable[[str], str] = str,
        kept: Callable[[Asked], Searcher | None] = lambda _: None,
        open_to: OpenTo = "anybody",
    ) -> None:
        """``remotes``: the user's other machines, which are searched, too; ``peers``: others' machines. ``visitors``: the same
        as they are searched for visitors, with none of the user's keys; None: by ``peers``. ``opened_at`` returns the address
        at which the user's browser opens a result, ``kept`` results that replace a search. ``more``: further directories, which
        may come and go, by names; ``agents`` are those that have further parts of the crawls of our directories; ``published``
        makes a searcher that shows addresses which others can open. ``shared``: a directory is that of a shared folder;
        ``hidden``: visitors see nothing of it. ``open_to``: whose pages visitors see."""
        # constant after construction
        self.root = root
        self.remotes = tuple(remotes)
        self.peers = tuple(peers)
        self._opener = opener(search)
        self.published = published
        self.shared = shared
        self.hidden = hidden
        self.opened_at = opened_at
        self.kept = kept
        self.visitors = self.peers if visitors is None else tuple(visitors)
        self.open_to = open_to
        self._more = more
        self._agents = agents
        self._named = [path.absolute() for path in named]
        self._lock = threading.Lock()
        # guarded by self._lock
        self._known: dict[Path, Served] = {}

    def all(self) -> list[Served]:
        """In the order in which they were named, then those of the root by their names."""
        more = {path.absolute(): name for path, name in self._more().items()}
        found = [*self._named, *self._below(), *more]
        with self._lock:
            for path in found:
                if path not in self._known:
                    self._known[path] = self._new(path, more.get(path) or path.resolve().name)
            return [self._known[path] for path in dict.fromkeys(found)]

    def named(self, names: Iterable[str]) -> list[Served]:
        """Those with these names; unknown ones are left out."""
        wanted = set(names)
        return [each for each in self.all() if each.name in wanted]

    def searchers(self, names: Iterable[str] = ()) -> list[Searcher]:
        """Of all, or of those with these names; here and elsewhere."""
        wanted = set(names)
        found = [*(self.published(each) for each in self.all()), *self.machines(), *self.peers]
        return [each for each in found if each.name in wanted] if wanted else found

    def machines(self) -> list[Searcher]:
        """Those of the user elsewhere, and further parts of the crawls that are here."""
        return [*self.remotes, *self._agents([each.path for each in self.all()])]

    def is_open(self, served: Served) -> bool:
        """Return True if visitors may see all of it: they could have had each page, or it is a share."""
        return self.shared(served) or served.searcher.is_all_open(self.open_to)

    def is_closed(self, url: str) -> bool:
        """Return True if a crawl has a page with this address that visitors may not see. Raises StorageError."""
        found = [each.searcher for each in self.all() if not self.shared(each) and each.searcher.page(url) is not None]
        return any(searcher.page(url, self.open_to) is None for searcher in found)

    def are_far(self, searchers: Iterable[Searcher]) -> bool:
        """Whether other machines are among them."""
        here = {each.name for each in self.all()}
        return any(each.name not in here for each in searchers)

    def _below(self) -> list[Path]:
        if self.root is None:
            return []
        try:
            return sorted(path for path in self.root.absolute().iterdir() if self._is_crawl(path))
        except OSError:
            return []

    def _is_crawl(self, path: Path) -> bool:
        """A folder of somebody else's, as lost+found is, is none; what was one tells itself why it can't be read."""
        try:
            return is_there(path / MARKER)
        except StorageError:
            with self._lock:
                return path in self._known

    def _new(self, path: Path, first: str) -> Served:
        first = first or "crawl"
        taken = {each.name for each in self._known.values()} | {each.name for each in (*self.remotes, *self.peers)}
        name, number = first, 1
        while name in taken:
            number += 1
            name = f"{first}-{number}"
        return Served(name, path, SharedSearcher(name, self._opener(path)))


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
        return [each for each in self._all() if self._whole.is_open(each)]

    def opened_at(self, url: str) -> str:
        """Return the address at which a browser opens a result."""
        return url

    def kept(self, _: Asked) -> Searcher | None:
        """Return None: nothing is kept for visitors."""
        return None

    def _all(self) -> list[Served]:
        return [each for each in self._whole.all() if not self._whole.hidden(each)]

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
            for each in self._all()
        ]
        found += [_Discreet(WebPages(each, whole.open_to), whole.open_to) for each in whole.machines()]
        found += whole.visitors
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
