"""Recommended: what people of a group recommend for a query, as a searcher (YOUS-8, 29). Implements `larm.seams.Searcher`.

One's own come first, then those of people who say who they are, then anonymous ones. Any thread.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from larm.index.search.snippets import safe_line
from larm.model.findings import Asked, Findings, WordStatistics
from larm.model.hit import Hit
from larm.peers.channel import Channel, Contact
from larm.peers.identity import Identity
from larm.peers.strangers import findings_of
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.canonical import canonical
from larm.peers.yousearch.recommendations import Recommendation, is_good
from larm.seams import Clock

_MOST = 100
_LARGEST = 1_500_000


class Recommended:
    """Of one peer."""

    def __init__(
        self,
        channel: Channel,
        registrars: Callable[[], Sequence[Contact]],
        own: Callable[[], Sequence[Recommendation]],
        timeout: float,
        clock: Clock,
        *,
        signed: bool,
    ) -> None:
        """``own``: recommendations of the person who searches. ``signed``: registrars learn the key of ``channel``."""
        # constant after construction
        self.name = "recommended"
        self._channel = channel
        self._registrars = registrars
        self._own = own
        self._signed = signed
        self._timeout = timeout
        self._clock = clock

    def statistics(self, _: Asked) -> WordStatistics | None:
        """There are none."""
        return None

    def search(self, asked: Asked) -> Iterator[Findings]:
        """One part. That no registrar answers is `Network`'s to say; one's own are there all the same."""
        query = canonical(asked.query).key
        shelf = self._own()
        own = {(each.author, each.url): each for each in shelf if each.query == query and not each.gone}
        others = [each for each in self._ask(query, seconds_for(asked, self._timeout)) if (each.author, each.url) not in own]
        mine = {each.author for each in shelf}
        others = [each for each in others if each.author not in mine]  # what was taken back may not be known there yet
        others.sort(key=lambda each: (not each.name, -each.made))
        hits = [_hit(each, "your recommendations") for each in own.values()]
        hits += [
            _hit(each, f"recommendations of {_name(each)}" if each.name else "anonymous recommendations") for each in others
        ]
        hits = hits[:_MOST] if asked.page == 1 and query else []
        ranked = tuple(msgspec.structs.replace(hit, score=float(-rank)) for rank, hit in enumerate(hits))
        part = findings_of(self.name, Findings(searcher=self.name, hits=ranked, total=len(ranked)), _MOST, trusted=False)
        sources = {hit.url: hit.source for hit in reversed(hits)}
        named = tuple(msgspec.structs.replace(hit, source=sources.get(hit.url, self.name)) for hit in part.hits)
        yield msgspec.structs.replace(part, hits=named)

    def _ask(self, query: str, seconds: float) -> list[Recommendation]:
        """Of the first registrar that answers; it can leave some out, but make none up."""
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


def seconds_for(asked: Asked, timeout: float) -> float:
    """Return the seconds that other machines have to answer: less than the caller waits, and at most ``timeout``."""
    times = [timeout, asked.wait, None if asked.seconds is None else asked.seconds * 0.9]
    return min(each for each in times if each is not None)


def _hit(said: Recommendation, source: str) -> Hit:
    return Hit(title=said.title, url=said.url, source=source)


def _name(said: Recommendation) -> str:
    return safe_line(said.name).strip() or said.author[:8]
