"""Merging: the answers of several indexes become one page of results, as they come. Pure, but for being filled.

What is the same is shown once, as it stands with the best score: the same address, or the same title and text under another
one. Two indexes may have the same pages, so of their numbers nobody knows the sum, unless all hits were seen: there are at
least as many as the one with most has. Scores of strangers mean nothing beside ours: then the places in the lists count. A
network that ranks as one index over all has the say about the pages that it knows, and what else is found is fitted in by the
scores of these.
"""

from collections.abc import Mapping, Sequence
from math import inf, nextafter

import msgspec

from larm.index.search.results import Results
from larm.model.facets import summed_facets
from larm.model.findings import MOST_HITS, Asked, Findings
from larm.model.hit import Hit

_RANKS = 60
"""How slowly places lose: the first of a list counts 1, the 61st one half, as in reciprocal rank fusion."""


class Merging:
    """For one question; one thread. ``searchers`` were asked, of which each counts with its weight (YIOOP-75)."""

    def __init__(self, asked: Asked, searchers: Sequence[str], weights: Sequence[float] = ()) -> None:
        # constant after construction
        self._asked = asked
        self._weights = dict(zip(searchers, weights, strict=True)) if weights else {}
        self._alone = len(searchers) == 1
        # only the calling thread
        self._waited = dict.fromkeys(searchers)
        self._parts: list[Findings] = []

    def add(self, part: Findings) -> None:
        """It has answered."""
        if not part.preliminary:
            self._waited.pop(part.searcher, None)
        if part.hits or not part.failure:
            self._parts = [each for each in self._parts if not (each.preliminary and each.searcher == part.searcher)]
        self._parts.append(part)

    def results(self, took: float, *, waiting: bool = False) -> Results:
        """Of what has come by now, ``took`` seconds after the question. ``waiting``: others may still answer."""
        asked = self._asked
        hits = [self._weighed(part, hit) for part in self._comparable() for hit in part.hits]
        hits.sort(key=_by_score if asked.sort == "relevance" else _by_date, reverse=True)
        kept = _distinct(hits, alike=asked.alike)
        first = 0 if self._alone else asked.number * (max(1, asked.page) - 1)
        finding = [part for part in self._parts if part.total]
        notes = [note for part in self._parts for note in part.notes]
        if finding and not self._alone:  # one index may have what another one says it lacks, and a network what all others do
            known = [part for part in finding if part.overall] or finding
            notes = [note for part in known for note in part.notes]
        if not self._alone and asked.number * asked.page > MOST_HITS:
            notes.append(f"of several indexes, the first {MOST_HITS:,} results can be looked at")
        unanswered = [f"{part.searcher} did not answer: {part.failure}" for part in self._parts if part.failure]
        if not waiting:
            unanswered += [f"{name} did not answer" + self._in_time() for name in self._waited]
        exact = not self._waited and all(part.exact for part in self._parts)
        if len(finding) <= 1:
            total, complete = sum(part.total for part in finding), sum(part.complete for part in finding)
        elif exact and all(part.total == len(part.hits) for part in finding):
            total, complete = len(kept), sum(hit.complete for hit in kept)
        else:
            exact = False
            total = max(len(kept), *(part.total for part in finding))
            complete = max(sum(hit.complete for hit in kept), *(part.complete for part in finding))
        return Results(
            query=asked.query,
            total=total,
            complete=complete,
            alike=sum(part.alike for part in self._parts) + len({hit.url for hit in hits}) - len(kept),
            exact=exact,
            hits=tuple(kept[first : first + asked.number]),
            facets=summed_facets(facet for part in finding for facet in part.facets),
            notes=tuple(dict.fromkeys(notes)),
            unanswered=tuple(unanswered),
            suggestion=self._suggestion(finding),
            instead=finding[0].instead if len(finding) == 1 else "",
            took=took,
        )

    def _comparable(self) -> list[Findings]:
        """Where scores of some mean nothing to the others, places count: those of all whose scores do are one list."""
        overall = next((part for part in reversed(self._parts) if part.overall and part.hits), None)
        known = {hit.url: hit.score for hit in overall.hits} if overall is not None else {}
        last = nextafter(min(known.values()), -inf) if overall is not None and overall.total > len(known) else None
        scored = [part if part is overall else _fitted(part, known, last) for part in self._parts if not part.by_rank]
        if len(scored) == len(self._parts):
            return scored
        order = sorted({hit.score for part in scored for hit in part.hits}, reverse=True)
        places = {score: score_of(rank) for rank, score in enumerate(order)}
        placed = [
            msgspec.structs.replace(
                part, hits=tuple(msgspec.structs.replace(hit, score=places[hit.score]) for hit in part.hits)
            )
            for part in scored
        ]
        return placed + [part for part in self._parts if part.by_rank]

    def _weighed(self, part: Findings, hit: Hit) -> Hit:
        if self._alone:
            return hit
        weight = self._weights.get(part.searcher, 1.0)
        return msgspec.structs.replace(hit, score=hit.score * weight, source=hit.source or part.searcher)

    def _suggestion(self, finding: Sequence[Findings]) -> str:
        """Of those that found nothing while others did, or nothing with all words, the spelling is none of our business; nor
        where a network did."""
        whole = [part for part in finding if part.complete]
        asked = [part for part in finding if part.overall] or whole or finding or self._parts
        return next((part.suggestion for part in asked if part.suggestion), "")

    def _in_time(self) -> str:
        return "" if self._asked.seconds is None else f" within {self._asked.seconds:.3g} s"


def _fitted(part: Findings, known: Mapping[str, float], last: float | None) -> Findings:
    """With the scores that its pages have elsewhere; what is not known there has as much less as any of these: it may be known,
    and not be among the best. To take what these mostly have brings up pages of an index in which other words are rare. What is
    borrowed is known there, and comes after the ``last`` one that was shown."""
    ratios = [known[hit.url] / hit.score for hit in part.hits if hit.url in known and hit.score > 0]
    factor = min(1.0, *ratios) if ratios else 1.0
    least = last if part.borrowed and last is not None else inf
    hits = (msgspec.structs.replace(hit, score=known.get(hit.url, min(least, factor * hit.score))) for hit in part.hits)
    return msgspec.structs.replace(part, hits=tuple(hits))


def score_of(rank: int) -> float:
    """Of a hit by its place in a list, from 0 on."""
    return _RANKS / (_RANKS + rank)


def _by_score(hit: Hit) -> float:
    return hit.score


def _by_date(hit: Hit) -> tuple[bool, int]:
    """Of one index, all hits have all words, or none has."""
    return hit.complete, hit.modified


def _distinct(hits: Sequence[Hit], *, alike: bool) -> list[Hit]:
    """The first of each address and, unless all that are ``alike`` are wanted, of each text."""
    urls: dict[str, Hit | None] = {}
    texts: set[int] = set()
    for hit in hits:
        known = urls.get(hit.url)
        if hit.url not in urls:
            urls[hit.url] = hit if alike or not hit.digest or hit.digest not in texts else None
        elif known is not None and bool(hit.parts) != bool(known.parts):  # recommended there, and found here: with what it says
            found, other = (hit, known) if hit.parts else (known, hit)
            urls[hit.url] = msgspec.structs.replace(found, score=known.score, source=f"{found.source}, {other.source}")
        texts.add(hit.digest)
    return [hit for hit in urls.values() if hit is not None]
