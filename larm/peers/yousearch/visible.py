"""Visible: who may see which share (YOUS-40): all may see most, and some are for groups alone. Any thread.

Asked at each question and each file, so who leaves a group sees nothing more from then on.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from larm.index.search.shared import SharedSearcher
from larm.index.search.web_pages import WebPages
from larm.model.findings import Asked, Findings, WordStatistics
from larm.model.hit import Hit
from larm.model.restriction import OpenTo
from larm.peers.yousearch.groups import Groups
from larm.peers.yousearch.shares import Shares
from larm.seams import Searcher


class Visible:
    """Constant after construction."""

    def __init__(self, shares: Shares, groups: Groups, open_to: OpenTo, *, copies: bool = False) -> None:
        """``open_to``: the readers whose web pages are shown. ``copies``: everybody may open the stored copies of these."""
        self._shares = shares
        self._groups = groups
        self._open_to: OpenTo = open_to
        self._copies = copies

    def hidden(self, key: str) -> frozenset[str]:
        """Names of shares that are not for who has this key; empty: for who has none."""
        return frozenset(name for name, groups in self._shares.only.items() if key not in self._groups.members(groups))

    @property
    def more(self) -> bool:
        """Something is for groups alone."""
        return any(share.name in self._shares.only for share in self._shares.all)

    def told(self, directories: Iterable[Path]) -> dict[Path, OpenTo]:
        """Return the directories whose words everybody may learn, and of which pages: all of a share, else only open ones."""
        shares = {share.directory.absolute(): share.name for share in self._shares.named}
        told = [path for path in directories if shares.get(path) not in self._shares.only]
        return {path: "owner" if path in shares else self._open_to for path in told}

    def searchers(self, key: str, all_of_them: Mapping[Path, SharedSearcher]) -> list[Searcher]:
        """Those of the directories that are for him, with addresses that he can open; files of shared folders alone."""
        hidden = self.hidden(key)
        shares = {share.directory.absolute(): share.name for share in self._shares.named}
        return [
            PublishedSearcher(searcher, self._shares, hidden)
            if path in shares
            else WebPages(searcher, self._open_to, copies=self._copies)
            for path, searcher in all_of_them.items()
            if shares.get(path) not in hidden
        ]


class PublishedSearcher:
    """A shared folder as others see it: each hit has an address that they can open, or is left out. Implements
    `larm.seams.Searcher`; constant after construction."""

    def __init__(self, searcher: SharedSearcher, shares: Shares, hidden: Collection[str] = ()) -> None:
        """``hidden``: names of shares of which nothing is shown."""
        self.name = searcher.name
        self._searcher = searcher
        self._shares = shares
        self._hidden = hidden

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """As the index has them."""
        return self._searcher.statistics(asked)

    def search(self, asked: Asked) -> Iterator[Findings]:
        """The same parts, with addresses for others."""
        for part in self._searcher.search(asked):
            hits = tuple(hit for each in part.hits if (hit := self._published(each)) is not None)
            left_out = len(part.hits) - len(hits)
            exact = part.exact and not left_out
            yield msgspec.structs.replace(part, hits=hits, total=part.total - left_out, exact=exact)

    def _published(self, hit: Hit) -> Hit | None:
        address = self._shares.address(hit.url, self._hidden)
        return None if address is None else msgspec.structs.replace(hit, url=address)
