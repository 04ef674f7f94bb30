"""Values of a node: what it is told of the settings, what it needs of its crawl, and what nodes say to each other."""

import hashlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from larm.cluster.beat import MOST, Beat, Name
from larm.cluster.card import Address, Card
from larm.cluster.membership import Rules
from larm.config import ClusterSettings
from larm.engine.parts import Shared
from larm.engine.steering import Steering
from larm.kit.disk.block_store import BlockStore
from larm.model.message import URLMessage
from larm.model.url import Url
from larm.store.pages.page_row import PageRow


class Rule(msgspec.Struct, frozen=True):
    """What a node is told of its settings."""

    cluster: str
    address: str
    seeds: tuple[str, ...]
    settings: str
    """Digests of what must be the same for all agents, of `same_for_all`."""
    rules: Rules
    own: ClusterSettings = ClusterSettings()
    """The rest of this agent's, as config.yaml has them."""
    hang_after: float = 320.0
    """Seconds without progress, or without a majority after a return, after which the agent gives up its place."""
    answer: float = 5.0
    """Seconds in which a parcel has to be answered."""


class Doors(NamedTuple):
    """What a node needs of the crawl it is part of."""

    shared: Shared
    steering: Steering
    store: BlockStore
    key: Callable[[str], str]
    """Of a host, by which its owner is known."""
    links: Callable[[], Iterator[URLMessage]]
    """All links that were found so far, from the disk, and the start URLs."""
    parse: Callable[[str], Url]
    """An address as this crawl has it. Raises ValueError where it is none."""
    fetched: Callable[[Container[str]], Iterator[list[URLMessage]]]
    """Pages that agents other than these had fetched when their hosts came here: requests for them, some at a time."""
    kept: Callable[[Sequence[int]], dict[int, PageRow]]
    """Pages, by fingerprint, that this agent has from when it had their hosts."""
    now: Callable[[], float]
    """A clock that runs on while the machine sleeps."""
    log: Callable[[str], object]
    directory: Path
    """Of the crawl."""
    stored: Path
    """The log of its pages."""


class Envelope(msgspec.Struct, frozen=True, array_like=True, tag="beat"):
    """A beat as it is sent."""

    larm: str
    settings: str
    card: Card
    addresses: Annotated[dict[Name, Address], msgspec.Meta(max_length=2 * MOST)]
    beat: Beat


class Refusal(msgspec.Struct, frozen=True, array_like=True, tag="refusal"):
    """Instead of one."""

    why: str
    copied: bool = False
    """Another process is this agent; it may have ended just now."""


def same_for_all(settings: Mapping[str, bytes]) -> str:
    """Settings that are to be the same for all agents, as these compare them: a name and a short digest of each."""
    return "\n".join(f"{name}={hashlib.blake2b(said, digest_size=6).hexdigest()}" for name, said in settings.items())


def differing(theirs: str, ours: str) -> list[str]:
    """The names of those that are not the same."""
    known = set(theirs.split("\n"))
    return [each.partition("=")[0] for each in ours.split("\n") if each not in known]
