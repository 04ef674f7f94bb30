"""State: the data of a peer's page, as a value. Its texts are strangers' texts; the page makes them harmless."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from larm.peers.yacy.node import Node
from larm.peers.yacy.profile import Mode
from larm.peers.yacy.seed import PeerType, Seed
from larm.peers.yacy.trust import DenyList, Vote

_MOST = 500
"""Number of peers on a page: those of the latest contact."""


class Other(NamedTuple):
    """A peer that is known."""

    seed: Seed
    state: str
    ago: float
    """Seconds since the last contact."""
    vote: Vote
    followed: bool
    """True if its deny list counts."""
    denied: bool
    """True if any list that counts has it."""
    false: bool
    """True if samples of its pages were false."""


class State(NamedTuple):
    """The state of one peer."""

    network: str
    hash: str
    key: str
    type: PeerType
    mode: Mode
    stealthy: bool
    active: int
    passive: int
    potential: int
    pages: int
    """Number of own pages that are shared."""
    items: int
    """Number of others' items."""
    bytes: int
    quota: int
    refusal: str
    """Why the peer that was pinged last refused; empty: it did not."""
    counts: Mapping[str, int]
    """Counters, by half a sentence."""
    others: Sequence[Other]
    votes: Mapping[str, Vote]
    """Votes on keys of unknown peers."""
    sites: Sequence[str]
    shared: bool
    followed: Mapping[str, DenyList]


def state_of(node: Node, refusal: str, quota: int) -> State:
    """Return the state of now. ``refusal``: of the peer that was pinged last."""
    trust, said = node.trust, node.trust.opinions
    with node.lock:
        now, membership = node.now(), node.membership
        items, size, _ = node.shelf.counts
        counts = dict(sorted({**node.counts, **membership.counts}.items()))
        seeds = sorted(membership.known, key=lambda seed: -membership.seen(seed.hash))[:_MOST]
        others = [
            Other(
                seed,
                "answers"
                if membership.is_active(seed.hash)
                else "can't be reached"
                if not seed.reachable
                else "did not answer",
                max(0.0, now - membership.seen(seed.hash)),
                said.votes.get(seed.key, Vote.NONE),
                seed.key in said.followed,
                seed.key in trust,
                seed.key in node.shelf.authors.convicted,
            )
            for seed in seeds
        ]
        known = {each.seed.key for each in others}
        return State(
            node.network, node.hash, node.key, node.type, node.mode, node.stealthy, *membership.sizes,
            pages=node.pages, items=items, bytes=size, quota=quota, refusal=refusal,
            counts={name: n for name, n in counts.items() if n}, others=others,
            votes={key: vote for key, vote in said.votes.items() if key not in known}, sites=said.sites,
            shared=said.shared, followed={key: its for key, its in said.followed.items() if key not in known},
        )  # fmt: skip
