"""Which peers a search asks: the owners of its words' places, and some more that may know something (YACY-44, 45). Pure."""

from collections.abc import Callable, Collection, Iterable, Sequence
from random import Random

from larm.peers.yacy.hashes import position_of
from larm.peers.yacy.ring import PARTITIONS, Ring, place_in, places_of
from larm.peers.yacy.seed import Seed

EXTRA = 8
"""Times the redundancy: further peers at most."""
_DAY = 86_400
_YOUNG, _FRESH = 3 * _DAY, _DAY
_LARGE, _HUGE = 100_000, 1_000_000
"""Documents."""


def bearable(redundancy: int, waiting: int) -> int:
    """How many owners of each place are asked while so many searches wait; 1 at least."""
    return max(1, redundancy - sum((waiting > 0, waiting > 10, waiting > 50)))


def owners_to_ask(ring: Ring, words: Sequence[str], redundancy: int, random: Random) -> dict[str, set[int]]:
    """Peers to ask, each with the partitions that it is asked for.

    First one owner of each place, at random, then others of each: at most 1 + 16 times the redundancy for each word. YaCy has
    that limit for all words together, and so leaves places of long queries unasked.
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


def owners_to_count(
    owners_of: Callable[[int], Sequence[str]], words: Sequence[str], most: int, random: Random
) -> dict[str, dict[str, set[int]]]:
    """Peers to ask how many pages have words, each with words and partitions; one owner of each place.

    ``owners_of``: of a place those who have what is there.

    Where that would be more than ``most`` peers, not all places are asked about: first all words in one partition, then in the
    next, as each partition is a part of all addresses as good as any.
    """
    asked: dict[str, dict[str, set[int]]] = {}
    for partition in random.sample(range(PARTITIONS), PARTITIONS):
        for word in words:
            owners = owners_of(place_in(position_of(word), partition))
            known = [each for each in owners if each in asked]
            chosen = random.choice(known) if known else random.choice(owners) if owners and len(asked) < most else None
            if chosen is not None:
                asked.setdefault(chosen, {}).setdefault(word, set()).add(partition)
    return asked


def others_to_ask(
    seeds: Iterable[Seed], asked: Collection[str], tags: Collection[str], *, now: float, redundancy: int, random: Random
) -> list[Seed]:
    """Peers beside the owners: those who announce a topic of the query, root nodes, young ones whose references are not spread
    yet, large ones; those with more of these first, and of equals any."""
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
