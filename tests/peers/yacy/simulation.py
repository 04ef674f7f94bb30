"""A network that people join and leave, hour by hour: the nodes, desks and shelves of production on a clock of its own.

Half of the peers leave within a day, and stay away for half a day on the average. Each round is ten minutes, in which each peer
pings once: what takes rounds here takes as many pings elsewhere. What is looked at is the view of some
living peer: whom it would ask, and whether one of these has it.

One process is all machines: what pure functions say of a seed is remembered for all of them, so that thousands fit into it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from time import process_time  # what it costs; nothing depends on it
from typing import NamedTuple

import pytest

from larm.peers.yacy import greeting, node, seed
from larm.peers.yacy.hashes import distance, position_of, word_hash
from larm.peers.yacy.page import Page
from larm.peers.yacy.questions import COUNT, HAND, OFFER, PING
from larm.peers.yacy.ring import Ring, partition_of, place_in
from tests.peers.yacy.net import Net, Peer

ROUND = 600.0
HALF_LIFE = 86_400.0
AWAY = 43_200.0
OWNERS = 3
_HOUR = 3_600.0
_MET = 100
_DAY = 144
_AT_AN_ADDRESS = 20
Sample = Sequence[tuple[str, Page]]
"""Words, each with a page that has it."""


class Figures(NamedTuple):
    """What came of it."""

    worst: float
    """Share of the references that were found, at the worst moment."""
    mean: float
    found_at_the_end: float
    left: int
    """Times that a peer left."""
    pings: float
    """A peer and round, its answers to call-backs among them."""
    transfers: float
    """A peer and hour: offers of items, and items handed over."""
    balance: float
    """Places of the peer that owns most, over the mean: what its share of many references comes to."""
    items: float
    """Items of the peer that keeps most, over the mean."""
    repair: float
    """Rounds until all owners of a reference have it, after one of them has left; the mean."""
    longest: int
    """The same, at most."""
    handed: int
    """Rounds until all was handed over, at first."""
    known: float
    """Share of the living peers that a peer takes for living, on the average."""
    dead: float
    """Share of the peers that it takes for living and that are not."""
    cpu: float
    """Milliseconds a peer and hour."""


def simulate(peers: int, hours: float, seed: int = 1, authors: int = 20, *, together: bool = False) -> Figures:
    """Build it up, let it rest, then let people come and go; ``together``: all know each other at once, as from a seed list."""
    with pytest.MonkeyPatch.context() as patch:
        _remember(patch, 12 * peers)
        net = Net(seed=seed, at_an_address=_AT_AN_ADDRESS)
        if together:
            net.add(peers, ping=ROUND)
            _acquaint(net)
        while len(net.peers) < peers:  # a tenth more in each round
            net.add(min(peers - len(net.peers), 2 + len(net.peers) // 10), ping=ROUND)
            net.run(2 * ROUND, ROUND)
        net.run((1 if together else 10) * ROUND, ROUND)
        return _live(net, hours, authors)


def _live(net: Net, hours: float, authors: int) -> Figures:
    pages = {}
    for number in range(authors):
        page = Page(url=f"http://h{number}.example/", text=" ".join(f"w{number}x{word}" for word in range(20)) + " common")
        pages[number] = page
        net.peers[number * len(net.peers) // authors].publish(page)
    sample = [(word, page) for page in pages.values() for word in page.text.split()]
    handed = 0
    while handed == 0 or _incomplete(net, sample):  # of a thousand somebody hears of somebody new in every round
        net.run(ROUND, ROUND)
        handed += 1
        assert handed < _DAY, "it does not come to rest"
    net.asked.clear()
    cpu, broken, repairs = 0.0, dict[int, int](), list[int]()
    shares, left, rounds = [], 0, int(hours * 3_600 / ROUND)
    stay, back = math.exp(-ROUND * math.log(2) / HALF_LIFE), math.exp(-ROUND / AWAY)
    for turn in range(rounds):
        for peer in net.peers:
            if peer.up and net.random.random() > stay:
                peer.up, left = False, left + 1
            elif not peer.up and net.random.random() > back:
                peer.up = True
        shares.append(_found(net, sample))  # at once, before anybody has noticed
        before = _incomplete(net, sample)
        began = process_time()
        net.run(ROUND, ROUND)
        cpu += process_time() - began
        after = _incomplete(net, sample)
        for each in before:
            broken.setdefault(each, turn)
        repairs += [turn + 1 - broken.pop(each) for each in [*broken] if each not in after]
    repairs += [rounds - since for since in broken.values()]
    up = [peer for peer in net.peers if peer.up]
    names = {peer.node.hash for peer in up}
    views = [{seed.hash for seed in peer.node.membership.active} for peer in up[:100]]
    kept, owned = [peer.node.shelf.counts[0] for peer in up], _owned([peer.node.hash for peer in up])
    return Figures(
        worst=min(shares), mean=sum(shares) / len(shares), found_at_the_end=_found(net, sample), left=left,
        pings=(net.asked[PING] + net.asked[COUNT]) / len(up) / rounds,
        transfers=(net.asked[OFFER] + net.asked[HAND]) / len(up) / hours,
        balance=max(owned) * len(owned) / sum(owned), items=max(kept) * len(kept) / sum(kept),
        repair=sum(repairs) / max(1, len(repairs)), longest=max(repairs, default=0), handed=handed,
        known=sum(len(view & names) / (len(names) - 1) for view in views) / len(views),
        dead=sum(len(view - names) / len(view) for view in views) / len(views),
        cpu=1_000 * cpu / len(up) / hours,
    )  # fmt: skip


def _remember(patch: pytest.MonkeyPatch, most: int) -> None:
    read = lru_cache(most)(seed.read_seed)
    patch.setattr(greeting, "read_seed", read)
    patch.setattr(node, "is_good", lru_cache(most)(seed.is_good))


def _acquaint(net: Net) -> None:
    """All know each other: each has just met some, has not seen some for long, and learned of all others an hour ago.

    What `Membership` would have after so many pings is written into it, as a hundred million of them take too long."""
    peers, memberships = net.peers, [peer.node.membership for peer in net.peers]
    for at, membership in enumerate(memberships):
        membership.reported(peers[at - 1].node.hash, net.clock.wall() + _HOUR, reachable=True)
    seeds, then = {peer.node.hash: peer.node.seed() for peer in peers}, net.clock.wall()
    net.clock.advance(_HOUR)
    names, ring, addresses = [*seeds], Ring(seeds), Counter(seed.ip for seed in seeds.values())
    for peer, membership in zip(peers, memberships, strict=True):
        chosen = [name for name in net.random.sample(names, min(len(names), 2 * _MET)) if name != peer.node.hash]
        old = sorted((then - net.random.random() * _HOUR, name) for name in chosen[:_MET])
        young = sorted((-then - _HOUR * net.random.random(), name) for name in chosen[_MET:])
        membership._active.update(seeds)
        del membership._active[peer.node.hash]
        membership._addresses.update(addresses)
        membership._addresses[seeds[peer.node.hash].ip] -= 1
        membership._seen.update({name: abs(seen) for seen, name in old + young})
        membership._ring, membership._ours = ring, True
        for sign, rows in ((1, old), (-1, young)):
            membership._order._ends[sign].rows, membership._order._ends[sign].bound = rows, sign * then


def _found(net: Net, sample: Sample) -> float:
    up = [peer for peer in net.peers if peer.up]
    by_name = {peer.node.hash: peer for peer in up}
    count = 0
    for word, page in sample:
        ring = net.random.choice(up).node.ring()
        count += any(_has(by_name[name], word, page) for name in _owners(ring, word, page) if name in by_name)
    return count / len(sample)


def _incomplete(net: Net, sample: Sample) -> set[int]:
    """Numbers of those that not all who own them now have."""
    by_name = {peer.node.hash: peer for peer in net.peers if peer.up}
    ring = Ring(by_name)
    return {
        number
        for number, (word, page) in enumerate(sample)
        if not all(_has(by_name[name], word, page) for name in _owners(ring, word, page))
    }


def _owners(ring: Ring, word: str, page: Page) -> Sequence[str]:
    return ring.owners(place_in(position_of(word_hash(word)), partition_of(page.hash)), OWNERS)


def _owned(names: Sequence[str]) -> list[int]:
    places = sorted(map(position_of, names))
    return [distance(places[at - OWNERS], place) for at, place in enumerate(places)]


def _has(peer: Peer, word: str, page: Page) -> bool:
    name = word_hash(word)
    rows = peer.node.shelf.reader.references([name], [partition_of(page.hash)], peer.node.now())[name]
    return any(each.url == page.hash for _, each in rows)
