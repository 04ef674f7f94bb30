"""Targets: the peers that a search asks: owners of its words' positions, and some that may know more (YACY-44, 45). Pure."""

from collections.abc import Collection, Iterable, Sequence
from random import Random

from larm.peers.yacy.ring import PARTITIONS, Ring, places_of
from larm.peers.yacy.seed import Seed

EXTRA = 8
"""Number of further peers at most, as a multiple of the redundancy."""
_DAY = 86_400
_YOUNG, _FRESH = 3 * _DAY, _DAY
_LARGE, _HUGE = 100_000, 1_000_000
"""Numbers of documents."""


def bearable(redundancy: int, waiting: int) -> int:
    """Return the number of owners of each position to ask while ``waiting`` searches wait; at least 1."""
    return max(1, redundancy - sum((waiting > 0, waiting > 10, waiting > 50)))


def owners_to_ask(ring: Ring, words: Sequence[str], redundancy: int, random: Random) -> dict[str, set[int]]:
    """Return the peers to ask, each with its partitions.

    First a random owner of each position, then further ones: at most 1 + 16 times the redundancy for each word. YaCy has that
    limit for all words together, and so leaves positions of long queries out.
    """
    most = (1 + PARTITIONS * redundancy) * len(words)
    choices = []
    for word in words:
        for partition, place in enumerate(places_of(word)):
            owners = ring.owners(place, redundancy)
            choices.append((partition, random.sample(owners, len(owners))))
    asked: dict[str, set[int]] = {}
    for turn in range(redundancy):
        for partition, owners in choices:
            if turn < len(owners) and (owners[turn] in asked or len(asked) < most):
                asked.setdefault(owners[turn], set()).add(partition)
    return asked


def few_owners(ring: Ring, words: Sequence[str], redundancy: int, random: Random) -> set[str]:
    """Return peers that together own each position of the words: few, as each serves all positions that it owns."""
    chosen: set[str] = set()
    for word in words:
        for place in places_of(word):
            owners = ring.owners(place, redundancy)
            if owners and chosen.isdisjoint(owners):
                chosen.add(random.choice(owners))
    return chosen


def others_to_ask(
    seeds: Iterable[Seed], asked: Collection[str], tags: Collection[str], *, now: float, redundancy: int, random: Random
) -> list[Seed]:
    """Return peers beside the owners: those with a tag of the query, young ones whose references are not spread yet, large
    ones; the peers with most of these first."""
    scored = []
    for seed in seeds:
        if seed.hash in asked or not seed.reachable:
            continue
        age = now - seed.born
        score = 4 * any(tag.lower() in tags for tag in seed.tags) + (age < _YOUNG) + (age < _FRESH)
        score += (seed.links >= _LARGE) + (seed.links >= _HUGE)
        if score:
            scored.append((score + random.random(), seed.hash, seed))
    scored.sort(reverse=True)
    return [seed for _, _, seed in scored[: EXTRA * redundancy]]
