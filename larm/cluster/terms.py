"""Values of a node: what it is told of the settings, and what it needs of its crawl."""

import hashlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.cluster.view_state import Rules
from larm.config import ClusterSettings
from larm.engine.fetcher_record import FetcherRecord
from larm.engine.parts import Shared
from larm.engine.steering import Steering
from larm.fetch.fence import Fence
from larm.kit.disk.block_store import BlockStore
from larm.model.message import URLMessage
from larm.model.url import Url
from larm.store.pages.page_row import PageRow


class Rule(msgspec.Struct, frozen=True):
    """What a node is told of its settings."""

    cluster: str
    address: str
    rules: Rules
    own: ClusterSettings = ClusterSettings()
    """The rest of this agent's, as config.yaml has them."""
    hang_after: float = 320.0
    """Seconds without progress after which the agent gives up its place."""
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
    note: Callable[[str], object]
    """Say something at the terminal."""
    directory: Path
    """Of the crawl."""
    stored: Path
    """The log of its pages."""
    fence: Fence
    records: Sequence[FetcherRecord]
    """Of its threads."""


def same_for_all(settings: Mapping[str, bytes]) -> dict[str, str]:
    """Return a short digest of each setting that is to be the same for all agents, as these compare them."""
    return {name: hashlib.blake2b(said, digest_size=6).hexdigest() for name, said in settings.items()}
