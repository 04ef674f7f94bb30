"""A network that people join and leave, hour by hour: the nodes, desks and shelves of production on a clock of its own.

Half of the peers leave within a day, and stay away for half a day on the average. Each round is ten minutes. What is looked at
is always the view of some living peer: whom it would ask, and whether one of these has it.
"""

from __future__ import annotations

import math
import resource
from pathlib import Path
from time import process_time  # what it costs; nothing depends on it
from typing import NamedTuple

from larm.peers.yacy.hashes import position_of, word_hash
from larm.peers.yacy.page import Page
from larm.peers.yacy.ring import partition_of, place_in
from tests.peers.yacy.net import Net, Peer

ROUND = 600.0
HALF_LIFE = 86_400.0
AWAY = 43_200.0


class Figures(NamedTuple):
    """What came of it."""

    worst: float
    """Share of the references that were found, at the worst moment."""
    mean: float
    found_at_the_end: float
    left: int
    """Times that a peer left."""
    requests: float
    """A peer and minute."""
    balance: float
    """Items of the peer with most, over the mean."""
    known: float
    """Share of the living peers that a peer takes for living, on the average."""
    dead: float
    """Share of the peers that it takes for living and that are not."""
    cpu: float
    """Milliseconds a peer and hour."""


def simulate(folder: Path, peers: int, hours: float, seed: int = 1, authors: int = 20) -> Figures:
    """Build it up, let it rest, then let people come and go."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * peers + 200)), hard))
    net = Net(folder, seed)
    while len(net.peers) < peers:  # a tenth more in each round
        net.add(min(peers - len(net.peers), 2 + len(net.peers) // 10), ping=ROUND)
        net.run(2 * ROUND, ROUND)
    net.run(10 * ROUND, ROUND)
    pages = {}
    for number in range(authors):
        author = net.peers[number * peers // authors]
        page = Page(url=f"http://h{number}.example/", text=" ".join(f"w{number}x{word}" for word in range(20)) + " common")
        pages[number] = page
        author.publish(page)
    net.settle(36_000.0, ROUND)
    sample = [(word, page) for page in pages.values() for word in page.text.split()]
    net.asked, began = 0, process_time()
    shares, left = [], 0
    stay, back = math.exp(-ROUND * math.log(2) / HALF_LIFE), math.exp(-ROUND / AWAY)
    for _ in range(int(hours * 3_600 / ROUND)):
        for peer in net.peers:
            if peer.up and net.random.random() > stay:
                peer.up, left = False, left + 1
            elif not peer.up and net.random.random() > back:
                peer.up = True
        shares.append(_found(net, sample))  # at once, before anybody has noticed
        net.run(ROUND, ROUND)
    up = [peer for peer in net.peers if peer.up]
    names = {peer.node.hash for peer in up}
    views = [{seed.hash for seed in peer.node.membership.active} for peer in up[:100]]
    kept = [peer.node.shelf.counts[0] for peer in up]
    return Figures(
        worst=min(shares), mean=sum(shares) / len(shares), found_at_the_end=_found(net, sample), left=left,
        requests=net.asked / len(up) / hours / 60, balance=max(kept) / (sum(kept) / len(kept)),
        known=sum(len(view & names) / (len(names) - 1) for view in views) / len(views),
        dead=sum(len(view - names) / len(view) for view in views) / len(views),
        cpu=1_000 * (process_time() - began) / len(up) / hours,
    )  # fmt: skip


def _found(net: Net, sample: list[tuple[str, Page]]) -> float:
    up = [peer for peer in net.peers if peer.up]
    by_name = {peer.node.hash: peer for peer in up}
    count = 0
    for word, page in sample:
        ring = net.random.choice(up).node.ring()
        place = place_in(position_of(word_hash(word)), partition_of(page.hash))
        count += any(_has(by_name[name], word, page) for name in ring.owners(place, 3) if name in by_name)
    return count / len(sample)


def _has(peer: Peer, word: str, page: Page) -> bool:
    name = word_hash(word)
    rows = peer.node.shelf.references([name], [partition_of(page.hash)], peer.node.now())[name]
    return any(each.url == page.hash for _, each in rows)
