"""Recommended: what people recommend for a query, as a searcher (YOUS-8, 29). Implements `larm.seams.Searcher`; any thread.

The user's own recommendations come first, then those of named authors, then anonymous ones. For a query in a group those of its
members replace all other results (YOUS-30), see `Recommended.kept`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

from larm.index.search.snippets import safe_line
from larm.model.findings import Asked, Findings, WordStatistics
from larm.model.hit import Hit
from larm.peers.channel import Channel, Contact
from larm.peers.identity import Identity
from larm.peers.strangers import findings_of
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.canonical import canonical
from larm.peers.yousearch.groups import Groups
from larm.peers.yousearch.recommendations import Recommendation, is_good
from larm.seams import Clock

_MOST = 100
_LARGEST = 1_500_000


class Recommended:
    """Recommendations of all peers, as one person sees them."""

    def __init__(
        self,
        channel: Channel,
        registrars: Callable[[], Sequence[Contact]],
        *,
        own: Callable[[], Sequence[Recommendation]],
        groups: Groups,
        timeout: float,
        clock: Clock,
        signed: bool,
    ) -> None:
        """``own``: recommendations of this person. ``signed``: registrars learn the key of ``channel``."""
        # constant after construction
        self.name = "recommended"
        self._channel = channel
        self._registrars = registrars
        self._own = own
        self._groups = groups
        self._signed = signed
        self._timeout = timeout
        self._clock = clock

    def statistics(self, _: Asked) -> WordStatistics | None:
        """Return None: an address has no statistics."""
        return None

    def search(self, asked: Asked) -> Iterator[Findings]:
        """Yield one part; own recommendations are there without a registrar, too."""
        yield self._part(self._said(asked) if asked.page == 1 else [])

    def kept(self, asked: Asked) -> KeptResults | None:
        """Return what members of the query's groups recommend for it; None if the query has no group, or nothing is kept."""
        groups = canonical(asked.query).groups
        members = self._groups.members(groups) | {each.author for each in self._own()} if groups else ()
        said = [each for each in self._said(asked) if each.author in members] if members else []
        note = f"these results are kept for this query in group:{', group:'.join(groups)}"
        return KeptResults(msgspec.structs.replace(self._part(said), notes=(note,))) if said else None

    def _said(self, asked: Asked) -> list[Recommendation]:
        query = canonical(asked.query).key
        if not query:
            return []
        shelf = self._own()
        mine = {each.author for each in shelf}  # what was taken back may not be known there yet
        others = [each for each in self._ask(query, seconds_for(asked, self._timeout)) if each.author not in mine]
        others.sort(key=lambda each: (not each.name, -each.made))
        return [*(each for each in shelf if each.query == query and not each.gone), *others][:_MOST]

    def _part(self, said: Sequence[Recommendation]) -> Findings:
        mine = {each.author for each in self._own()}
        hits = [_hit(each, mine, float(-rank)) for rank, each in enumerate(said)]
        part = findings_of(self.name, Findings(searcher=self.name, hits=tuple(hits), total=len(hits)), _MOST, trusted=False)
        sources = {hit.url: hit.source for hit in reversed(hits)}
        named = tuple(msgspec.structs.replace(hit, source=sources.get(hit.url, self.name)) for hit in part.hits)
        return msgspec.structs.replace(part, hits=named)

    def _ask(self, query: str, seconds: float) -> list[Recommendation]:
        """Ask the registrars until one answers. It can leave some out, but forge none."""
        registrars = self._registrars()
        for registrar in registrars:
            answer = self._channel.ask(
                registrar,
                say.RECOMMENDED,
                say.Recommended(query),
                say.Recommend,
                seconds=seconds / len(registrars),
                most=_LARGEST,
                as_whom=None if self._signed else Identity.new(),
            )
            if isinstance(answer, say.Recommend):
                now = self._clock.wall()
                return [each for each in answer.said[:_MOST] if each.query == query and not each.gone and is_good(each, now)]
        return []


class KeptResults:
    """Results that replace a search. Implements `larm.seams.Searcher`; constant after construction."""

    def __init__(self, part: Findings) -> None:
        self.name = part.searcher
        self._part = part

    def statistics(self, _: Asked) -> WordStatistics | None:
        """Return None: there are none."""
        return None

    def search(self, asked: Asked) -> Iterator[Findings]:
        """Yield one page of them."""
        first = asked.number * (asked.page - 1)
        yield msgspec.structs.replace(self._part, hits=self._part.hits[first : first + asked.number])


def seconds_for(asked: Asked, timeout: float) -> float:
    """Return the seconds that other machines have to answer: less than the caller waits, and at most ``timeout``."""
    times = [timeout, asked.wait, None if asked.seconds is None else asked.seconds * 0.9]
    return min(each for each in times if each is not None)


def _hit(said: Recommendation, mine: Collection[str], score: float) -> Hit:
    if said.author in mine:
        source = "your recommendations"
    else:
        name = safe_line(said.name).strip() or said.author[:8]
        source = f"recommendations of {name}" if said.name else "anonymous recommendations"
    return Hit(title=said.title, url=said.url, source=source, score=score)
